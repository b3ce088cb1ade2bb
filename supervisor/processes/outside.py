"""The program around the lifecycle: what it is told, and what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shm.messages import Ready, Situation, Tuning
from supervisor.processes.errands import Errand
from supervisor.processes.standing import Standing


@dataclass(frozen=True, slots=True)
class Changes:
    """The processes whose settings a reload has changed."""

    front: bool
    worker: bool


class Outside:
    """A program that is never reloaded and fetches nothing. `serve` overrides what it does otherwise."""

    def errands(self, ready: Ready) -> Sequence[Errand]:
        """The errands that are wanted now that this engine speaks. `Errands` runs none of them twice."""
        return ()

    def tuning(self) -> Tuning | None:
        """The state of tuning's profile; None for a program without tuning."""
        return None

    def announce(self, ready: Ready) -> None:
        """Something new speaks."""

    def stands(self, standing: Standing) -> None:
        """The server as a whole stands otherwise than before."""

    def situation(self, situation: Situation) -> None:
        """Something about the processes has changed."""

    def stop_listening(self) -> None:
        """Close the listening socket."""

    def reload(self) -> Changes:
        """Read the settings again; children started from now on have them."""
        return Changes(False, False)

    def drain_timeout(self) -> float:
        """Seconds that streams have to finish."""
        return 30.0
