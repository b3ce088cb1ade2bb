"""Every client's connection: accepted here, served by a front, and kept until that front has closed it.

The front gets a duplicate. When it dies, its connections go to the next front, so that none of them ends with it.
Nothing is ever read from a connection here, and nothing written. `ClientConnections` is one entry in the supervisor's
selector, and has a selector of its own for the listening sockets and the fronts' channels.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import select
import selectors
import socket
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from shm.frames import BrokenChannel
from shm.handover import Accepted, Handover, Port, Report, Said
from shm.listeners import Listeners, allowed_files
from supervisor.processes.timers import Timers

AT_ONCE = 8
"""Connections accepted before the supervisor looks at other events."""

SPARE = 32
"""Descriptors that connections leave to the supervisor: for starting processes, and for the channels between them."""

RETRY = 1.0
"""Seconds after which accepting is tried again if the system had no room, or a front had none."""

log = logging.getLogger(__name__)

_Selector: type[selectors.DefaultSelector] = getattr(
    selectors, "EpollSelector" if hasattr(select, "epoll") else "KqueueSelector", selectors.DefaultSelector
)
"""One with a descriptor. `DefaultSelector` has none if there was none left when `selectors` was imported."""


@dataclass(slots=True)
class _Kept:
    """A connection, from its acceptance to its end."""

    socket: socket.socket
    port: Port
    front: Handover | None = None
    """The channel of the front that has it; None while it waits for one."""
    inherited: bool = False
    """True once a front that had it has died."""


@dataclass(frozen=True, slots=True)
class _Listening:
    """A listening socket and what its clients speak, among the selector's data."""

    socket: socket.socket
    port: Port


@dataclass(frozen=True, slots=True)
class _Predecessor:
    """The channel to a supervisor whose place this one takes, among the selector's data."""

    channel: Handover


