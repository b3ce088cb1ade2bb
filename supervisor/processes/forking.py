"""Fronts that are forked from a template (`frontend/template.py`), as the supervisor sees them. On Linux only.

A front is forked twice, and its first parent ends: so it becomes the child of the nearest ancestor that takes orphans,
which is the supervisor. It tells of its end and stop, as of any child's. Other orphans, the helpers of a front that
died, are reaped and nothing else.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
from collections.abc import Container

from shm.control import ControlSocket
from shm.frames import BrokenChannel
from shm.messages import Fork, Forked

LIMIT = 1.0
"""Seconds in which a template must have forked. It takes 0.02."""

_PR_SET_CHILD_SUBREAPER = 36


class ForkedProcess:
    """A child in the shape of `multiprocess`'s."""

    def __init__(self, pid: int, sentinel: int) -> None:
        """`sentinel`: a descriptor that becomes readable when the process has ended. It belongs to the object."""
        self.pid = pid
        self.sentinel = sentinel
        self.exitcode: int | None = None

    def kill(self) -> None:
        if self.exitcode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        if self.exitcode is None:
            self.exitcode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self) -> None:
        os.close(self.sentinel)


def forked(template: ControlSocket, control: int, handover: int, lifeline: int) -> ForkedProcess | None:
    """A front that has these ends of its channels; None if the template doesn't answer or has no room for one."""
    sentinel, alive = os.pipe()
    try:
        template.send(Fork(), (control, handover, lifeline, alive))
        while select.select([template], [], [], LIMIT)[0]:
            for message, _ in template.receive():
                if isinstance(message, Forked) and message.pid:
                    process, sentinel = ForkedProcess(message.pid, sentinel), -1
                    return process
                if isinstance(message, Forked):
                    return None
    except BrokenChannel:
        pass
    finally:
        os.close(alive)
        if sentinel >= 0:
            os.close(sentinel)
    return None


def take_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(known: Container[int]) -> bool:
    """Reap ended children that aren't `known`; returns False if a known one that has ended stands before others."""
    if sys.platform == "linux":
        with contextlib.suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if ended.si_pid in known:
                    return False
                os.waitpid(ended.si_pid, 0)
    return True
