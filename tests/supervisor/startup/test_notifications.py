"""The datagrams of sd_notify(3), on real sockets."""

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from supervisor.startup.service_manager import LARGEST, Notifications, rotate
from tests.platforms import linux_only
from tests.supervisor.startup.listening_manager import listening_manager

PID = 4711


@pytest.mark.parametrize(
    "kind", ["a path", pytest.param("an abstract socket", marks=linux_only("only Linux has abstract sockets"))]
)
def test_fields_arrive_in_one_datagram(kind: str, tmp_path: Path) -> None:
    name = str(tmp_path / "notify") if kind == "a path" else f"@kokoro-live-test-{os.getpid()}"
    with listening_manager(name.replace("@", "\0")) as manager:
        Notifications({"NOTIFY_SOCKET": name}, PID).notify(READY=1, STATUS="speaking")
        assert manager.heard() == {"READY": "1", "STATUS": "speaking"}


def test_a_value_with_line_ends_stays_one_field(tmp_path: Path) -> None:
    with listening_manager(str(tmp_path / "notify")) as manager:
        Notifications({"NOTIFY_SOCKET": str(tmp_path / "notify")}, PID).notify(STATUS="one\nREADY=1\ntwo")
        assert manager.heard() == {"STATUS": "one READY=1 two"}


def test_children_inherit_none_of_it(tmp_path: Path) -> None:
    environment = {"NOTIFY_SOCKET": str(tmp_path), "WATCHDOG_USEC": "1", "WATCHDOG_PID": str(PID), "HOME": "/"}
    Notifications(environment, PID)
    assert environment == {"HOME": "/"}


def test_without_a_manager_nothing_is_said_and_nothing_is_wrong(caplog: pytest.LogCaptureFixture) -> None:
    Notifications({}, PID).notify(READY=1)
    assert not caplog.records


@pytest.mark.parametrize(
    ("address", "said"),
    [("/nobody/listens/here", "No such file"), ("vsock:2:1234", "neither a path nor an abstract socket")],
)
def test_a_manager_that_cannot_be_reached_is_a_line_in_the_log(
    address: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    Notifications({"NOTIFY_SOCKET": address}, PID).notify(READY=1)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert said in record.getMessage()


@pytest.mark.parametrize(
    ("variables", "seconds"),
    [
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "500000", "WATCHDOG_PID": str(PID)}, 0.5),
        ({"WATCHDOG_USEC": "500000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({}, None),
    ],
)
def test_the_watchdog_is_fed_only_where_this_process_is_meant(variables: dict[str, str], seconds: float | None) -> None:
    assert Notifications({"NOTIFY_SOCKET": "/run/notify", **variables}, PID).watchdog_seconds == seconds


def test_there_is_no_watchdog_without_a_manager() -> None:
    assert Notifications({"WATCHDOG_USEC": "1000"}, PID).watchdog_seconds is None


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
