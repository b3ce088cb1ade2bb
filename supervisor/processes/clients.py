"""The roles of the front's clients on this machine: the player, linked with the front that serves, and the process that
makes books, which is told of the front's jobs."""

from __future__ import annotations

import os
import socket

import msgspec

from shm.messages import BooksNews, PlayerLink
from supervisor.processes.children import Incarnation, Nursery
from supervisor.processes.fronts import Fronts
from supervisor.processes.role import Role, RoleState
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings


class Players:
    """The player's role: one process at most, and its channel to the front."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts, nursery: Nursery, timers: Timers) -> None:
        self.role = Role("player", settings, nursery, timers)
        self._fronts = fronts
        self._linked: tuple[Incarnation, Incarnation] | None = None
        """The front and the player that share a channel."""

    def reconcile(self) -> None:
        role, front = self.role, self._fronts.role
        role.start_if_due()
        if role.state is RoleState.RUNNING and front.state is RoleState.RUNNING and role.process and front.process:
            pair = (front.process, role.process)
            if pair != self._linked:
                self._linked = pair
                role.wanted = False
                self._link(*pair)

    def _link(self, front: Incarnation, player: Incarnation) -> None:
        ends = socket.socketpair()
        descriptors = [end.detach() for end in ends]
        try:
            player.send(PlayerLink(), descriptors[:1])
            self._fronts.send_to_front(front, PlayerLink(), (descriptors[1],))
        finally:
            for fd in descriptors:
                os.close(fd)


class BookMakers:
    """The role of the process that makes books: one at most. After its death the next one continues from the jobs'
    folder."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts, nursery: Nursery, timers: Timers) -> None:
        self.role = Role("books", settings, nursery, timers)
        self._fronts = fronts
        self._nursery = nursery
        self._news: BooksNews | None = None
        """The last news, with the address and the key of the front that serves."""
        self._told: tuple[Incarnation, int] | None = None
        """The process that has the last news, and the number of that news."""

    def news(self, sender: Incarnation, message: BooksNews) -> None:
        """Handle a front's message that jobs were added or removed, or that it serves now."""
        number = self._news.number + 1 if self._news else 1
        if self._news and sender in self._fronts.role.draining:
            # A replaced front refuses new requests: the address and the key of its successor stay.
            message = msgspec.structs.replace(self._news, wanted=message.wanted)
        self._news = msgspec.structs.replace(message, number=number)
        if message.wanted:
            self.role.want()

    def idle(self, seen: int) -> None:
        """Handle the process's message that it ends because nothing is left to make."""
        if self._news and seen == self._news.number:
            self.role.wanted = False

    def renew(self) -> None:
        """Let a process with new settings continue."""
        if self.role.process:
            self.role.wanted = True
            self._nursery.end(self.role.process)

    def reconcile(self) -> None:
        role, news = self.role, self._news
        role.start_if_due()
        if role.state is RoleState.RUNNING and role.process and news:
            told = (role.process, news.number)
            if told != self._told:
                self._told = told
                role.process.send(news)
