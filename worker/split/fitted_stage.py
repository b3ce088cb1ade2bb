"""A stage that takes windows of any length, with others that take one length each and are taken where they fit."""

from __future__ import annotations

from collections.abc import Mapping

from worker.split.stage import Stage
from worker.split.windows import Window


class FittedStage:
    """Which stage runs a window follows from the segment alone, so the same job gives the same samples."""

    def __init__(self, any_length: Stage, fixed: Mapping[int, Stage] | None = None) -> None:
        """`fixed`: stages by the length of what they take."""
        self.any_length = any_length
        self._fixed = dict(sorted((fixed or {}).items()))

    def fitted(self, given: Window, within: Window) -> tuple[Window, Stage | None]:
        """What to run to have all of `given`, and the stage that takes that and nothing else; None: `any_length` does.

        A window that is shorter than a stage's is moved out to the left, where all that it needs was made before, and
        to the right only where `within` begins. Its edges are never padded: near one, what a window's samples depend
        on would be another segment's.
        """
        for length, stage in self._fixed.items():
            if given.end - given.begin <= length <= within.end - within.begin:
                begin = max(within.begin, given.end - length)
                return Window(begin, begin + length), stage
        return given, None

    def open(self, threads: int) -> None:
        """Open the sessions that a step of so many threads needs.

        Raises:
            EngineUnavailable, ProviderUnavailable: as `Stage.session`.
        """
        for stage in (self.any_length, *self._fixed.values()):
            stage.session(threads)

    def close(self) -> None:
        """Give its sessions' memory back; they are opened again when they are needed."""
        for stage in (self.any_length, *self._fixed.values()):
            stage.close()
