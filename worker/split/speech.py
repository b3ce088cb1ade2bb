"""Speech from a split model: prosody and decoder run once per segment; the generator runs in windows, or once for a
short segment.

A segment begins and ends with up to half a second of silence in which the generator's activations hardly change. A run
of some of those frames, each of which counts for several, has the statistics of the whole segment
(`worker.split.rewrites.norm_statistics`), and makes all that can be heard.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from shm.audio import Pcm
from shm.score import pack
from worker.engine import Block, Paused, RunControl, Utterance
from worker.machine import cores
from worker.pcm import to_pcm
from worker.settings import WorkerSettings
from worker.split.gain import Gain
from worker.split.inflections import inflected, score_of, scored
from worker.split.pace import FAST, MADE, Shortening, hastened, shares
from worker.split.prepared import Prepared
from worker.split.segments.segment import (
    GENERATOR_CONTEXT,
    HARMONICS,
    Array,
    HarmonicSource,
    Prosody,
    WindowedSegment,
    features_of,
    in_one_run,
)
from worker.split.segments.stage import FittedStage, LoadedStage, open_sessions
from worker.split.segments.statistics import Statistics, describe, predictor_for
from worker.split.segments.windows import (
    AUDIBLE_ENERGY,
    FRAME_SAMPLES,
    FRAMES_PER_SECOND,
    Window,
    WindowShape,
    marks_of,
    windows,
)
from worker.split.static.static_windows import fixed_generators
from worker.targets import CPU, Assignment, StageTarget

EDGE = 1
"""Units (25 ms, the 40 Hz of durations) at the segment's very ends that always run: activations there differ from those
in the middle of silence, because convolutions see zeros beyond. Without them the sound is too loud."""

TRAIL = 4
"""Units after the last audible energy that are heard."""

GROUP = 8
"""Units of silence of which one runs, and counts for all."""

_UNIT = 2
"""Frames at 80 Hz in a unit. The decoder makes both frames of a unit of one input, and the first ones differ from the
second ones, so they stay together."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """The frames of a segment that run."""

    frames: NDArray[np.int64]
    """Frames at 80 Hz, rising."""
    weights: NDArray[np.int64]
    """Number of the segment's frames that each of them stands for."""
    begin: int
    """Place, among `frames`, of the first frame that is heard."""
    heard: int
    """Number of frames that are heard, which follow one another."""


def shortened(prosody: Prosody) -> Shortened:
    """A segment without most of the silence before its lead's end and after its last audible energy."""
    end, lead = prosody.frames // _UNIT, prosody.lead // _UNIT
    heard = _heard_until(prosody.energy, end)
    complete = (*range(min(EDGE, lead)), *range(lead, heard), *range(max(heard, end - EDGE), end))
    units = dict.fromkeys(complete, 1) | _sampled(EDGE, lead) | _sampled(heard, end - EDGE)
    places, weights = (np.array(column, np.int64) for column in zip(*sorted(units.items()), strict=True))
    frames = (_UNIT * places[:, None] + np.arange(_UNIT)).ravel()
    first = int(np.searchsorted(frames, prosody.lead))
    return Shortened(frames, np.repeat(weights, _UNIT), first, _UNIT * (heard - lead))


