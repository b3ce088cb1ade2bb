"""Several workers seen as one: the speaking ones, the one that is heard, and the best one's state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from supervisor.processes.incarnation import Incarnation
from supervisor.processes.role import Role, RoleState

_BEST_FIRST = (
    RoleState.RUNNING,
    RoleState.RESTING,
    RoleState.STARTING,
    RoleState.BACKOFF,
    RoleState.STOPPING,
    RoleState.FATAL,
    RoleState.STOPPED,
)


def best(roles: Iterable[Role]) -> Role:
    """The worker role in the best state: while one worker speaks, the server can speak."""
    return min(roles, key=lambda role: _BEST_FIRST.index(role.state))


def resting(roles: Iterable[Role]) -> list[Role]:
    """The roles whose process was stopped because nobody asked for speech."""
    return [role for role in roles if role.state is RoleState.RESTING]


def returning(roles: Iterable[Role]) -> list[Role]:
    """The roles that a request may count on though they have no engine now: they rest, or are being started."""
    return [role for role in roles if role.state in (RoleState.RESTING, RoleState.BACKOFF, RoleState.STARTING)]


def coming_up(roles: Iterable[Role]) -> bool:
    """True if a worker is about to speak."""
    return any(role.successor or role.state in (RoleState.STARTING, RoleState.BACKOFF) for role in roles)


def hopeless(roles: Sequence[Role]) -> bool:
    """True if no slot has ever spoken and none can: the server must end."""
    never = all(role.state is RoleState.FATAL and not role.ever_ran for role in roles)
    return never and any(role.boot_failed for role in roles)


def speaking(roles: Iterable[Role]) -> list[Incarnation]:
    """The running workers in the order of slots."""
    return [role.process for role in roles if role.state is RoleState.RUNNING and role.process]


def voice(roles: Iterable[Role]) -> Incarnation | None:
    """The worker that is heard: the first one with the best engine. None while no worker runs."""
    return max(speaking(roles), key=lambda worker: worker.engine.rank, default=None)
