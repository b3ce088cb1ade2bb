"""A stage for windows of any length, with variants for fixed lengths that run the windows which fit them."""

from __future__ import annotations

from collections.abc import Mapping

from worker.split.segments.stage import LoadedStage
from worker.split.segments.windows import Window


class FittedStage:
    """A stage with fixed-length variants. The segment alone decides which variant runs a window, so the same job gives
    the same samples."""

    def __init__(self, any_length: LoadedStage, fixed: Mapping[int, LoadedStage] | None = None) -> None:
        """`fixed`: stages by the length of the windows that they take."""
        self.any_length = any_length
        self._fixed = dict(sorted((fixed or {}).items()))

    def fitted(self, given: Window, within: Window) -> tuple[Window, LoadedStage | None]:
        """The window to run so that all of `given` is made, and the stage of exactly that length; None in place of the
        stage if `any_length` is to run the window.

        A window shorter than the fixed length is extended to the left, where all needed frames were made before, and to
        the right only where `within` begins. A window's edges are never padded: near a padded edge the samples would
        depend on another segment's frames.
        """
        for length, stage in self._fixed.items():
            if given.end - given.begin <= length <= within.end - within.begin:
                begin = max(within.begin, given.end - length)
                return Window(begin, begin + length), stage
        return given, None

    def open(self, threads: int) -> None:
        """Open the sessions that a step with this number of threads needs.

        Raises:
            EngineUnavailable, ProviderUnavailable: as `LoadedStage.session`.
        """
        for stage in (self.any_length, *self._fixed.values()):
            stage.session(threads)

    def close(self) -> None:
        """Free the memory of the sessions; they are opened again when needed."""
        for stage in (self.any_length, *self._fixed.values()):
            stage.close()
