"""A server whose espeak-ng lacks its data: Kokoro speaks without it, and espeak-ng as the engine is refused once."""

import re
from pathlib import Path

import pytest

from supervisor.processes.standing import ExitCode
from tests.espeak_copies import DATA, copied, damage
from tests.system.oracle import miniature_arguments
from tests.system.server import DEADLINE, server


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
