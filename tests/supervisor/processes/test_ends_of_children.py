"""How a real child ended: by itself, by the supervisor, by the system, or by somebody."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys
import time
from unittest.mock import Mock

import multiprocess
import pytest

from shm.control import control_pair
from supervisor.processes import roles, spawning
from supervisor.processes.spawning import ChildProcess


@pytest.mark.parametrize(
    ("number", "hung", "ended", "from_outside"),
    [
        (signal.SIGKILL, False, (3, 3), True),
        (signal.SIGKILL, True, (3, 3), False),
        (signal.SIGKILL, False, (3, 4), False),  # for want of memory
        (signal.SIGKILL, False, (None, None), False),  # a system that doesn't tell
        (signal.SIGTERM, False, (3, 3), False),
    ],
)
def test_a_kill_from_outside_is_told_from_others(
    monkeypatch: pytest.MonkeyPatch, number: int, hung: bool, ended: tuple[int | None, int | None], from_outside: bool
) -> None:
    monkeypatch.setattr(spawning, "ended_for_memory", Mock(side_effect=ended))
    ours, theirs = control_pair()
    process = multiprocess.get_context("fork").Process(target=time.sleep, args=(600.0,))
    process.start()
    child = ChildProcess("worker", 1, process, ours, Mock())
    child.hung = hung
    os.kill(process.pid, number)
    assert child.reap() == -number
    assert child.killed_from_outside == from_outside
    theirs.close()


@pytest.mark.parametrize("refusal", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
@pytest.mark.parametrize("role", roles.ROLES)
def test_what_the_machine_refuses_a_process_is_one_line(
    role: str, refusal: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused() -> None:
        raise refusal

    monkeypatch.setitem(roles.ROLES, role, roles.RoleRow(refused))
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit, match="1"):
        roles.run_role(role)
    assert [record.levelname for record in caplog.records if record.levelno > logging.DEBUG] == ["CRITICAL"]
    assert caplog.records[0].message and not caplog.records[0].exc_info