def _heard_until(energy: Array, end: int) -> int:
    """The unit at which the segment's last silence begins; `end` if it has none, or no audible energy at all."""
    audible = np.flatnonzero(energy.ravel() > AUDIBLE_ENERGY)
    return min(end, int(audible[-1]) // _UNIT + 1 + TRAIL) if len(audible) else end


def _sampled(begin: int, end: int) -> dict[int, int]:
    """Units in the middle of equal groups of the units from `begin` to `end`, and the size of each group."""
    if begin >= end:
        return {}
    groups = np.array_split(np.arange(begin, end), max(1, round((end - begin) / GROUP)))
    return {int(group[(len(group) - 1) // 2]): len(group) for group in groups}


_FIRST_STAGE = 10
"""Moments of the generator's first stage per frame at 80 Hz; the second stage has as many as the harmonics."""

_FADE = 240
"""Samples (10 ms) in which the sound falls to the zeros: its last silence reaches -58 dBFS."""


def in_weighted_run(
    prosody: Prosody, features: Array, source: HarmonicSource, generator: LoadedStage, threads: int, control: RunControl
) -> NDArray[np.floating[Any]]:
    """Vocode a segment from the end of its lead on. Its last silence, which is far below what can be heard, is zeros.

    Args:
        generator: the one of `worker.split.rewrites.norm_statistics`.
    """
    part = shortened(prosody)
    harmonics = source.harmonics(0, prosody.frames, threads)
    frames = harmonics[..., :-1].reshape(*harmonics.shape[:-1], prosody.frames, HARMONICS)[..., part.frames, :]
    kept = [frames.reshape(*harmonics.shape[:-1], -1), harmonics[..., -1:]]
    first = np.repeat(part.weights, _FIRST_STAGE)
    second = np.append(np.repeat(part.weights, HARMONICS), part.weights[-1])
    arrays = [features[..., part.frames], np.concatenate(kept, axis=-1), prosody.style]
    arrays += [weights / weights.sum() for weights in (first, second)]
    [audio] = generator.run(arrays, threads, control)
    made = audio.ravel()[part.begin * FRAME_SAMPLES :][: part.heard * FRAME_SAMPLES]
    silence = (prosody.frames - prosody.lead) * FRAME_SAMPLES - len(made)
    if silence:
        made = made.copy()
        made[-_FADE:] *= np.linspace(1, 0, _FADE, dtype=made.dtype)
    return np.concatenate([made, np.zeros(silence, made.dtype)])


T = TypeVar("T")


class Crew:
    """Runs the steps of all segments, each with a number of threads: all of them if it runs alone, one each if several
    run.

    One thread per run, with as many runs as cores, gave the most audio; all cores for one run gave the earliest.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self.most = settings.threads or cores()
        self.least = settings.threads or 1
        self._steps = 0
        self._lock = threading.Lock()

    def run(self, control: RunControl, step: Callable[[int], T]) -> T:
        """The result of `step`, which is given its number of threads. A step that is paused begins again afterwards."""
        while True:
            control.wait_while_paused()
            try:
                with self.step() as threads:
                    return step(threads)
            except Paused:
                continue

    @contextmanager
    def step(self) -> Iterator[int]:
        """Count a step as running while the block runs; the value is the step's number of threads."""
        with self._lock:
            self._steps += 1
            threads = self.most if self._steps == 1 else self.least
        try:
            yield threads
        finally:
            with self._lock:
                self._steps -= 1


KEPT = 4
"""Scores' prosodies that are kept, each of at most 2 MB: an edited score sounds without the wait for them."""

EXACT_BELOW = 136
"""Frames (1.7 s) of a segment, its silence included, under which it is vocoded in one run."""

_Sound: TypeAlias = tuple[int, Pcm, bool]
"""Offset, samples, and a flag that is true for the last samples."""


class SplitSpeech:
    """The stages of one model. Any number of threads may speak with it."""

    def __init__(self, model: Path, prepared: Prepared, settings: WorkerSettings, assignment: Assignment) -> None:
        """Open what every segment needs. A predictor of statistics may lie alongside `model`, of which `prepared` are
        the stages.

        Raises:
            EngineUnavailable: onnxruntime can't load the stages.
            ProviderUnavailable: the execution provider can't.
        """
        self.provider = assignment.provider

        def stage(name: str, target: StageTarget) -> LoadedStage:
            # A provider compiled for one length leaves all other lengths to the CPU.
            return LoadedStage(prepared.folder / name, settings, StageTarget() if target.window else target)

        manifest = prepared.manifest
        self._noise = manifest.noise
        self._predictor = predictor_for(model, manifest.fingerprint, manifest.channels)
        self.marks = self.inflects = self.parts = True
        self.shortens_above = MADE
        self.windowed = settings.vocoder != "whole" and self._predictor is not None
        self._shape = WindowShape.of(settings)
        self._crew = Crew(settings)
        self._kept: dict[bytes, Prosody] = {}
        self._prosody = stage("prosody.onnx", assignment.prosody)
        self._source = stage("source.onnx", assignment.source)
        self._decoder = stage("decoder.onnx", assignment.decoder)
        for_one_run = "generator-weighted.onnx" if self.windowed else "generator-whole.onnx"
        self._one_run_generator = stage(for_one_run, assignment.generator)
        fixed = fixed_generators(model, prepared, settings, assignment.generator) if self.windowed else {}
        self._generator = FittedStage(stage("generator.onnx", assignment.generator), fixed)
        # Every session that a segment may need is opened now: a stage's file that somebody removes from the cache later
        # is missed by nobody.
        most, least = self._crew.most, self._crew.least
        wanted = [(self._source, most)]
        if self.windowed:
            wanted += [(each, most) for each in self._generator.stages]
        wanted += [(each, most) for each in (self._prosody, self._one_run_generator)]
        if self.windowed:
            wanted += [(each, least) for each in (*self._generator.stages, self._source)]
        # An accelerator's library may compile each stage on all cores, and a profile is the calling thread's.
        open_sessions([*wanted, (self._decoder, most)], cores() if assignment.provider == CPU else 1)

    @property
    def first_block(self) -> float:
        """Seconds of sound in a segment's first block; 0 means that the segment is one block."""
        return self._shape.first / FRAMES_PER_SECOND if self.windowed else 0.0

    @property
    def rendering(self) -> str:
        if not self.windowed or self._predictor is None:
            return "whole"
        shape = self._shape
        windows = f"windows {shape.first} {shape.growth:g} {shape.longest}"
        paces = f"above {FAST:g} by phonemes, above {MADE:g} shortened"
        return f"{windows}, statistics {self._predictor.digest}, short ones weighted, {paces}"

    @property
    def session(self) -> Any:
        """The session that has the model's own inputs and metadata."""
        return self._prosody.session(self._crew.most)

    def blocks(
        self, inputs: Sequence[NDArray[Any]], utterance: Utterance, level: float = 1.0
    ) -> Generator[Block, None, None]:
        """The utterance's blocks; `inputs` are the model's: tokens, style, speed. `level` is a factor on the samples.

        A segment shorter than `EXACT_BELOW` is vocoded in one run, with its own statistics, because those of few
        phonemes can't be predicted. Most of its silence is left out of that run.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        started, control = time.monotonic(), utterance.control
        paused_before = control.paused_seconds
        fast = utterance.speed > FAST
        asked = [*inputs[:2], np.ones_like(inputs[2])] if fast else inputs
        key = b"".join(each.tobytes() for each in asked)
        prosody = self._kept.get(key) or self._crew.run(control, lambda _: self._prosody_of(asked, control))
        if utterance.score_only:
            self._kept = dict([*self._kept.items(), (key, prosody)][-KEPT:])
        kept = None
        if fast:
            own = prosody.durations
            prosody = hastened(prosody, utterance.script, min(utterance.speed, MADE))
            if utterance.speed > MADE:
                kept = shares(own, prosody.durations, utterance)
        prosody_made = time.monotonic()
        prosody, gain = scored(*inflected(prosody, utterance.inflected, level), utterance.score)
        if utterance.score_only:
            written = np.frombuffer(pack(score_of(prosody)), np.int16)[utterance.from_sample :]
            if len(written):
                yield Block(utterance.from_sample, written, last=True)
            return
        features = self._crew.run(control, lambda _: features_of(prosody, self._decoder, self._crew.most, control))
        statistics = self._predicted(prosody, features)
        features_made = time.monotonic()
        prosody_seconds = features_made - started - (control.paused_seconds - paused_before)
        frames = prosody.heard(utterance.part)
        shortening = None if kept is None else Shortening(prosody.durations, kept, *frames)
        durations, begin = (prosody.durations, frames.begin / 2) if shortening is None else shortening.heard
        marks = marks_of(durations, begin, utterance.part) if utterance.marks else ()
        # What is left out depends on all that comes before.
        made = utterance if shortening is None else replace(utterance, from_sample=0)
        sound: Iterator[_Sound]
        if statistics is None:
            sound = self._in_one_run(prosody, features, frames, made, gain)
        else:
            sound = self._in_windows(prosody, features, frames, statistics, made, gain)
        if shortening is not None:
            sound = shortening.shortened(sound)
        for offset, samples, last in sound:
            skipped = max(0, utterance.from_sample - offset)
            if skipped >= len(samples):
                continue
            begin = offset + skipped
            later = tuple(mark for mark in marks if mark[1] >= begin)
            yield Block(begin, samples[skipped:], last, later, prosody_seconds, prosody_made, features_made)
            marks, prosody_seconds, prosody_made, features_made = (), 0.0, 0.0, 0.0

    def _predicted(self, prosody: Prosody, features: Array) -> Statistics | None:
        """Predicted statistics for the segment's windows; None if the segment is vocoded in one run."""
        if not self.windowed or self._predictor is None or prosody.frames < EXACT_BELOW:
            return None
        described = describe(features, prosody.f0, prosody.energy, prosody.durations, prosody.style)
        return self._predictor.predict(described)

    def _in_windows(
        self,
        prosody: Prosody,
        features: Array,
        frames: Window,
        statistics: Statistics,
        utterance: Utterance,
        gain: Gain,
    ) -> Generator[_Sound, None, None]:
        source = self._source_of(prosody, frames.begin, utterance)
        segment = WindowedSegment(prosody, features, source, statistics, self._generator, utterance.control)
        plan = list(windows(*frames, self._shape))
        start = plan[0].begin
        for window in plan:
            if (window.end - start) * FRAME_SAMPLES > utterance.from_sample:
                audio = self._crew.run(utterance.control, partial(segment.samples, window))
                yield (
                    (window.begin - start) * FRAME_SAMPLES,
                    to_pcm(gain.applied(audio, window.begin)),
                    window is plan[-1],
                )

    def _in_one_run(
        self, prosody: Prosody, features: Array, frames: Window, utterance: Utterance, gain: Gain
    ) -> Generator[_Sound, None, None]:
        # One session with all cores, whatever runs alongside: a second session would hold its weights again in
        # onnxruntime's own layout, and an arena of hundreds of megabytes after a long segment.
        source, threads = self._source_of(prosody, prosody.lead, utterance), self._crew.most
        control = utterance.control
        run, generator = in_weighted_run if self.windowed else in_one_run, self._one_run_generator
        audio = self._crew.run(control, lambda _: run(prosody, features, source, generator, threads, control))
        made = to_pcm(gain.applied(audio, prosody.lead))
        begin, end = ((frame - prosody.lead) * FRAME_SAMPLES for frame in frames)
        yield 0, made[begin:end], True

    def _prosody_of(self, inputs: Sequence[NDArray[Any]], control: RunControl) -> Prosody:
        # A second session for one thread would cost memory for a small part of the work: prosody and decoder have one
        # session each, with all cores.
        text, f0, energy, durations = self._prosody.run(inputs, self._crew.most, control)
        return Prosody(text, f0, energy, durations.ravel().astype(np.int64), inputs[1])

    def _source_of(self, prosody: Prosody, begin: int, utterance: Utterance) -> HarmonicSource:
        first = begin + self._shape.first + GENERATOR_CONTEXT
        return HarmonicSource(self._source, self._noise, utterance.seed, prosody.f0, first, utterance.control)
