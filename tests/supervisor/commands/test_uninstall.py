"""`kokoro-live update` and its rehearsal of a new version; `uninstall` finds all that the other commands wrote."""

import math
import os
import re
import sys
from pathlib import Path

import platformdirs
import pytest
from click.testing import CliRunner, Result

from kokoro_live.installation import this_installation
from shm.folders import state_folder
from shm.handover import PROTOCOL
from supervisor.cli import kokoro_live
from supervisor.commands.rehearse import NotWell, _compare, rehearse
from supervisor.connect.files import JSON, FileEdit
from supervisor.connect.hearing import Heard
from supervisor.settings.options import default_config_file
from tests.rooms import PACKED

MANAGER = "launchd" if sys.platform == "darwin" else "systemd"
LINUX = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".state",
    "XDG_RUNTIME_DIR": "run",
}


@pytest.fixture(params=["folders of their own", "one folder"])
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A user's home, with the XDG folders apart, or as one, which is how macOS has config, data and state."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    for name, folder in LINUX.items():
        monkeypatch.setenv(name, str(tmp_path / (folder if request.param != "one folder" else "all")))
    return tmp_path


def ran(*arguments: str) -> Result:
    done = CliRunner().invoke(kokoro_live, arguments)
    assert done.exit_code == 0, done.output
    return done


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def used() -> None:
    """A user has used what writes: both installations, a config, learnt figures, a job, a book, a model, a cache."""
    ran("install-service", "--manager", MANAGER)
    ran("install-service", "--manager", MANAGER, "--name", "kitchen", *(["--socket"] if MANAGER == "systemd" else []))
    ran("install-speechd")
    cache, data = (platformdirs.user_cache_path("kokoro-live"), platformdirs.user_data_path("kokoro-live"))
    runtime = Path(os.environ["XDG_RUNTIME_DIR"]) / "kokoro-live"
    for path in (
        default_config_file(),
        state_folder() / "selfchecks.jsonl",
        state_folder() / "jobs" / "one" / "job.json",
        state_folder() / "library" / "one" / "text.json",
        cache / "books" / "one" / "0.flac",
        cache / "split" / "stage.onnx",
        cache / "checksums.json",
        data / "models" / "model.onnx",
        runtime / "pid" / "counter.db",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(1_000_000))


def test_it_lists_all_and_removes_nothing_unasked(home: Path) -> None:
    used()
    before = files(home)
    listed = ran("uninstall").output
    for word in ("service kokoro-live", "service kokoro-live-kitchen", "config, 1.0 MB", "jobs, 1.0 MB", "models, 1.0"):
        assert word in listed
    assert files(home) == before
    assert "--yes" in listed and this_installation().uninstall() in listed


def test_what_it_removes_is_everything_and_nothing_else(home: Path) -> None:
    others = [home / ".config" / "systemd" / "user" / "other.service", home / "all" / "other", home / "book.txt"]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("another program's")
    used()
    ran_by = home / ".claude.json"
    ran_by.write_text('{"theirs": 1}')
    FileEdit(ran_by, JSON, {("mcpServers", "kokoro-live"): {"command": "kokoro-live"}}).write()
    assert "connection of claude-code" in ran("uninstall").output
    ran("uninstall", "--yes")
    assert ran_by.read_text() == '{"theirs": 1}'
    ran_by.unlink()
    assert files(home) == sorted(others)
    assert "left nothing" in ran("uninstall", "--yes").output


def test_what_is_kept_stays(home: Path) -> None:
    used()
    ran("uninstall", "--yes", "--keep", "models", "--keep", "books")
    assert [path.name for path in files(home)] == sorted(["model.onnx", "0.flac"], key=lambda name: name != "0.flac")
    assert "models, config" not in ran("uninstall").output
    unknown = CliRunner().invoke(kokoro_live, ["uninstall", "--yes", "--keep", "modles"])
    assert unknown.exit_code == 2 and "modles" in unknown.output and files(home)


def test_what_cant_be_removed_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used()

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("shutil.rmtree", refuse)
    done = CliRunner().invoke(kokoro_live, ["uninstall", "--yes"])
    assert done.exit_code == 1 and "models: Permission denied" in done.output
    assert not default_config_file().exists(), "the others are removed all the same"


def test_every_folder_that_the_product_asks_the_platform_for_is_one_that_is_looked_into() -> None:
    """A new use of platformdirs is a new place, unless it is in a folder that `uninstall` lists whole."""
    root = Path(__file__).parents[3]
    files = [file for name in PACKED for file in (root / name).rglob("*.py")]
    found = [use for file in files for use in re.findall(r"platformdirs\.user_\w+", file.read_text())]
    assert set(found) == {f"platformdirs.user_{name}" for name in ("config_path", "data_path", "state_path", *CACHES)}


CACHES = ("cache_path", "cache_dir")


def test_update_gives_the_installations_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    here = this_installation()
    said = ran("update").output
    assert joined(here.update()) in joined(said) and str(here.kind) in said and "dev:" not in said
    monkeypatch.setattr("kokoro_live.installation.Installation.has", lambda installation, extra: extra != "mcp")
    said = ran("update").output
    assert f"mcp: {joined(here.add('mcp'))}" in joined(said)
    assert all(len(line) <= 80 or len(line.split()) <= 2 for line in said.splitlines()[1:]), "a path that is too long"


def joined(said: str) -> str:
    return " ".join(said.replace("\\\n", " ").split())


RUNNING = Heard(5.0, -20.0)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (RUNNING, RUNNING),
        (Heard(5.5, -23.0), RUNNING),
        (RUNNING, None),
        (RUNNING, Heard(0.1, -math.inf)),
    ],
)
def test_a_version_that_speaks_alike_is_well(own: Heard, other: Heard | None) -> None:
    """Nor is it held against it that the running one has no time, or says nothing: that may be why it is replaced."""
    _compare(own, other)


@pytest.mark.parametrize(
    "own",
    [None, Heard(5.0, -math.inf), Heard(5.0, -61.0), Heard(0.0, -math.inf)],
)
def test_a_version_that_says_nothing_is_not(own: Heard | None) -> None:
    with pytest.raises(NotWell, match="it says nothing"):
        _compare(own, RUNNING)


@pytest.mark.parametrize(("seconds", "level"), [(3.8, -20.0), (6.6, -20.0), (5.0, -26.1), (5.0, -13.9)])
def test_a_version_that_speaks_otherwise_is_not(seconds: float, level: float) -> None:
    with pytest.raises(NotWell, match=r"and the running version 5\.0 s at -20 dB"):
        _compare(Heard(seconds, level), RUNNING)


def test_a_server_that_hands_over_in_another_way_is_told_to_start_again() -> None:
    said = CliRunner().invoke(rehearse, [str(PROTOCOL + 1), "http://127.0.0.1:1", "--port", "0"])
    assert said.exit_code == 1 and "start the server again" in said.output
