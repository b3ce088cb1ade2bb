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


def hopeless(roles: Sequence[Role]) -> bool:
    """True if no slot has ever spoken and none can: the server must end."""
    never = all(role.state is RoleState.FATAL and not role.ever_ran for role in roles)
    return never and any(role.boot_failed for role in roles)


def speaking(roles: Sequence[Role]) -> list[tuple[int, Incarnation]]:
    """The running workers, each with its slot, in the order of slots."""
    running = ((slot, role.process) for slot, role in enumerate(roles) if role.state is RoleState.RUNNING)
    return [(slot, process) for slot, process in running if process and process.ready]


def voice(roles: Sequence[Role]) -> Incarnation | None:
    """The worker that is heard: the first one with the best engine. None while no worker runs."""
    running = [process for _, process in speaking(roles)]
    return max(running, key=lambda process: process.ready.engine.rank if process.ready else -1, default=None)
