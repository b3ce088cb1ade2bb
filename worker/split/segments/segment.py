"""One segment after its prosody pass, vocoded a window at a time.

Harmonics are computed only as far as they are needed. The source's phase adds up from the segment's beginning, so a
window's harmonics take all that comes before it, but nothing after it. The first window needs half a second of them,
which takes a twentieth of the time of ten seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from worker.engine import RunControl
from worker.split.segments.stage import FittedStage, LoadedStage
from worker.split.segments.statistics import Statistics
from worker.split.segments.windows import FRAME_SAMPLES, Window, lead_of

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
        """Harmonics of the frames from `begin` to `end`: shape [1, 22, 60 per frame, and one]."""
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


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """An input of the source that replaces a random operation."""

    kind: Literal["normal", "uniform"]
    centre: float
    """The mean of a normal distribution, or the lowest value of a uniform one."""
    spread: float
    """The standard deviation of a normal distribution, or the highest less the lowest value of a uniform one."""
    shape: tuple[tuple[int, int], ...]
    """Each dimension as a pair (a, b): a values per frame of F0, plus b."""

    def draw(self, generator: np.random.Generator, frames: int) -> NDArray[np.float32]:
        """Draw the noise along time, so that the first frames' numbers don't depend on the number of frames."""
        size = [per_frame * frames + fixed for per_frame, fixed in self.shape]
        time = max(range(len(size)), key=lambda axis: self.shape[axis][0])
        size.insert(0, size.pop(time))
        values: NDArray[np.float32]
        if self.kind == "normal":
            values = generator.standard_normal(size, np.float32)
        else:
            values = generator.random(size, np.float32)
        values *= np.float32(self.spread)
        values += np.float32(self.centre)
        return np.moveaxis(values, 0, time)


def draw_all(noises: tuple[Noise, ...], seed: int, frames: int) -> list[NDArray[Any]]:
    """Draw the noise inputs of a segment of this many frames of F0."""
    return [
        noise.draw(np.random.Generator(np.random.SFC64([seed % 2**64, place])), frames)
        for place, noise in enumerate(noises)
    ]


GENERATOR_CONTEXT = 5
"""Context of the generator's first stage: frames at 80 Hz (62 ms) on each side of a window.

In the float graph of the published model more context brings joined windows nearer to a whole run. In the int8 model it
doesn't: the rounding of each run differs by more than the missing context does. `python -m benchmarks.statistics_table
--own` compares windows with whole runs.
"""

SECOND_STAGE_CONTEXT = 2
"""Context of the second stage, at 4,800 Hz: frames at 80 Hz (25 ms) on each side."""

_NEAR = 3
"""Frames at 80 Hz (37 ms) on each side of a word's border in which a part of a segment may begin or end."""

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

    def heard(self, part: tuple[int, int] | None) -> Window:
        """The frames at 80 Hz that are made of a part of the phonemes; None: of all. A part begins and ends at the
        quietest frame near its border, where it is joined to its neighbour with the least to hear."""
        begin, end = part or (0, len(self.durations))
        first = self._quietest(begin) if begin else self.lead
        last = self._quietest(end) if end < len(self.durations) - 2 else self.frames
        return Window(min(first, self.frames - 1), max(last, first + 1))

    def _quietest(self, place: int) -> int:
        border = 2 * int(self.durations[: place + 1].sum())
        begin, end = max(border - _NEAR, 0), min(border + _NEAR + 1, self.frames)
        return begin + int(np.argmin(self.energy.ravel()[begin:end]))


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
        """The window's samples, shape [300 per frame]."""
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


def in_one_run(
    prosody: Prosody, features: Array, source: HarmonicSource, generator: LoadedStage, threads: int, control: RunControl
) -> NDArray[np.floating[Any]]:
    """Vocode the whole segment in one run with its own statistics; return its audio from the end of its lead on."""
    harmonics = source.harmonics(0, prosody.frames, threads)
    [audio] = generator.run([features, harmonics, prosody.style], threads, control)
    return audio.ravel()[_samples(prosody.lead) :]


def features_of(prosody: Prosody, decoder: LoadedStage, threads: int, control: RunControl) -> Array:
    """The generator's input features of a segment: [1, channels, frames at 80 Hz]."""
    arrays = [prosody.text, prosody.f0, prosody.energy, prosody.style]
    [features] = decoder.run(arrays, threads, control)
    return features


def _widened(window: Window, by: int, end: int) -> Window:
    return Window(max(0, window.begin - by), min(end, window.end + by))


def _samples(frames: int) -> int:
    return frames * FRAME_SAMPLES
