"""`kokoro-live connect`: each row's change of real settings files in a home of its own, and a sentence that a real
server speaks its way."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from supervisor.commands.connect import connect
from supervisor.connect.clients import CLIENTS
from supervisor.connect.files import DESKTOP, JSON, TOML, VARIABLES, YAML, Also, FileEdit, Form, Unreadable
from tests.clients.keys import KEY
from tests.ports import lasting_port
from tests.supervisor.clean_environment import clean_environment
from tests.system.server import DEADLINE, ROOT, Server

ESPEAK = [client.name for client in CLIENTS if client.name != "home-assistant"]

AGENTS = {"claude", "claude-code", "cursor"}

CLAUDE = '{\n    "theme": "dark",\n    "mcpServers": {\n        "files": {"command": "files"}\n    }\n}'
LIBRECHAT = """\
# My own comment
version: 1.2.1
speech:
  tts:
    allowedAddresses:
      - "10.0.0.7:9000"   # the old one
"""
SILLYTAVERN = json.dumps({"extension_settings": {"tts": {"currentProvider": "Edge", "Edge": {"x": 1}}}}, indent=4)
ALOUD = json.dumps({"modelProvider": "openai", "openaicompat_apiBase": "", "version": 2}, indent=2)
CONFIG = "# Mine\ndefault_speed = 1.2 # fast\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with clean_environment(tmp_path, monkeypatch):
        monkeypatch.setenv("KOKORO_LIVE_API_KEY", KEY)
        yield tmp_path


def run(of: Server | int, *arguments: object) -> Result:
    port = of if isinstance(of, int) else of.port
    words = ["--url", f"http://127.0.0.1:{port}", *map(str, arguments)]
    if not (AGENTS & {*arguments} and "--yes" in arguments):
        return CliRunner().invoke(connect, words)
    # The started tools write to the standard error, which must be a file.
    command = [sys.executable, "-m", "supervisor", "connect", *words]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=DEADLINE, stdin=subprocess.DEVNULL)
    return Result(CliRunner(), done.stdout, done.stderr, done.stdout + done.stderr, None, done.returncode, None)


def placed(home: Path, name: str) -> tuple[Path, str] | None:
    """The client's settings file, as its program left it; None for a client without one."""
    files = {
        "claude": ("Claude/claude_desktop_config.json", CLAUDE),
        "claude-code": (".claude.json", '{\n  "numStartups": 7\n}\n'),
        "cursor": (".cursor/mcp.json", ""),
        "librechat": ("chat/librechat.yaml", LIBRECHAT),
        "hermes": (".hermes/config.yaml", "# mine\ntts:\n  provider: edge # free\n"),
        "sillytavern": ("SillyTavern/data/default-user/settings.json", SILLYTAVERN),
        "obsidian": ("notes/.obsidian/plugins/aloud-tts/data.json", ALOUD),
        "open-webui": ("stack/.env", "# stack\nPORT=3000\n"),
        "openai": ("program/.env", "OPENAI_API_KEY='sk-theirs'\n"),
        "home-assistant": ("kokoro-live/config.toml", CONFIG),
        "desktop": ("applications/kokoro-live.desktop", ""),
    }
    if name not in files:
        return None
    file, content = home / files[name][0], files[name][1]
    file.parent.mkdir(parents=True, exist_ok=True)
    if content:
        file.write_text(content)
    if name == "obsidian":
        (home / "obsidian").mkdir()
        (home / "obsidian" / "obsidian.json").write_text(json.dumps({"vaults": {"a": {"path": str(home / "notes")}}}))
    return file, content


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ("claude-code", "cursor"))) for name in ESPEAK]
)
def test_each_client_is_connected_heard_and_given_back(name: str, keyed: Server, home: Path) -> None:
    there = placed(home, name)
    named = ["--file", there[0]] if there and name in ("open-webui", "openai", "librechat") else []
    shown = run(keyed, name, "--print", *named)
    assert shown.exit_code == 0, shown.output
    if there:
        assert str(there[0]) in shown.output and "+++ after" in shown.output
        assert (there[0].read_text() if there[0].exists() else "") == there[1], "--print writes nothing"
    else:
        assert name == "orca" or f"127.0.0.1:{keyed.port}" in shown.output
    done = run(keyed, name, "--yes", *named)
    assert done.exit_code == 0, done.output
    heard = re.search(r"Heard (\d+\.\d) s of speech at (-\d+) dBFS", done.output)
    assert heard and 1 < float(heard[1]) < 10 and -40 < int(heard[2]) < 0
    again = run(keyed, name, "--yes", *named)
    assert again.exit_code == 0 and (not there or "has these settings already" in again.output)
    undone = run(keyed, name, "--undo", *named)
    if there or name == "orca":
        assert undone.exit_code == 0, undone.output
    else:
        assert undone.exit_code == 1, "lines that were only shown can't be taken back"
    if there:
        assert (there[0].read_text() if there[0].exists() else "") == there[1], "not as it was"
        assert [each.name for each in there[0].parent.iterdir()] == ([there[0].name] if there[1] else [])


