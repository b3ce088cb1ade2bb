"""A segment's harmonics, computed only as far as they are needed.

The source's phase adds up from the segment's beginning, so a window's harmonics take all that comes before it, but
nothing after it. The first window needs half a second of them, which takes a twentieth of the time of ten seconds.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from worker.run_control import RunControl
from worker.split.rewrites.noise import Noise, draw_all
from worker.split.segments.stage import LoadedStage

HARMONICS = 60
"""Frames of harmonics per frame at 80 Hz; one more ends the last frame."""

_MARGIN = 2
"""Frames of F0 beyond the wanted end: without them the last harmonics would differ from those of a longer run."""


class HarmonicSource:
    """Computes a segment's harmonics from its beginning to a limit that follows from the requested window alone:
    `first` frames, or twice as many, or four times, up to all of them. So a window's harmonics don't depend on which
    windows were made before."""

    def __init__(
        self,
        stage: LoadedStage,
        noise: tuple[Noise, ...],
        seed: int,
        f0: NDArray[Any],
        first: int,
        control: RunControl,
    ) -> None:
        """`f0`: pitch of the whole segment, [1, frames at 80 Hz]."""
        self._stage = stage
        self._noise = noise
        self._seed = seed
        self._f0 = f0
        self._first = first + _MARGIN
        self._control = control
        self._made = 0
        self._harmonics: NDArray[Any]

    def harmonics(self, begin: int, end: int, threads: int) -> NDArray[Any]:
        """Harmonics of the frames from `begin` to `end`: shape [1, 22, 60 per frame, and one].

        Raises:
            Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        needed = self._first
        while needed < end + _MARGIN:
            needed *= 2
        needed = min(needed, self._f0.shape[-1])
        if needed != self._made:
            noise = draw_all(self._noise, self._seed, needed)
            arrays = [self._f0[..., :needed], *noise]
            [self._harmonics] = self._stage.run(arrays, threads, self._control)
            self._made = needed
        return self._harmonics[..., begin * HARMONICS : end * HARMONICS + 1]
