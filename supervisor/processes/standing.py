"""The server's standing, as those outside are told: phases, reports, and the exit statuses of `kokoro-live serve`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from shm.situation import ProcessReport
from supervisor.processes.children import Incarnation
from supervisor.processes.role import Role, RoleState


class Phase(StrEnum):
    """A stage between a server's start and its end."""

    STARTING = "starting"
    """No engine has spoken yet."""
    SERVING = "serving"
    """The front accepts requests, and an engine speaks or is being restarted."""
    RELOADING = "reloading"
    """The server serves while its replacements with changed settings start."""
    DRAINING = "draining"
    """The server ends once its streams have."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A phase, with a summary for people."""

    phase: Phase
    summary: str
    """The summary, one line for people."""


def phase(stopping: bool, served: bool, reloading: bool) -> Phase:
    """The phase. `served`: an engine has spoken; `reloading`: replacements with changed settings are starting."""
    if stopping:
        return Phase.DRAINING
    if not served:
        return Phase.STARTING
    return Phase.RELOADING if reloading else Phase.SERVING


def summary(front: Role, workers: Sequence[Role], stopping: bool, meanwhile: str) -> str:
    """One line for people: the engine in use, or the reason for its lack. `meanwhile`: an errand's activity; empty if
    none runs."""
    in_order = (front, best(workers))
    for role in in_order:
        if role.state is RoleState.FATAL:
            return role.reason
    if stopping:
        return "draining"
    for role in in_order:
        if role.state is RoleState.RESTING:
            return "resting: the next request starts the engine"
        if role.state is not RoleState.RUNNING:
            return role.reason or f"the {role.name} is starting"
    heard = voice(workers)
    assert heard is not None
    engine = heard.engine
    several = f", {len(speaking(workers))} of {len(workers)} workers" if len(workers) > 1 else ""
    errand = f", while {meanwhile}" if meanwhile else ""
    return f"speaking with {engine.name} ({engine.model}, {engine.provider}){several}{errand}"


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


Spare = tuple[Incarnation, str, str]
"""A process that fills no role, with its kind and its state as text."""


def reports(front: Role, workers: Sequence[Role], spares: Iterable[Spare]) -> Iterator[ProcessReport]:
    """The front and each worker once, even without a process; then successors, predecessors and `spares`."""

    def report(child: Incarnation | None, role: str, state: str, slot: int | None, **restarts: Any) -> ProcessReport:
        ready = child.ready if child else None
        return ProcessReport(
            role=role,
            state=state,
            generation=child.generation if child else None,
            pid=child.pid if child else None,
            started=child.started if child else None,
            load_seconds=ready.load_seconds if ready else None,
            slot=slot if len(workers) > 1 else None,
            provider=ready.engine.provider if ready else "",
            loading=child.loading if child and not ready else "",
            priority=ready.engine.priority if ready else None,
            **restarts,
        )

    for role in (front, *workers):
        exits = {"last_exit": role.last_exit, "last_exit_at": role.last_exit_at, "next_start": role.next_start}
        yield report(role.process, role.name, role.state, role.slot, restarts=role.restarts, **exits)
    for role in (front, *workers):
        if role.successor:
            yield report(role.successor, role.name, RoleState.STARTING, role.slot)
        for child in role.draining:
            yield report(child, role.name, "draining", role.slot)
    for child, name, state in spares:
        yield report(child, name, state, None)


class ExitCode(IntEnum):
    """The exit status, with the service manager's proper reaction."""

    OK = 0
    """Stopped as asked."""
    FAILED = 1
    """The supervisor itself failed; the log has the traceback. Starting again may help."""
    BAD_SETTING = 2
    """A flag, variable or TOML key makes no sense (click's own status for usage errors). Don't start again."""
    PORT = 3
    """The address can't be listened on. Don't start again."""
    ENGINE = 4
    """The engine that was demanded can't be loaded. Don't start again."""
    MEMORY = 5
    """The PCM arena can't be reserved. Starting again later may help."""
    CRASH_LOOP = 6
    """The front died repeatedly without answering a request. Starting again may help, after a look at the log."""
    INTERRUPTED = 130
    """A second SIGINT cut the draining short."""


SETTLED = (ExitCode.BAD_SETTING, ExitCode.PORT, ExitCode.ENGINE)
"""Statuses after which a restart can't help: a person must change something first."""
