"""The log file of a service that launchd starts: standard error is appended to it, by all processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from supervisor.startup.service_manager import LARGEST, rotate

SERVER = """
import logging, subprocess, sys, time
from pathlib import Path
from supervisor.processes.timers import Timers
from supervisor.startup.service_manager import keep_small
logging.basicConfig(level="INFO")
child = subprocess.Popen(["sh", "-c", "read go; echo from a child >&2"], stdin=subprocess.PIPE)
keep_small(Path(sys.argv[1]), Timers(time.monotonic))
child.communicate(b"go")
"""


def serve(log: Path, mode: str) -> None:
    """A process whose standard error is opened so, and a child that writes there after its parent has looked."""
    with log.open(mode) as opened:
        subprocess.run([sys.executable, "-c", SERVER, str(log)], stderr=opened, check=True)


def test_a_large_log_is_emptied_in_place_and_children_go_on_writing_to_it(tmp_path: Path) -> None:
    log = tmp_path / "kokoro-live.log"
    for number in range(3):
        with log.open("ab") as lines:
            lines.write(b"%d" % number * LARGEST)
        serve(log, "ab")
        assert log.read_text() == "from a child\n"
        assert (tmp_path / "kokoro-live.log.1").stat().st_size >= LARGEST
    assert {path.name for path in tmp_path.iterdir()} == {"kokoro-live.log", "kokoro-live.log.1"}
    assert (tmp_path / "kokoro-live.log.1").read_bytes().endswith(b"2")


@pytest.mark.parametrize("mode", ["ab", "r+b"])
def test_a_small_log_and_a_file_that_is_not_appended_to_are_left_alone(tmp_path: Path, mode: str) -> None:
    """A file that is not opened for appending would be written on at the old place, after a hole."""
    log = tmp_path / "log"
    log.write_bytes(b"x" * (LARGEST if mode == "r+b" else LARGEST - 1))
    serve(log, mode)
    assert log.stat().st_size >= LARGEST - 1
    assert not (tmp_path / "log.1").exists()


@pytest.mark.parametrize("fails", ["copyfileobj", "open"])
def test_a_log_that_cannot_be_copied_stays(tmp_path: Path, fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    log.write_text("lines\n")

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    if fails == "open":
        (tmp_path / "log.1.part").mkdir()
    else:
        monkeypatch.setattr(shutil, fails, refuse)
    with pytest.raises(OSError):
        rotate(log, largest=1)
    assert log.read_text() == "lines\n"
    assert not os.path.lexists(tmp_path / "log.1")
