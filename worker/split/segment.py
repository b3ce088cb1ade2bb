"""One segment after its prosody pass, vocoded a window at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.cancellation import Cancellation
from worker.split.fitted_stage import FittedStage
from worker.split.marks import lead_of
from worker.split.source import Source
from worker.split.stage import Stage
from worker.split.statistics import Statistics
from worker.split.windows import FRAME_SAMPLES, Window

GENERATOR_CONTEXT = 5
"""Frames at 80 Hz (62 ms) on each side of what the generator's first stage makes.

Windows joined are 45 dB from a whole run (log-mel 0.03 dB) in the float graph of the published model, with 8 frames 91
dB, with 4 32 dB. In int8 all three are as far, 17 dB: what rounding makes of each run is larger than what is missing.
"""

SECOND_STAGE_CONTEXT = 2
"""Frames at 80 Hz (25 ms) of that which the second stage, at 4,800 Hz, still needs."""

FRONT_CONTEXT = 10
"""Frames at 40 Hz (250 ms) on each side of what the front makes."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Prosody:
    """What the first stage has made of a segment."""

    text: Array
    """[1, channels, frames at 40 Hz]"""
    f0: Array
    """[1, frames at 80 Hz]"""
    energy: Array
    durations: NDArray[np.int64]
    """[phonemes + 2], in frames at 40 Hz"""
    style: Array

    @property
    def frames(self) -> int:
        """At 80 Hz."""
        return int(self.f0.shape[-1])

    @property
    def lead(self) -> int:
        """Frames at 80 Hz of silence that aren't made."""
        return 2 * lead_of(self.durations)


class WindowedSegment:
    """Makes any window of a segment, the same samples whichever were made before it.

    The front's features are made in cells. With the voice's statistics there is one for each window: what that window
    needs, with its context, beyond the cells before; a window that comes first, because those before it are not wanted,
    has the cell before made again. With the segment's own statistics there is one cell, the whole segment: 10 dB closer
    to a segment in one run (30 instead of 20, with random weights), for 5 % of the work before the first sample.
    """

    def __init__(
        self,
        prosody: Prosody,
        source: Source,
        statistics: Statistics,
        plan: Sequence[Window],
        front: FittedStage,
        generator: FittedStage,
        cancellation: Cancellation,
        exact_front: bool = False,
    ) -> None:
        """`front` is the stage that tells its statistics if `exact_front`, else the one that takes them. What is fixed
        of its lengths is in frames at 40 Hz, of the generator's in frames at 80 Hz, context included."""
        self._prosody = prosody
        self._source = source
        self._statistics = statistics
        self._front = front
        self._generator = generator
        self._cancellation = cancellation
        begin = 0 if exact_front else max(0, plan[0].begin - GENERATOR_CONTEXT)
        self._made = Window(begin - begin % 2, prosody.frames)
        ends = accumulate((_even(self._fitted(window)[0].end) for window in plan), max)
        self._cells = [Window(*pair) for pair in pairwise([self._made.begin, *dict.fromkeys(ends)])]
        self._exact_front = exact_front
        if exact_front:
            self._cells = [self._made]
        self._features: dict[Window, Array] = {}

    def samples(self, window: Window, threads: int) -> NDArray[np.floating[Any]]:
        """The window's sound, shape [300 per frame].

        Raises:
            Cancelled, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        given, stage = self._fitted(window)
        kept = given if stage else _widened(window, SECOND_STAGE_CONTEXT, self._prosody.frames)
        harmonics = self._source.harmonics(*given, threads)
        arrays = [self._features_of(given, threads), harmonics, self._prosody.style, *self._statistics[2:]]
        if stage is None:
            stage = self._generator.any_length
            arrays.append(np.array([kept.begin - given.begin, given.end - kept.end]))
        [audio] = stage.run(arrays, threads, self._cancellation)
        return audio.ravel()[_samples(window.begin - kept.begin) : _samples(window.end - kept.begin)]

    def begin(self, threads: int) -> None:
        """Do the work that grows with the segment and precedes all its sound.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        if self._exact_front:
            self._features_of(self._cells[0], threads)

    def _fitted(self, window: Window) -> tuple[Window, Stage | None]:
        """What the generator is given for a window, and which of fixed length takes it."""
        return self._generator.fitted(_widened(window, GENERATOR_CONTEXT, self._prosody.frames), self._made)

    def _features_of(self, wanted: Window, threads: int) -> Array:
        cells = [cell for cell in self._cells if cell.begin < wanted.end and cell.end > wanted.begin]
        self._features = {
            cell: self._features[cell] if cell in self._features else self._make(cell, threads) for cell in cells
        }
        begin = cells[0].begin
        joined = np.concatenate(list(self._features.values()), axis=-1)
        return joined[..., wanted.begin - begin : wanted.end - begin]

    def _make(self, cell: Window, threads: int) -> Array:
        prosody = self._prosody
        frames = prosody.text.shape[-1]
        given = _widened(Window(cell.begin // 2, cell.end // 2), FRONT_CONTEXT, frames)
        given, stage = self._front.fitted(given, Window(0, frames))
        curves = slice(2 * given.begin, 2 * given.end)
        arrays = [
            prosody.text[..., given.begin : given.end],
            prosody.f0[..., curves],
            prosody.energy[..., curves],
            prosody.style,
            *(() if self._exact_front else self._statistics[:2]),
        ]
        features, *_ = (stage or self._front.any_length).run(arrays, threads, self._cancellation)
        return features[..., cell.begin - curves.start : cell.end - curves.start]


def whole_segment(
    prosody: Prosody, source: Source, front: Stage, generator: Stage, threads: int, cancellation: Cancellation
) -> tuple[NDArray[np.floating[Any]], Statistics]:
    """All of a segment's sound in one run, its lead too, with its own statistics, which are also given.

    Raises:
        Cancelled, EngineError, ProviderUnavailable: as `worker.session.run_session`.
    """
    arrays = [prosody.text, prosody.f0, prosody.energy, prosody.style]
    features, *of_front = front.run(arrays, threads, cancellation)
    harmonics = source.harmonics(0, prosody.frames, threads)
    audio, *of_generator = generator.run([features, harmonics, prosody.style], threads, cancellation)
    return audio.ravel(), Statistics(*of_front, *of_generator)


def _widened(window: Window, by: int, end: int) -> Window:
    return Window(max(0, window.begin - by), min(end, window.end + by))


def _samples(frames: int) -> int:
    return frames * FRAME_SAMPLES


def _even(frames: int) -> int:
    return frames + frames % 2
