"""Real child processes: spawned (never forked, because CoreML and CUDA abort after a fork), tied to the supervisor,
watched."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import multiprocess
from multiprocess.connection import Connection

from shm.control import ControlSocket, control_pair
from shm.frames import BrokenChannel
from shm.in_flight import BOARD_BYTES, Board
from shm.listeners import Listeners
from shm.memory import NoMemory, reserve
from shm.messages import ControlMessage, TextBoard
from supervisor.processes import entries
from supervisor.processes.incarnation import Activity, Incarnation
from supervisor.settings.composition import Settings

_WAITS = {"running": "processor", "disk-sleep": "disk"}
_STATES_TELL = sys.platform == "linux"
"""True where a process's state is its main thread's: macOS shows every process as running that isn't stopped."""


class ChildProcess(Incarnation):
    """An incarnation backed by a real process."""

    def __init__(self, role: str, generation: int, process: Any, control: ControlSocket, lifeline: Connection) -> None:
        super().__init__(role, generation, process.pid)
        self.control = control
        self._board = self._give_board() if role == "front" else None
        self._process = process
        self._lifeline = lifeline

    def _give_board(self) -> Board | None:
        try:
            memory = reserve(BOARD_BYTES)
        except NoMemory:
            return None  # a front without the memory is served all the same
        try:
            self.send(TextBoard(), (memory,))
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
        self._process.join()
        status: int = self._process.exitcode
        if self._board:
            self.in_flight = self._board.read()
            self._board.close()
        self._process.close()
        self.control.close()
        self._lifeline.close()
        return status


class ProcessSpawner:
    """Starts the children of one server."""

    def __init__(self, settings: Settings, listeners: Listeners, metrics: Path | None = None) -> None:
        """`metrics`: the folder for the children's counts."""
        self.settings = settings
        """The settings of children that are started from now on."""
        self._listeners = listeners
        self._metrics = metrics
        self._context = multiprocess.get_context("spawn")

    def __call__(self, role: str, generation: int, subject: str = "") -> ChildProcess:
        """Start a child of that role. It inherits its ends of a control socket and a lifeline, and no other
        descriptor."""
        control, control_end = control_pair()
        lifeline_end, lifeline = self._context.Pipe(duplex=False)
        own: dict[str, tuple[Any, ...]] = {
            "front": (self._metrics, self._listeners),
            "worker": (self._metrics, generation),
            "trial": (subject,),
        }
        process = self._context.Process(
            target=getattr(entries, role),
            args=(control_end, lifeline_end, self.settings, *own.get(role, ())),
            name=f"{role}[{generation}]",
        )
        process.start()
        control_end.close()
        lifeline_end.close()
        return ChildProcess(role, generation, process, control, lifeline)
