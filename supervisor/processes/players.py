"""The player's role: started when a front wants it, linked with the front that serves, and gone when it is idle."""

from __future__ import annotations

import os
import socket

from shm.messages import PlayerLink
from supervisor.processes.fronts import Fronts
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import Nursery
from supervisor.processes.on_demand import OnDemandRole
from supervisor.processes.role import RoleState
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings


class Players:
    """The player's role: one process at most, and its channel to the front."""

    def __init__(self, settings: SupervisorSettings, fronts: Fronts, nursery: Nursery, timers: Timers) -> None:
        self.role = OnDemandRole("player", settings, nursery, timers, tries=())  # the next text is the next try
        self._fronts = fronts
        self._linked: tuple[Incarnation, Incarnation] | None = None
        """The front and the player that share a channel."""

    def reconcile(self) -> None:
        """Start the player if it is wanted or died; link it with the front that serves."""
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
