"""The whole server's state in one value, for outside observers: the service manager, and people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from supervisor.processes.role import Role, RoleState
from supervisor.processes.speaking import best, speaking, voice


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