class ClientConnections:
    def __init__(self, listeners: Listeners, timers: Timers, wanted: int = 1000) -> None:
        """`wanted`: connections that a front may have. Under a low limit on open files there are fewer, and the rest
        waits in the listening sockets' backlogs."""
        self._given = listeners
        served = (listeners.http, Port.HTTP), (listeners.wyoming, Port.WYOMING), (listeners.behind_tls, Port.HTTP)
        self._listeners = [_Listening(listener, port) for listener, port in served if listener is not None]
        for each in self._listeners:
            each.socket.setblocking(False)
        self._timers = timers
        self._selector = _Selector()
        self._kept: dict[int, _Kept] = {}
        self._numbers = itertools.count(1)
        self._waiting: deque[int] = deque()
        """Connections that no front has, the longest-waiting first."""
        self._front: Handover | None = None
        """The channel of the front that gets new connections."""
        self._accepting = False
        self._paused = False
        self._failing = False
        self._stopped = False
        self.successor: Handover | None = None
        """The channel to another version's supervisor that takes this one's place."""
        self.handed_on = False
        """True once it serves: it gets the connections that no front has."""
        self.deserted = False
        """True once it has ended."""
        self.predecessors: list[Handover] = []
        """Channels to the supervisors whose place this one takes, the newest last."""
        self._told = False
        used = self._selector.fileno()  # the lowest free number
        allowed = allowed_files(used + wanted + 2 * SPARE)
        self._most = sys.maxsize if allowed is None else max(allowed - used - SPARE, (allowed - used) // 2, 1)

    def fileno(self) -> int:
        """A descriptor that is readable when `turn` has something to do."""
        return self._selector.fileno()

    @property
    def address(self) -> tuple[str, int]:
        """The host and the port on which HTTP is served."""
        host, port = self._given.http.getsockname()[:2]
        return host, port

    @property
    def hosts(self) -> list[str]:
        """The addresses at which others may reach the server's HTTP."""
        return [each.getsockname()[0] for each in (self._given.http, self._given.tls) if each is not None]

    def __len__(self) -> int:
        return len(self._kept)

    # -- fronts

    def joined(self, channel: Handover) -> None:
        """Note a new front. It gets no connection before `serves`."""
        self._selector.register(channel, selectors.EVENT_READ, channel)

    def serves(self, channel: Handover | None) -> None:
        """Give this front every connection that waits for one, and each new one from now on; None: no front serves."""
        if channel is not self._front and not self.handed_on:
            self._front = channel
            self._give_waiting()

    def left(self, channel: Handover, *, died: bool) -> None:
        """Note that a front has ended. If it died, its connections go to the next one; else they end."""
        while self._hear(channel):
            pass  # reports that it sent before
        if channel in self._selector.get_map():
            self._selector.unregister(channel)
        channel.close()
        if channel is self._front:
            self._front = None
        for number, kept in list(self._kept.items()):
            if kept.front is channel:
                if died:
                    kept.inherited = True
                    self._wait(number, kept)
                else:
                    self._close(number)
        self._give_waiting()

    # -- other versions

    def succeeds(self, predecessors: Sequence[Handover]) -> None:
        """Take the connections that other versions' supervisors give, the newest last."""
        self.predecessors = list(predecessors)
        for channel in predecessors:
            self._selector.register(channel, selectors.EVENT_READ, _Predecessor(channel))

    @property
    def waits_for_place(self) -> bool:
        """True while the newest predecessor still serves."""
        return bool(self.predecessors) and not self._told

    def take_place(self) -> None:
        """Have the predecessor stop accepting, and accept instead."""
        self._told = True
        with contextlib.suppress(BrokenChannel, BlockingIOError):
            self.predecessors[-1].report(Report(0, Said.SERVES))

    def is_succeeded_by(self, channel: Handover) -> None:
        """Note that another version's supervisor comes up at the other end of that channel."""
        self.successor = channel
        self._selector.register(channel, selectors.EVENT_READ, channel)

    def _hand_on(self) -> None:
        self.handed_on = self._stopped = True
        self._front = self.successor
        self._arrange()
        self._give_waiting()

    def _hear_predecessor(self, channel: Handover) -> None:
        for _ in range(AT_ONCE):
            try:
                taken = channel.take()
                if taken is None:
                    break
                accepted, client = taken
                if client is None:
                    self._pause(None)
                else:
                    number = next(self._numbers)
                    self._kept[number] = kept = _Kept(client, accepted.port, None, accepted.inherited)
                    self._wait(number, kept)
                channel.report(Report(accepted.number, Said.CLOSED))
            except (BrokenChannel, BlockingIOError):
                self._selector.unregister(channel)
                self.predecessors.remove(channel)
                channel.close()
                break
        self._give_waiting()

    # -- events

    def turn(self) -> None:
        """Handle what has happened since the last call."""
        for key, events in self._selector.select(0):
            if isinstance(key.data, _Listening):
                self._accept(key.data)
                continue
            if isinstance(key.data, _Predecessor):
                self._hear_predecessor(key.data.channel)
                continue
            if events & selectors.EVENT_READ:
                for _ in range(AT_ONCE):
                    if not self._hear(key.data):
                        break
            if events & selectors.EVENT_WRITE and key.data is self._front:
                self._give_waiting()

    def stop_listening(self) -> None:
        """Accept no more connections; those that no front has are closed, now and later."""
        self._stopped = True
        self._arrange()
        self._given.close()
        self._give_waiting()

    def close(self) -> None:
        """Close everything: the server has ended."""
        for kept in self._kept.values():
            kept.socket.close()
        self._kept.clear()
        self._selector.close()

    def _accept(self, listening: _Listening) -> None:
        for _ in range(AT_ONCE):
            try:
                client, _ = listening.socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause(error)
                return
            if self._failing:
                self._failing = False
                log.info("connections are accepted again")
            number = next(self._numbers)
            self._kept[number] = kept = _Kept(client, listening.port)
            self._wait(number, kept)
            self._give_waiting()
            if not self._accepting:
                return

    def _hear(self, channel: Handover) -> bool:
        try:
            report = channel.hear()
        except BrokenChannel:
            # `left` follows once the front's end is reported; a channel at its end would stay readable.
            if channel in self._selector.get_map():
                self._selector.unregister(channel)
            self.deserted |= channel is self.successor
            return False
        if report is not None and report.said is Said.SERVES:
            if channel is self.successor:
                self._hand_on()
        elif report is not None and (kept := self._kept.get(report.number)) and kept.front is channel:
            self._heard(report, kept)
        return report is not None

    def _heard(self, report: Report, kept: _Kept) -> None:
        if report.said is Said.CLOSED:
            self._close(report.number)
            self._arrange()
            return
        full = kept.front is self._front
        self._wait(report.number, kept)
        if full:
            self._pause(None)  # trying at once would be in vain
        else:
            self._give_waiting()

    # -- giving

    def _wait(self, number: int, kept: _Kept) -> None:
        kept.front = None
        self._waiting.append(number)

    def _give_waiting(self) -> None:
        while self._front is not None and self._waiting and not self._paused:
            number = self._waiting[0]
            kept = self._kept[number]
            try:
                self._front.give(Accepted(number, kept.port, kept.inherited, kept.socket.fileno()))
            except BlockingIOError:
                break
            except BrokenChannel:
                self._front = None
                break
            kept.front = self._front
            self._waiting.popleft()
        if self._stopped and self._front is None:
            while self._waiting:
                self._close(self._waiting.popleft())
        self._arrange()

    def _close(self, number: int) -> None:
        self._kept.pop(number).socket.close()

    def _pause(self, error: OSError | None) -> None:
        """Pause, because the system lacks a resource (`error`), or the front does: the socket would stay readable."""
        if error is not None and not self._failing:
            self._failing = True
            log.error("can't accept connections, trying again each %g s: %s", RETRY, error.strerror)
        if not self._paused:
            self._paused = True
            self._timers.after(RETRY, self._go_on)
        self._arrange()

    def _go_on(self) -> None:
        self._paused = False
        self._give_waiting()

    def _arrange(self) -> None:
        """Watch the listening sockets while a front takes what they accept, and its channel while it is full."""
        accepts = self._front is not None and not (self._waiting or self._paused or self._stopped)
        accepts = accepts and len(self._kept) < self._most
        if accepts != self._accepting:
            self._accepting = accepts
            for each in self._listeners:
                if accepts:
                    self._selector.register(each.socket, selectors.EVENT_READ, each)
                else:
                    self._selector.unregister(each.socket)
        if self._front is not None and self._front in self._selector.get_map():
            full = bool(self._waiting) and not self._paused
            self._selector.modify(self._front, selectors.EVENT_READ | selectors.EVENT_WRITE * full, self._front)
