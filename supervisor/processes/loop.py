"""The supervisor's one loop: waits for children, their sockets, signals and timers, and calls the lifecycle; and the
real processes that are its children.

They are spawned, never forked, because CoreML and CUDA abort after a fork.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import selectors
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import multiprocess
from multiprocess import resource_tracker
from multiprocess.connection import Connection
from setproctitle import setproctitle

from shm.control import ControlSocket, control_pair
from shm.frames import BrokenChannel
from shm.handover import Handover, handover_pair
from shm.in_flight import BOARD_BYTES, Board
from shm.lifeline import ORPHANED, be_killed_with_parent
from shm.listeners import Listeners
from shm.memory import NoMemory, reserve, sparse
from shm.messages import ConnectionRecords, ControlMessage, KeptSounds, TextBoard
from shm.records import reserve_records
from supervisor.processes.children import KILL_GRACE, Activity, Incarnation
from supervisor.processes.connections import ClientConnections
from supervisor.processes.exit_codes import ExitCode
from supervisor.processes.lifecycle import Lifecycle
from supervisor.processes.roles import ROLES, start_arguments
from supervisor.processes.succession import HANDLED, Inheritance, Predecessors, Update
from supervisor.processes.timers import Timers
from supervisor.settings.composition import Settings

log = logging.getLogger(__name__)


class Loop:
    """Runs a lifecycle until it sets an exit code."""

    def __init__(self, spawner: ProcessSpawner, listeners: Listeners, inheritance: Inheritance | None = None) -> None:
        """`inheritance`: what the version left whose place this one takes."""
        self._spawner = spawner
        self._selector = selectors.DefaultSelector()
        self._signals_read, self._signals_write = os.pipe()
        os.set_blocking(self._signals_read, False)
        os.set_blocking(self._signals_write, False)
        self._selector.register(self._signals_read, selectors.EVENT_READ, None)
        self.timers = Timers(time.monotonic)
        """Timers of the program around the lifecycle."""
        self.connections = ClientConnections(listeners, self.timers, spawner.settings.front.max_connections)
        self._selector.register(self.connections, selectors.EVENT_READ, self.connections)
        self.predecessors = Predecessors(inheritance)
        self.connections.succeeds(self.predecessors.channels)
        self.update: Update | None = None
        """This version's update to the next one; None in a predecessor, which ends."""

    def spawn(self, role: str, generation: int, subject: str = "") -> Incarnation:
        """Start a child, and watch it."""
        child = self._spawner(role, generation, subject)
        self._selector.register(child.sentinel, selectors.EVENT_READ, child)
        self._selector.register(child.control, selectors.EVENT_READ, child)
        if child.handover:
            self.connections.joined(child.handover)
        return child

    def run(self, lifecycle: Lifecycle) -> ExitCode:
        for handled in HANDLED:
            signal.signal(handled, self._enqueue)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED)  # the version before this one has blocked them
        try:
            lifecycle.start()
            while lifecycle.exit_code is None:
                self._turn(lifecycle)
        except Exception:
            # The children would be unattended from here on (if no descriptor is left to start one with, say).
            log.critical("the supervisor has failed", exc_info=True)
            lifecycle.abandon()
            return ExitCode.FAILED
        if self.connections.successor:
            logging.shutdown()
            os._exit(lifecycle.exit_code)  # all else belongs to the successor
        interrupted = lifecycle.exit_code is ExitCode.INTERRUPTED
        self.predecessors.wait(0.0 if interrupted else self._spawner.settings.front.drain_timeout + 2 * KILL_GRACE)
        return lifecycle.exit_code

    def become_predecessor(self, successor: Handover) -> None:
        """Go on in a fork of this process, until the successor at the other end of this channel serves and all answers
        have ended."""
        setproctitle("kokoro-live: predecessor")
        be_killed_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts the successor, too, which passes it on
        self.update = None
        self.predecessors = Predecessors(None)
        for child in self._children():
            child.is_anothers = True
        self.connections.is_succeeded_by(successor)

    def process_ids(self) -> tuple[int, ...]:
        """Process ids of everything that this process has started."""
        tracker = resource_tracker._resource_tracker._pid
        return (*(child.pid for child in self._children()), *([tracker] if tracker else []))

    def _children(self) -> set[ChildProcess]:
        return {key.data for key in self._selector.get_map().values() if isinstance(key.data, ChildProcess)}

    def _turn(self, lifecycle: Lifecycle) -> None:
        wakeups = [wakeup for wakeup in (lifecycle.next_wakeup(), self.timers.next) if wakeup is not None]
        timeout = max(min(wakeups) - time.monotonic(), 0) if wakeups else None
        ready = self._selector.select(timeout)
        if timeout != 0 and [key.data for key, _ in ready] == [self.connections]:
            # The lifecycle has nothing to decide, and a client waits: reconciling takes a millisecond.
            self.connections.turn()
            return
        # A front that saw a worker's death may be read together with that worker's earlier messages: the worker goes
        # first.
        for key, _ in sorted(ready, key=lambda event: getattr(event[0].data, "role", "") == "front"):
            if key.data is self.connections:
                self.connections.turn()
            elif key.data is None:
                for number in os.read(self._signals_read, 64):
                    if number == signal.SIGCHLD:
                        self._look_at_fronts()
                        self.predecessors.reap()
                        if self.update:
                            self.update.look()
                    else:
                        lifecycle.signal(number)
            elif key.fileobj not in self._watched():
                continue  # its child was reaped at another of these events
            elif key.fileobj == key.data.sentinel:
                self._ended(key.data, lifecycle)
            else:
                self._hear(key.data, lifecycle)
        lifecycle.tick()
        self.timers.run_due()
        if self.connections.handed_on:
            lifecycle.retire()
        if self.connections.deserted:
            lifecycle.abandon()
            os._exit(ORPHANED)
        front = lifecycle.front
        if self.connections.waits_for_place:
            if not lifecycle.speaks:
                return
            self.connections.take_place()
        self.connections.serves(front.handover if isinstance(front, ChildProcess) else None)

    def _look_at_fronts(self) -> None:
        """Kill a front that was stopped: its clients would wait for a heartbeat's limit. Its death is any other's."""
        fronts = {key.data for key in self._selector.get_map().values() if getattr(key.data, "role", "") == "front"}
        for child in fronts:
            if is_stopped(child.pid):
                self._look_again(child, time.monotonic(), LOOKS)

    def _look_again(self, child: ChildProcess, due: float, looks: int) -> None:
        if child.control not in self._watched() or not is_stopped(child.pid):
            return
        if not looks:
            log.error("front[%d] was stopped: ending it", child.generation)
            child.kill()
            return
        now = time.monotonic()
        # This process may have been stopped with the whole group, and be continued before the front is.
        left = looks - 1 if now - due < LOOK_LATE else LOOKS
        self.timers.after(LOOK, lambda: self._look_again(child, now + LOOK, left))

    def _enqueue(self, number: int, _frame: FrameType | None) -> None:
        """Put the signal into a queue and do nothing else: all work happens in the loop, one event at a time."""
        os.write(self._signals_write, bytes([number]))

    def _watched(self) -> set[object]:
        return {key.fileobj for key in self._selector.get_map().values()}

    def _hear(self, child: ChildProcess, lifecycle: Lifecycle) -> bool:
        """Pass on the child's messages; returns False if it has none left."""
        try:
            messages = child.control.receive()
        except BrokenChannel:
            # The sentinel reports the child's end; a socket at EOF would stay readable for ever.
            self._selector.unregister(child.control)
            return False
        for message, _ in messages:
            lifecycle.message(child, message)
        return bool(messages)

    def _ended(self, child: ChildProcess, lifecycle: Lifecycle) -> None:
        while child.control in self._watched() and self._hear(child, lifecycle):
            pass  # messages sent before it ended
        if child.control in self._watched():
            self._selector.unregister(child.control)
        self._selector.unregister(child.sentinel)
        lifecycle.exited(child)
        if child.handover:
            self.connections.left(child.handover, died=child.status != 0)


