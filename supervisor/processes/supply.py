"""Processes for the workers' slots: the standby or a new one, each told what it is to load."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from shm.messages import Load
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.load_deadlines import LoadDeadlines
from supervisor.processes.nursery import Nursery
from supervisor.processes.provider_failures import ProviderFailures
from supervisor.processes.role import Role
from supervisor.processes.standby import Standby

ACCELERATORS = {"CoreMLExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"}
"""Execution providers that leave the cores to others. OpenVINO, as it comes, runs on them."""


class Supply:
    """Knows which slot each worker was started for, and which part of the machine it believes to have."""

    def __init__(
        self,
        roles: Sequence[Role],
        failures: ProviderFailures,
        nursery: Nursery,
        standby: Standby,
        deadlines: LoadDeadlines,
    ) -> None:
        self._roles = roles
        self._failures = failures
        self._nursery = nursery
        self._standby = standby
        self._deadlines = deadlines
        self._role_of: dict[int, Role] = {}
        """By generation: all that have been given a slot and aren't reaped."""
        self._accelerated = False
        """Slot 0 speaks, or did last, on an accelerator."""
        self._told: dict[int, bool] = {}
        """By generation: whether it loaded as beside an accelerator."""
        self._divided_for: Incarnation | None = None
        """The process of slot 0 for which the cores were divided last."""

    def role_of(self, generation: int) -> Role | None:
        """The role for which that worker was started; None for a standby."""
        return self._role_of.get(generation)

    def take(self, role: Role) -> Incarnation:
        """A process for that role, which has been told to load, or has loaded."""
        first = self._roles[0]
        like_first = role is first or bool(role.ready and first.ready and _provider(role) == _provider(first))
        child = self._standby.take(like_first) or self._nursery.start("worker")
        self._role_of[child.generation] = role
        load = self._load(role)
        self._told[child.generation] = load.accelerated
        child.send(load)
        self._deadlines.begin(child)
        return child

    def refill_standby(self) -> None:
        """Have a worker stand by, if it is time for one."""
        if child := self._standby.refill(msgspec.structs.replace(self._load(self._roles[0]), standby=True)):
            self._deadlines.begin(child)

    def _load(self, role: Role) -> Load:
        """For a process of that role. Slot 0 has its part of the cores until it turns out to need none."""
        accelerated = self._accelerated and role is not self._roles[0]
        assert role.slot is not None
        return Load(tuple(self._failures.reasons), slot=role.slot, slots=len(self._roles), accelerated=accelerated)

    def divide_cores(self) -> list[Role]:
        """The roles whose processes have another part of the cores than is right since slot 0's process speaks."""
        first = self._roles[0]
        if first.process is None or first.process.ready is None or first.process is self._divided_for:
            return []
        self._divided_for = first.process
        if len(self._roles) == 1:
            return []
        self._accelerated = _provider(first) in ACCELERATORS
        if self._accelerated:
            first.process.send(msgspec.structs.replace(self._load(first), accelerated=True))
        latest = [(role, role.successor or role.process) for role in self._roles[1:]]
        return [role for role, child in latest if child and self._told[child.generation] is not self._accelerated]

    def gone(self, child: Incarnation) -> Role | None:
        """The worker has ended and was reaped; its role."""
        self._told.pop(child.generation, None)
        return self._role_of.pop(child.generation, None)


def _provider(role: Role) -> str:
    """The execution provider of the role's last engine; empty before the first."""
    return role.ready.engine.provider if role.ready else ""
