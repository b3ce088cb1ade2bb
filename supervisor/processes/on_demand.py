"""The role of a process that is started when it is wanted, and ends by itself when it has nothing left to do."""

from __future__ import annotations

from supervisor.processes.incarnation import Incarnation
from supervisor.processes.role import Role, RoleState


class OnDemandRole(Role):
    """The role of a process on demand: one at most. Its death concerns no other process."""

    wanted = False
    """True while there is something to do of which no process knows: set by `want`, cleared by the caller."""

    def want(self) -> None:
        """Have a process started, even after the role was given up."""
        self.wanted = True
        if self.state is RoleState.FATAL:
            self.become(RoleState.STOPPED)

    def start_if_due(self) -> None:
        self.start_due |= self.wanted and self.state in (RoleState.STOPPED, RoleState.RESTING)
        super().start_if_due()

    def exited(self, child: Incarnation, status: int) -> None:
        """Handle the end of a reaped process. Status 0 is the end of an idle one."""
        if status == 0 and child is self.process and self.state is RoleState.RUNNING:
            self.rest()
        super().exited(child, status)

    def stop(self, limit: float) -> None:
        self.wanted = False
        super().stop(limit)

    @property
    def given_up(self) -> str:
        """The reason why the role has no process, and gets none for a while; empty if it has one or gets one."""
        return self.reason if self.state is RoleState.FATAL else ""
