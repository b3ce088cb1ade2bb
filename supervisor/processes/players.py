"""The player's role: started when a front wants it, linked with the front that serves, and gone when it is idle."""

from __future__ import annotations

import os
import socket

from shm.messages import PlayerLink
from supervisor.processes.fronts import Fronts
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import KILL_GRACE, Nursery
from supervisor.processes.role import Role, RoleState
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

_STARTED_IF_WANTED = (RoleState.STOPPED, RoleState.RESTING, RoleState.FATAL)


class Players:
    """One player at most. Its death concerns no other process."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts, nursery: Nursery, timers: Timers) -> None:
        self.role = Role("player", settings, nursery, timers)
        self.wanted = False
        """True if a front has something to play, and no player that it knows of."""
        self._fronts = fronts
        self._linked: tuple[Incarnation, Incarnation] | None = None
        """The front and the player that share a channel."""

    def exited(self, child: Incarnation, status: int) -> None:
        """Handle the end of a reaped player. Status 0 is the end of an idle one."""
        if status == 0 and child is self.role.process and self.role.state is RoleState.RUNNING:
            self.role.rest()
        self.role.exited(child, status)

    def reconcile(self) -> None:
        """Start the player if it is wanted or died; link it with the front that serves."""
        role, front = self.role, self._fronts.role
        if self.wanted and role.state in _STARTED_IF_WANTED:
            self.wanted = False
            role.start_due = True
        role.start_if_due()
        if role.state is RoleState.RUNNING and front.state is RoleState.RUNNING and role.process and front.process:
            pair = (front.process, role.process)
            if pair != self._linked:
                self._linked = pair
                self.wanted = False
                self._link(*pair)

    def _link(self, front: Incarnation, player: Incarnation) -> None:
        ends = socket.socketpair()
        descriptors = [end.detach() for end in ends]
        try:
            player.send(PlayerLink(), descriptors[:1])
            self._fronts.send(front, PlayerLink(), (descriptors[1],))
        finally:
            for fd in descriptors:
                os.close(fd)

    @property
    def reason(self) -> str:
        """The reason why the player was given up; empty if it wasn't. The next `PlayerWanted` starts another one."""
        return self.role.reason if self.role.state is RoleState.FATAL else ""

    def stop(self) -> None:
        """End the player, because no front is left. Idempotent."""
        self.wanted = False
        self.role.stop(KILL_GRACE)