def test_the_desktop_gets_an_entry_that_its_own_tool_accepts(keyed: Server, home: Path) -> None:
    assert run(keyed, "desktop", "--yes", "--file", home / "kokoro-live.desktop").exit_code == 0
    entry = DESKTOP.read((home / "kokoro-live.desktop").read_text())
    command = shlex.split(entry["Desktop Entry"]["Exec"])
    assert command[:2] == ["env", f"KOKORO_LIVE_URL=http://127.0.0.1:{keyed.port}"] and command[-1] == "%f"
    assert Path(command[3]).exists() and command[-4:-1] == ["play", "--selection", "--no-wait"]
    if tool := shutil.which("desktop-file-validate"):
        done = subprocess.run([tool, home / "kokoro-live.desktop"], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")


def test_home_assistant_speaks_where_the_port_is_open(espeak: Server, home: Path) -> None:
    there = placed(home, "home-assistant")
    assert there
    port = espeak.logs(r"answered on tcp://127\.0\.0\.1:(\d+)")[1]
    done = run(espeak, "home-assistant", "--yes", "--wyoming-port", port)
    assert done.exit_code == 0 and "by the Wyoming protocol" in done.output, done.output
    assert there[0].read_text() == f"{CONFIG}wyoming_port = {port}\n"
    closed = run(espeak, "home-assistant", "--yes", "--wyoming-port", lasting_port())
    assert closed.exit_code == 0 and "Start the server again" in closed.output, closed.output
    assert run(espeak, "home-assistant", "--undo", "--wyoming-port", port).exit_code == 0
    assert there[0].read_text() == CONFIG


def test_what_else_changed_stays_when_a_connection_is_given_back(keyed: Server, home: Path) -> None:
    there = placed(home, "claude")
    assert there
    assert run(keyed, "claude", "--yes").exit_code == 0
    found = json.loads(there[0].read_text())
    assert found["mcpServers"]["files"] == {"command": "files"}
    assert "kokoro-live" in found["mcpServers"] and "claude" in run(keyed).output
    there[0].write_text(json.dumps(found | {"theme": "light"}, indent=4))
    assert "claude          Claude Desktop (connected)" in run(keyed).output
    assert run(keyed, "claude", "--undo").exit_code == 0
    assert json.loads(there[0].read_text()) == {"theme": "light", "mcpServers": {"files": {"command": "files"}}}
    assert "connected)" not in run(keyed).output


def test_nothing_is_written_without_a_yes_or_for_a_mistake(keyed: Server, home: Path, monkeypatch) -> None:
    there = placed(home, "claude-code")
    assert there
    assert "--yes writes it" in run(keyed, "claude-code").output
    assert "`kokoro-live voices` lists them" in run(keyed, "claude-code", "--yes", "--voice", "bob").output
    away = run(lasting_port(), "claude-code", "--yes")
    assert away.exit_code == 1 and "kokoro-live serve" in away.output
    with monkeypatch.context() as without_extras:
        without_extras.setattr("importlib.util.find_spec", lambda name: None)
        shown, refused = run(keyed, "claude-code", "--print"), run(keyed, "claude-code")
    assert shown.exit_code == 0 and "+++ after" in shown.output and "needs the extra mcp" in shown.output
    assert refused.exit_code == 1 and "needs the extra mcp" in refused.output
    there[0].write_text("{")
    broken = run(keyed, "claude-code", "--yes")
    assert broken.exit_code == 1 and "stays as it is" in broken.output and there[0].read_text() == "{"
    there[0].write_text(there[1])
    monkeypatch.setenv("KOKORO_LIVE_API_KEY", "wrong")
    refused = run(keyed, "claude-code", "--yes")
    assert refused.exit_code == 1 and "KOKORO_LIVE_API_KEY" in refused.output
    assert there[0].read_text() == there[1] and [*home.iterdir()] == [there[0]]


def test_a_container_is_told_what_must_be_opened(espeak: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KOKORO_LIVE_API_KEY")
    done = run(espeak, "open-webui", "--docker", "--yes")
    assert done.exit_code == 0, done.output
    for each in (
        "host.docker.internal:host-gateway",
        f'"http://host.docker.internal:{espeak.port}/v1"',
        "A key for it",
    ):
        assert each in done.output
    assert "--host 0.0.0.0 --api-key-file" in done.output and "Heard" in done.output


@pytest.mark.parametrize(
    ("form", "before", "values", "after"),
    [
        (JSON, '{\n\t"a": 1\n}\n', {("b", "c"): [2]}, '{\n\t"a": 1,\n\t"b": {\n\t\t"c": [\n\t\t\t2\n\t\t]\n\t}\n}\n'),
        (YAML, "a: 1  # one\nb:\n- x\n", {("b",): Also("y")}, "a: 1  # one\nb:\n- x\n- y\n"),
        (TOML, "# c\na = 1\n", {("b",): "x"}, '# c\na = 1\nb = "x"\n'),
        (DESKTOP, "[A]\nB=1;\n", {("C d", "E"): "%f"}, "[A]\nB=1;\n\n[C d]\nE=%f\n"),
        (VARIABLES, "# c\nexport A='1'", {("B",): "x y"}, "# c\nexport A='1'\nB='x y'\n"),
    ],
)
def test_comments_order_and_layout_stay(
    form: Form, before: str, values: dict[tuple[str, ...], object], after: str, tmp_path: Path
) -> None:
    file = tmp_path / "settings"
    file.write_text(before)
    file.chmod(0o600)
    edit = FileEdit(file, form, values)
    edit.write()
    assert file.read_text() == after and file.stat().st_mode & 0o777 == 0o600
    assert edit.undo() and file.read_text() == before and not edit.undo()


@pytest.mark.parametrize("content", ["[]", "{", '"text"'])
def test_a_file_of_another_form_stays(content: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)
    with pytest.raises(Unreadable):
        FileEdit(file, JSON, {("a",): 1}).write()
    assert file.read_text() == content


def test_the_documents_table_is_the_rows() -> None:
    page = (ROOT / "docs" / "clients.md").read_text()
    for client in CLIENTS:
        assert f"| `{client.name}` | {client.title} | {client.way} |" in page
    assert f"{len(CLIENTS)} connect by one command" in (ROOT / "README.md").read_text()
