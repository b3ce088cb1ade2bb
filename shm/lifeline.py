"""Lifelines: a child doesn't outlive its supervisor, because the end of a pipe ends the child.

The supervisor holds the pipe's write end and never writes. When the supervisor dies, for any reason, the kernel closes
that end, and the child's reading thread ends the child within milliseconds, whatever its other threads are doing
(`python -m benchmarks.endings` measures it; polling getppid would take as long as the time between two polls).
PR_SET_PDEATHSIG is an addition that also reaches a stopped process; it exists on Linux only.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1
ORPHANED = 70
"""Exit status of a child whose supervisor died; only the log is left to read it."""

# Exit statuses of errands: processes that the supervisor starts alongside the server and that end by themselves.

DONE = 0
"""The errand succeeded; a new worker should use its result."""

FAILED = 1
"""The errand reached no result for an unrelated reason, so it may be tried again."""

NOTHING_NEW = 3
"""The errand succeeded, and its result changes nothing."""


def become_child(lifeline: int) -> None:
    """Tie this process to its supervisor: end with it, leave signals to it, and dump stacks when it asks.

    The supervisor's children call this before they import anything large. `lifeline` is owned by the call.
    """
    die_with_supervisor(lifeline)
    leave_ending_to_supervisor()
    dump_stacks_on_request()


def die_with_supervisor(lifeline: int) -> None:
    """Tie this process's life to the write end of `lifeline`, a pipe's read end. This call takes ownership of the
    descriptor."""
    be_killed_with_parent()
    threading.Thread(target=_wait_for_end, args=(lifeline,), name="lifeline", daemon=True).start()


def be_killed_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends, on Linux; nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def leave_ending_to_supervisor() -> None:
    """Ignore the signals that a terminal or a service manager sends to the whole process group, so that streams are
    finished."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def dump_stacks_on_request() -> None:
    """Write every thread's stack to standard error on SIGUSR2. The handler is in C, so a hanging interpreter does it
    too."""
    faulthandler.register(signal.SIGUSR2, all_threads=True)


def _wait_for_end(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    os._exit(ORPHANED)
