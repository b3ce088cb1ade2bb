"""Whatever keeps an engine from speaking: `serve` says it in one line, as `doctor` does, or another engine speaks."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from supervisor.processes.standing import ExitCode
from tests.espeak_copies import DATA, copied, damage
from tests.miniature import make_miniature, make_voices
from tests.supervisor.clean_environment import clean_environment
from tests.system.oracle import miniature_arguments
from tests.system.server import DEADLINE, server


@pytest.fixture(autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_environment(tmp_path_factory.mktemp("home"), monkeypatch):
        monkeypatch.setenv("KOKORO_LIVE_PORT", "0")
        yield


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _noise(file: Path) -> None:
    file.write_bytes(np.random.default_rng(1).bytes(5000))


def _half(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _a_folder(file: Path) -> None:
    file.unlink()
    (file / "below").mkdir(parents=True)


def _another_kind(file: Path) -> None:
    with file.open("wb") as written:
        np.savez(written, af_heart=np.full((510, 1, 256), np.nan, np.float32))


DAMAGES = (Path.unlink, _empty, _noise, _half, _a_folder, _another_kind)


def _options(folder: Path) -> list[str]:
    return ["--model-dir", str(folder), "--voices", str(folder / "voices.bin")]


def _damaged(name: str, damage: Callable[[Path], None]) -> Callable[[Path], list[str]]:
    def arguments(folder: Path) -> list[str]:
        damage(folder / name)
        return _options(folder)

    return arguments


REFUSALS: dict[str, Callable[[Path], list[str]]] = {
    **{f"{name} {how.__name__}": _damaged(name, how) for name in ("model.onnx", "voices.bin") for how in DAMAGES},
    "a model that isn't there": lambda folder: [*_options(folder), "--model", str(folder / "gone.onnx")],
    "options without a provider": lambda folder: [*_options(folder), "--provider-options", "a=b"],
}


@pytest.mark.parametrize(
    "refusal", [pytest.param(name, marks=[] if name == "voices.bin _half" else [pytest.mark.slow]) for name in REFUSALS]
)
def test_what_the_worker_refuses_doctor_names(refusal: str, tmp_path: Path) -> None:
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin")
    arguments = [*REFUSALS[refusal](tmp_path), "--cache-dir", str(tmp_path / "cache"), "--engine", "kokoro"]
    served, diagnosed = (
        subprocess.run(
            [sys.executable, "-m", "supervisor", *command, *arguments], capture_output=True, text=True, timeout=DEADLINE
        )
        for command in (["serve"], ["doctor", "--json"])
    )
    assert served.returncode == ExitCode.ENGINE, served.stderr
    (line,) = [line.partition(" ERROR: ")[2] for line in served.stderr.splitlines() if " ERROR: " in line]
    wrong = [row["found"] for row in json.loads(diagnosed.stdout) if row["verdict"] == "wrong"]
    assert any(line in found for found in wrong), (line, wrong)


@pytest.fixture
def without_data(tmp_path: Path) -> dict[str, str]:
    damage(copied(tmp_path / "site", DATA), "missing")
    return {"PYTHONPATH": str(tmp_path / "site")}


def test_kokoro_speaks_and_the_log_names_the_cure(tmp_path: Path, without_data: dict[str, str]) -> None:
    with server(*miniature_arguments(tmp_path), environment=without_data) as started:
        assert started.hear(input="Hello from Zyxqvil.", response_format="pcm")
        _, status = started.get("/status")
        assert status["words_by_source"]["letters"] == 1
        assert sum("install espeakng-loader again: " in line for line in started.log) == 1
        assert not any("Traceback" in line for line in started.log)


def test_espeak_as_the_engine_ends_with_one_line_and_its_status(without_data: dict[str, str]) -> None:
    with server("--engine", "espeak", environment=without_data, wait=False) as started:
        assert started.process.wait(DEADLINE) == ExitCode.ENGINE
        assert re.search("ERROR.*install espeakng-loader again: ", "\n".join(started.log))
        assert sum("install espeakng-loader again: " in line for line in started.log) == 1
        assert not any("Traceback" in line for line in started.log)
