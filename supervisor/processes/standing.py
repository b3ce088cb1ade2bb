"""How the whole server stands, in one value: what the lifecycle tells whoever watches the server from outside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Where a server is between its start and its end."""

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
