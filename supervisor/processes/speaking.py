"""Several workers seen as one: which of them speak, which is heard, and how the best of them stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from supervisor.processes.incarnation import Incarnation
from supervisor.processes.role import Role, RoleState

_BEST_FIRST = (
    RoleState.RUNNING,
    RoleState.STARTING,
    RoleState.BACKOFF,
    RoleState.STOPPING,
    RoleState.FATAL,
    RoleState.STOPPED,
)


def best(roles: Iterable[Role]) -> Role:
    """The role that stands best: while one worker speaks, the server can."""
    return min(roles, key=lambda role: _BEST_FIRST.index(role.state))


def hopeless(roles: Sequence[Role]) -> bool:
    """No slot has ever spoken, and none can: the end of the server."""
    never = all(role.state is RoleState.FATAL and not role.ever_ran for role in roles)
    return never and any(role.boot_failed for role in roles)


def speaking(roles: Sequence[Role]) -> list[tuple[int, Incarnation]]:
    """The workers that run, each with its slot, in the slots' order."""
    running = ((slot, role.process) for slot, role in enumerate(roles) if role.state is RoleState.RUNNING)
    return [(slot, process) for slot, process in running if process and process.ready]


def voice(roles: Sequence[Role]) -> Incarnation | None:
    """The worker that is heard: the first of those with the best engine. None while no worker runs."""
    running = [process for _, process in speaking(roles)]
    return max(running, key=lambda process: process.ready.engine.rank if process.ready else -1, default=None)
