"""The supervisor's one loop: waits for children, their sockets, signals and timers, and calls the lifecycle."""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import signal
import sys
import time
from types import FrameType

from multiprocess import resource_tracker
from setproctitle import setproctitle

from shm.frames import BrokenChannel
from shm.handover import Handover
from shm.lifeline import ORPHANED, be_killed_with_parent
from shm.listeners import Listeners
from supervisor.processes.children import KILL_GRACE, Incarnation
from supervisor.processes.connections import ClientConnections
from supervisor.processes.lifecycle import Lifecycle
from supervisor.processes.spawning import ChildProcess, ProcessSpawner, reap_orphans, take_orphans
from supervisor.processes.standing import ExitCode
from supervisor.processes.succession import HANDLED, Inheritance, Predecessors, Update
from supervisor.processes.timers import Timers

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
        self._orphans_due = False
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
        take_orphans()
        try:
            lifecycle.start()
            while lifecycle.exit_code is None:
                self._turn(lifecycle)
        except Exception as error:
            # The children would be unattended from here on. What the system refuses, a descriptor or a process for a
            # child, is no fault of the program that a traceback would explain.
            refused = isinstance(error, OSError)
            log.critical("the supervisor has failed%s", f": {error}" if refused else "", exc_info=not refused)
            log.debug("it failed here", exc_info=True)
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
                        self._orphans_due = True
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
        if self._orphans_due:
            rehearsal = self.update.process_ids if self.update else ()
            self._orphans_due = not reap_orphans({*self.process_ids(), *self.predecessors.process_ids, *rehearsal})
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
