"""The supervisor's real children, and how each kind is started.

They are spawned, not forked, because CoreML and CUDA abort after a fork; but for fronts on Linux, which are forked from
a template.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import re
import select
import signal
import sys
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Any

import multiprocess
from multiprocess.connection import Connection

from shm.control import ControlSocket, control_pair
from shm.frames import BrokenChannel
from shm.handover import Handover, handover_pair
from shm.in_flight import BOARD_BYTES, Board
from shm.listeners import Listeners, TlsClients
from shm.memory import NoMemory, reserve, sparse
from shm.messages import ControlMessage, Fork, Forked, SharedMemory
from shm.records import reserve_records
from supervisor.processes.children import Activity, Incarnation
from supervisor.processes.roles import run_role, start_arguments
from supervisor.settings.composition import Settings

FORK_SECONDS = 1.0
"""Seconds in which a template must have forked. It takes 0.02."""

_PR_SET_CHILD_SUBREAPER = 36


class ForkedProcess:
    """A child in the shape of `multiprocess`'s, forked from a template (`frontend/template.py`), on Linux only.

    It is forked twice, and its first parent ends: so it becomes the child of the nearest ancestor that takes orphans,
    which is the supervisor. It tells of its end and stop, as of any child's. Other orphans, the helpers of a front that
    died, are reaped and nothing else.
    """

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
        while select.select([template], [], [], FORK_SECONDS)[0]:
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


log = logging.getLogger(__name__)

_CLIENTS = SharedMemory("clients")

_WAITS = {"running": "processor", "disk-sleep": "disk"}
_STATES_TELL = sys.platform == "linux"
"""True where a process's state is its main thread's: macOS shows every process as running that isn't stopped."""


class ChildProcess(Incarnation):
    """An incarnation backed by a real process."""

    def __init__(
        self,
        role: str,
        generation: int,
        process: Any,
        control: ControlSocket,
        lifeline: Connection,
        handover: Handover | None = None,
        memories: Iterable[tuple[ControlMessage, int]] = (),
    ) -> None:
        """
        Args:
            handover: a front's channel for connections.
            memories: those that all fronts share, each with the message that gives it.
        """
        super().__init__(role, generation, process.pid)
        self.control = control
        self.handover = handover
        """A front's channel for connections."""
        self.is_anothers = False
        """True if another process is its parent, which reaps it."""
        self.status = 0
        """The exit status, once it was reaped."""
        self._ended_for_memory = ended_for_memory()
        self._board = self._give_board() if role == "front" else None
        for message, memory in memories:
            self.send(message, (memory,))
        self._process = process
        self._lifeline = lifeline

    def _give_board(self) -> Board | None:
        try:
            memory = reserve(BOARD_BYTES)
        except NoMemory:
            return None  # a front without the memory is served all the same
        try:
            self.send(SharedMemory("texts"), (memory,))
            return Board(memory)
        finally:
            os.close(memory)

    @property
    def sentinel(self) -> int:
        """A descriptor that becomes readable when the process has ended."""
        fd: int = self._process.sentinel
        return fd

    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> bool:
        try:
            self.control.send(message, fds)
        except BrokenChannel:
            return False
        return True

    def activity(self) -> Activity | None:
        import psutil  # only a silent process needs it

        try:
            process = psutil.Process(self.pid)
            times, state = process.cpu_times(), process.status()
        except psutil.Error:
            return None
        return Activity(times.user + times.system, _WAITS.get(state, "") if _STATES_TELL else "")

    def dump_stacks(self) -> None:
        # Signals wait while a process is stopped. Letting a worker continue is safe: none of its further output is
        # read. A front would accept requests that die with it.
        for number in (signal.SIGUSR2, signal.SIGCONT) if self.role == "worker" else (signal.SIGUSR2,):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def reap(self) -> int:
        if self.is_anothers:
            # Nobody tells its status: one that was asked to end has done so.
            self.status = 0 if self.ending else -signal.SIGKILL
            if popen := getattr(self._process, "_popen", None):
                popen.returncode = self.status
        else:
            self._process.join()
            self.status = self._process.exitcode
            killed = self.status == -signal.SIGKILL and not self.hung
            self.killed_from_outside = killed and ended_for_memory() == self._ended_for_memory is not None
        if self._board:
            self.in_flight = self._board.read()
            self._board.close()
        self._process.close()
        self.control.close()
        self._lifeline.close()
        return self.status


def ended_for_memory() -> int | None:
    """Processes that the system has ended for want of memory since it came up; None where it doesn't count them."""
    try:
        counts = Path("/proc/vmstat").read_text()
    except OSError:
        return None
    found = re.search(r"^oom_kill (\d+)$", counts, re.MULTILINE)
    return int(found[1]) if found else None


class ProcessSpawner:
    def __init__(self, settings: Settings, listeners: Listeners, metrics: Path | None = None) -> None:
        """`metrics`: the folder for the children's counts."""
        self.settings = settings
        """The settings of children that are started from now on."""
        self._listeners = listeners
        self._metrics = metrics
        self._memories: list[tuple[ControlMessage, int]] | None = None
        """Those that all fronts share, from the first front on, each with the message that gives it."""
        self._context = multiprocess.get_context("spawn")
        self._template: ChildProcess | None = None
        """The process from which fronts are forked, once one was started."""

    def __call__(self, role: str, generation: int, subject: str = "") -> ChildProcess:
        """Start a child of that role. It inherits its ends of a control socket and a lifeline, and no other
        descriptor."""
        control, control_end = control_pair()
        lifeline_end, lifeline = self._context.Pipe(duplex=False)
        handover, handover_end = handover_pair() if role == "front" else (None, None)
        given = start_arguments(
            role,
            metrics=self._metrics,
            listeners=self._listeners,
            handover=handover_end,
            generation=generation,
            subject=subject,
        )
        process: Any = None
        if handover_end and self._template and self._template.able and not self._template.is_anothers:
            ends = control_end.fileno(), handover_end.fileno(), lifeline_end.fileno()
            process = forked(self._template.control, *ends)
            if process is None:
                log.error("no front can be forked: starting one")
                self._template.able = False
                self._template.kill()
        if process is None:
            process = self._context.Process(
                target=run_role,
                args=(role, control_end, lifeline_end, self.settings, *given),
                name=f"{role}[{generation}]",
            )
            process.start()
        control_end.close()
        lifeline_end.close()
        if handover_end:
            handover_end.close()
        memories = self._shared_memories() if role in ("front", "tls") else ()
        if role == "tls":
            memories = [given for given in memories if given[0] == _CLIENTS]
        child = ChildProcess(role, generation, process, control, lifeline, handover, memories)
        if role == "template":
            self._template = child
        return child

    def _shared_memories(self) -> Sequence[tuple[ControlMessage, int]]:
        if self._memories is None:
            self._memories = []
            try:
                if sys.platform == "linux":
                    self._memories.append((SharedMemory("records"), reserve_records()))
                    self._memories.append((SharedMemory("sounds"), sparse("sounds")))
            except OSError as error:
                log.error("the answers of a front that dies will be cut: %s", error.strerror)
            if self._listeners.tls is not None:
                self._memories.append((_CLIENTS, reserve(TlsClients.BYTES)))
        return self._memories
