"""The whole server's state in one value, for observers outside it: the service manager, and people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from supervisor.processes.role import Role, RoleState
from supervisor.processes.speaking import best, speaking, voice


class Phase(StrEnum):
    """A stage between a server's start and its end."""

    STARTING = "starting"
    """Nothing has spoken yet."""
    SERVING = "serving"
    """The front accepts, and something speaks or is being restarted."""
    RELOADING = "reloading"
    """It serves, and what takes over with changed settings is coming up."""
    DRAINING = "draining"
    """It ends when its streams have."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A phase, and what can be said about it."""

    phase: Phase
    summary: str
    """One line for people."""


def phase(stopping: bool, served: bool, reloading: bool) -> Phase:
    """`served`: an engine has spoken; `reloading`: what takes over with changed settings is coming up."""
    if stopping:
        return Phase.DRAINING
    if not served:
        return Phase.STARTING
    return Phase.RELOADING if reloading else Phase.SERVING


def summary(front: Role, workers: Sequence[Role], stopping: bool, meanwhile: str) -> str:
    """One line for people: who speaks, or why nobody does. `meanwhile`: what an errand does; empty if none runs."""
    in_order = (front, best(workers))
    for role in in_order:
        if role.state is RoleState.FATAL:
            return role.reason
    if stopping:
        return "draining"
    for role in in_order:
        if role.state is not RoleState.RUNNING:
            return role.reason
    heard = voice(workers)
    assert heard and heard.ready
    engine = heard.ready.engine
    several = f", {len(speaking(workers))} of {len(workers)} workers" if len(workers) > 1 else ""
    errand = f", while {meanwhile}" if meanwhile else ""
    return f"speaking with {engine.name} ({engine.model}, {engine.provider}){several}{errand}"
