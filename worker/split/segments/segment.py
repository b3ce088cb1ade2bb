"""One segment after its prosody pass, vocoded a window at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.engine import RunControl
from worker.split.segments.source import HarmonicSource
from worker.split.segments.stage import FittedStage, LoadedStage
from worker.split.segments.statistics import Statistics
from worker.split.segments.windows import FRAME_SAMPLES, Window, lead_of

GENERATOR_CONTEXT = 5
"""Context of the generator's first stage: frames at 80 Hz (62 ms) on each side of a window.

In the float graph of the published model more context brings joined windows nearer to a whole run. In the int8 model it
doesn't: the rounding of each run differs by more than the missing context does. `python -m benchmarks.statistics_table
--own` compares windows with whole runs.
"""

SECOND_STAGE_CONTEXT = 2
"""Context of the second stage, at 4,800 Hz: frames at 80 Hz (25 ms) on each side."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Prosody:
    """The outputs of the prosody stage for one segment."""

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
        """The segment's length in frames at 80 Hz."""
        return int(self.f0.shape[-1])

    @property
    def lead(self) -> int:
        """Frames at 80 Hz of leading silence that aren't made."""
        return 2 * lead_of(self.durations, self.energy)


class WindowedSegment:
    """Vocodes any window of a segment; the samples don't depend on which windows were made before.

    The decoder makes the features of the whole segment in one run: so its norms are exact, and the generator's
    statistics can be predicted from all features.
    """

    def __init__(
        self,
        prosody: Prosody,
        features: Array,
        source: HarmonicSource,
        statistics: Statistics,
        generator: FittedStage,
        control: RunControl,
    ) -> None:
        """`features`: of the whole segment. The generator's fixed lengths are in frames at 80 Hz, context included."""
        self._prosody = prosody
        self._features = features
        self._source = source
        self._statistics = statistics
        self._generator = generator
        self._control = control

    def samples(self, window: Window, threads: int) -> NDArray[np.floating[Any]]:
        """The window's samples, shape [300 per frame].

        Raises:
            Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        segment = Window(0, self._prosody.frames)
        given, stage = self._generator.fitted(_widened(window, GENERATOR_CONTEXT, segment.end), segment)
        kept = given if stage else _widened(window, SECOND_STAGE_CONTEXT, segment.end)
        harmonics = self._source.harmonics(*given, threads)
        features = self._features[..., given.begin : given.end]
        arrays = [features, harmonics, self._prosody.style, *self._statistics]
        if stage is None:
            stage = self._generator.any_length
            arrays.append(np.array([kept.begin - given.begin, given.end - kept.end]))
        [audio] = stage.run(arrays, threads, self._control)
        return audio.ravel()[_samples(window.begin - kept.begin) : _samples(window.end - kept.begin)]


def whole_segment(
    prosody: Prosody, features: Array, source: HarmonicSource, generator: LoadedStage, threads: int, control: RunControl
) -> tuple[NDArray[np.floating[Any]], Statistics]:
    """Vocode the whole segment in one run by a generator that reports its statistics; return audio and statistics.

    Raises:
        Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
    """
    harmonics = source.harmonics(0, prosody.frames, threads)
    audio, *told = generator.run([features, harmonics, prosody.style], threads, control)
    return audio.ravel(), Statistics(*told)


def in_one_run(
    prosody: Prosody, features: Array, source: HarmonicSource, generator: LoadedStage, threads: int, control: RunControl
) -> NDArray[np.floating[Any]]:
    """Vocode the whole segment in one run with its own statistics; return its audio from the end of its lead on.

    Raises:
        Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
    """
    harmonics = source.harmonics(0, prosody.frames, threads)
    [audio] = generator.run([features, harmonics, prosody.style], threads, control)
    return audio.ravel()[_samples(prosody.lead) :]


def features_of(prosody: Prosody, decoder: LoadedStage, threads: int, control: RunControl) -> Array:
    """The generator's input features of a segment: [1, channels, frames at 80 Hz].

    Raises:
        Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
    """
    arrays = [prosody.text, prosody.f0, prosody.energy, prosody.style]
    [features] = decoder.run(arrays, threads, control)
    return features


def _widened(window: Window, by: int, end: int) -> Window:
    return Window(max(0, window.begin - by), min(end, window.end + by))


def _samples(frames: int) -> int:
    return frames * FRAME_SAMPLES
