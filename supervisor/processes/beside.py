"""A process that runs apart from those that serve: a standby, a successor, a predecessor that drains, an errand."""

from __future__ import annotations

from dataclasses import dataclass

from supervisor.processes.incarnation import Incarnation


@dataclass(frozen=True, slots=True)
class Beside:
    """As `/status` shows it."""

    child: Incarnation
    role: str
    state: str
    """For people."""
    slot: int | None = None
    """Which of the workers, from 0."""
