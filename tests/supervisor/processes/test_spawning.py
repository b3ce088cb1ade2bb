"""Real children: imports, channels, how each ended, and fronts that are forked, or can't be, with their orphans."""

import errno
import gc
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from unittest.mock import Mock

import multiprocess
import pytest

from shm.control import ControlSocket, control_pair
from shm.messages import Fork, Forked, Started
from supervisor.processes import roles, spawning
from supervisor.processes.fronts import channel
from supervisor.processes.roles import imports
from supervisor.processes.spawning import ChildProcess, forked
from tests import platforms


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


DEADLINE = 60.0

ORPHANS = """
import os, signal, time
from supervisor.processes.spawning import reap_orphans, take_orphans
take_orphans()
told, tell = os.pipe()
if not os.fork():
    for _ in range(3):
        pid = os.fork()
        if not pid:
            signal.pause()
        os.write(tell, b"%d\\n" % pid)
    os._exit(0)
os.wait()
orphans = [int(pid) for pid in os.read(told, 64).split()]
def ended(pid): return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
known = os.fork()
if not known:
    os._exit(7)
ended(known)
assert reap_orphans({known}) is False, "its owner reaps it"
assert os.waitpid(known, 0)[1] == 7 << 8
assert reap_orphans({known}) is True
for pid in orphans[:2]:
    os.kill(pid, signal.SIGKILL)
    ended(pid)
assert reap_orphans({known}) is True
assert [os.path.exists(f"/proc/{pid}") for pid in orphans] == [False, False, True]
os.kill(orphans[2], signal.SIGKILL)
ended(orphans[2])
assert reap_orphans(set()) is True and reap_orphans(set()) is True
"""


@platforms.linux_only("elsewhere no front is forked")
def test_orphans_are_reaped_and_nobody_elses_children() -> None:
    subprocess.run([sys.executable, "-c", ORPHANS], check=True, timeout=DEADLINE)


def asked(answer: Forked | None, *, ends: bool = False) -> spawning.ForkedProcess | None:
    """A front that is asked of a template which answers so; None: not at all. `ends`: it ends instead."""
    ours, theirs = control_pair()
    one, other = socket.socketpair()
    with one as end, other, theirs:
        template = ControlSocket(theirs)

        def answers() -> None:
            ((message, fds),) = template.receive()
            assert isinstance(message, Fork) and len(fds) == 4
            for fd in fds:
                os.close(fd)
            if answer:
                template.send(Started())
                template.send(answer)
            elif ends:
                theirs.shutdown(socket.SHUT_RDWR)

        thread = threading.Thread(target=answers)
        thread.start()
        try:
            return forked(ours, end.fileno(), end.fileno(), end.fileno())
        finally:
            thread.join()
            ours.close()


def test_a_template_without_room_one_that_hangs_and_one_that_ends_give_no_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asked(Forked(0)) is None
    assert asked(None, ends=True) is None
    monkeypatch.setattr(spawning, "FORK_SECONDS", 0.05)
    assert asked(None) is None


def test_a_forked_front_tells_of_its_end() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    process = asked(Forked(child.pid))
    assert process is not None
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    process.kill()
    process.close()
    child.returncode = process.exitcode


def test_every_channel_has_memory_of_its_own() -> None:
    with channel(1, 100) as one, channel(1, 100) as other:
        assert os.fstat(one.front[2]).st_ino == os.fstat(one.worker[2]).st_ino
        assert os.fstat(one.front[2]).st_ino != os.fstat(other.front[2]).st_ino


@pytest.mark.parametrize("end", ["commits", "orders"])
def test_when_the_writer_of_a_pipe_closes_its_end_the_reader_hears_it(end: str) -> None:
    """The supervisor's own copy of a write end would keep every death unheard."""
    with channel(1, 100) as ends:
        reader = os.dup(ends.front[1] if end == "commits" else ends.worker[0])
        writer = os.dup(ends.worker[1] if end == "commits" else ends.front[0])
    os.close(writer)
    os.set_blocking(reader, False)
    try:
        assert os.read(reader, 1) == b"", "the end of the file"
    finally:
        os.close(reader)


def test_garbage_is_collected_again_whether_or_not_the_imports_succeed() -> None:
    with pytest.raises(ModuleNotFoundError), imports():
        assert not gc.isenabled()
        raise ModuleNotFoundError
    assert gc.isenabled()
