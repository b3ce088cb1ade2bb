"""The program around the lifecycle: the lifecycle's notifications to it and questions for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shm.messages import ChildReady
from shm.situation import Situation, TuningState
from supervisor.processes.errands import Errand
from supervisor.processes.standing import Standing


@dataclass(frozen=True, slots=True)
class Changes:
    """The processes whose settings a reload has changed."""

    front: bool
    worker: bool


class Outside:
    """A program without reload and errands. `serve` overrides these methods."""

    answer_limit = math.inf
    """Seconds within which `answers` has to be called again."""

    def answers(self) -> None:
        """Note that the front answers, or that none serves at the moment: starts and ends have limits of their own."""

    def errands(self, ready: ChildReady) -> Sequence[Errand]:
        """The errands that are due now that this engine speaks. `Errands` runs none of them twice."""
        return ()

    def tuning(self) -> TuningState | None:
        """The state of tuning's profile; None for a program without tuning."""
        return None

    def announce(self, ready: ChildReady) -> None:
        """Announce a newly speaking engine."""

    def stands(self, standing: Standing) -> None:
        """Note a change of the server's overall standing."""

    def situation(self, situation: Situation) -> None:
        """Note a change in the processes' situation."""

    def stop_listening(self) -> None:
        """Close the listening socket."""

    def reload(self) -> Changes:
        """Read the settings again; children started from now on get the new ones."""
        return Changes(False, False)

    def drain_timeout(self) -> float:
        """Seconds that streams have to finish."""
        return 30.0
