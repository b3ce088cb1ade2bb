"""Processes for the workers' slots: the standby or a new one, each told what to load."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from shm.messages import Load
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import Nursery
from supervisor.processes.provider_failures import ProviderFailures
from supervisor.processes.role import Role
from supervisor.processes.standby import Standby
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

ACCELERATORS = {"CoreMLExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"}
"""Execution providers that leave the cores to others. OpenVINO by default runs on the cores."""


class Supply:
    """Supplies workers, and records the slot of each and the share of the machine that it was given."""

    def __init__(
        self,
        roles: Sequence[Role],
        failures: ProviderFailures,
        settings: SupervisorSettings,
        nursery: Nursery,
        timers: Timers,
        overdue: Callable[[Incarnation], None],
    ) -> None:
        """`overdue` is called with a worker that hasn't loaded within `--load-timeout`."""
        self.standby = Standby(settings, nursery, timers)
        self._roles = roles
        self._failures = failures
        self._load_timeout = settings.load_timeout
        self._nursery = nursery
        self._timers = timers
        self._overdue = overdue
        self._given: dict[int, tuple[Role, Load]] = {}
        """For each worker, by generation: the role for which it was started, and its `Load` message."""
        self._accelerated = False
        """True if slot 0 speaks, or did last, on an accelerator."""
        self._divided_for: Incarnation | None = None
        """The process of slot 0 for which the cores were divided last."""

    def role_of(self, generation: int) -> Role | None:
        """The role for which that worker was started; None for a standby."""
        return self._given[generation][0] if generation in self._given else None

    def take(self, role: Role) -> Incarnation:
        """A process for that role that has loaded or was told to load."""
        first = self._roles[0]
        like_first = role is first or bool(role.ready and first.ready and _provider(role) == _provider(first))
        child = self.standby.take(like_first) or self._nursery.start("worker")
        load = self._load(role)
        self._given[child.generation] = role, load
        child.send(load)
        self._mind_loading(child)
        return child

    def refill_standby(self, resting: bool) -> None:
        """Start a standby, if its time has come. `resting`: the workers rest."""
        if child := self.standby.refill(msgspec.structs.replace(self._load(self._roles[0]), standby=True), resting):
            self._mind_loading(child)

    def drop_loaded_standby(self, but: Incarnation) -> None:
        """End a standby that has loaded on a provider that doesn't work, unless it is `but`, which ends by itself."""
        if self.standby.was_told_to_load and self.standby.process is not but:
            self.standby.drop()

    def _mind_loading(self, child: Incarnation) -> None:
        """Report the worker if it doesn't load in time: an execution provider without its compiled files may compile
        for ever."""

        def look() -> None:
            if child.ready is None and child in self._nursery.children:
                self._overdue(child)

        self._timers.after(self._load_timeout, look)

    def _load(self, role: Role) -> Load:
        """The `Load` message for a process of that role. Slot 0 gets a share of the cores until it proves to need
        none."""
        accelerated = self._accelerated and role is not self._roles[0]
        assert role.slot is not None
        return Load(tuple(self._failures.reasons), slot=role.slot, slots=len(self._roles), accelerated=accelerated)

    def divide_cores(self) -> list[Role]:
        """Divide the cores by slot 0's engine; returns the roles whose processes have a wrong share of them since."""
        first = self._roles[0]
        if first.process is None or first.process.ready is None or first.process is self._divided_for:
            return []
        self._divided_for = first.process
        if len(self._roles) == 1:
            return []
        self._accelerated = _provider(first) in ACCELERATORS
        if self._accelerated:
            first.process.send(msgspec.structs.replace(self._load(first), accelerated=True))
        latest = [role.successor or role.process for role in self._roles[1:]]
        given = [self._given[child.generation] for child in latest if child]
        return [role for role, load in given if load.accelerated is not self._accelerated]

    def gone(self, child: Incarnation) -> Role | None:
        """Forget a worker that has ended and was reaped; returns its role."""
        return self._given.pop(child.generation, (None,))[0]


def _provider(role: Role) -> str:
    """The execution provider of the role's last engine; empty before the first."""
    return role.ready.engine.provider if role.ready else ""