_WAITS = {"running": "processor", "disk-sleep": "disk"}
_STATES_TELL = sys.platform == "linux"
"""True where a process's state is its main thread's: macOS shows every process as running that isn't stopped."""

LOOKS = 2
"""Looks in a row, after the first, at which a stopped front must still be stopped."""

LOOK = 0.015
"""Seconds between two looks."""

LOOK_LATE = 0.01
"""Seconds by which a look may be late and count."""


if sys.platform == "linux":

    def is_stopped(pid: int) -> bool:
        """True if this child is stopped, by SIGSTOP say."""
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
        return False
else:

    def is_stopped(pid: int) -> bool:
        """False: `waitid` is Linux's, and elsewhere a stopped front misses its heartbeats."""
        return False


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
        if self.is_anothers:
            # Nobody tells its status: one that was asked to end has done so.
            self.status = self._process._popen.returncode = 0 if self.ending else -signal.SIGKILL
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
        process = self._context.Process(
            target=ROLES[role].run,
            args=(control_end, lifeline_end, self.settings, *given),
            name=f"{role}[{generation}]",
        )
        process.start()
        control_end.close()
        lifeline_end.close()
        if handover_end:
            handover_end.close()
        memories = self._shared_memories() if role == "front" else ()
        return ChildProcess(role, generation, process, control, lifeline, handover, memories)

    def _shared_memories(self) -> Sequence[tuple[ControlMessage, int]]:
        if self._memories is None:
            self._memories = []
            try:
                if sys.platform == "linux":
                    self._memories.append((ConnectionRecords(), reserve_records()))
                    self._memories.append((KeptSounds(), sparse("sounds")))
            except OSError as error:
                log.error("the answers of a front that dies will be cut: %s", error.strerror)
        return self._memories
