"""A split model speaks: prosody once per segment, then sound in windows, or whole where a voice is still unknown."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shm.audio import SAMPLE_RATE, Pcm
from worker.engine import Block, Utterance
from worker.pcm import to_pcm
from worker.providers.records import Assignment, StageRecord
from worker.settings import WorkerSettings
from worker.split.fitted_stage import FittedStage
from worker.split.fixed_stages import fixed_fronts, fixed_generators
from worker.split.marks import marks_of
from worker.split.prepared import Prepared
from worker.split.segment import GENERATOR_CONTEXT, Prosody, WindowedSegment, whole_segment
from worker.split.source import Source
from worker.split.stage import Crew, Stage
from worker.split.statistics import Statistics, VoiceStatistics
from worker.split.windows import FRAME_SAMPLES, FRAMES_PER_SECOND, Window, WindowShape, windows

_Sound: TypeAlias = tuple[int, Pcm, bool]
"""Offset, samples, and whether they are the last."""


class SplitSpeech:
    """The stages of one model. Any number of threads may speak with it."""

    def __init__(self, prepared: Prepared, settings: WorkerSettings, assignment: Assignment) -> None:
        """Open what every segment needs.

        Raises:
            EngineUnavailable: onnxruntime can't load the stages.
            ProviderUnavailable: the execution provider can't.
        """
        self.provider = assignment.provider

        def stage(name: str, record: StageRecord) -> Stage:
            # What was compiled for one length leaves all others to the CPU.
            return Stage(prepared.folder / name, settings, StageRecord() if record.window else record)

        manifest = prepared.manifest
        self._noise = manifest.noise
        self.statistics = VoiceStatistics(
            prepared.folder / "statistics", (manifest.front_channels, manifest.generator_channels)
        )
        self.marks = True
        self.windowed = settings.vocoder != "whole"
        self._shape = WindowShape.of(settings)
        self._crew = Crew(settings)
        self._own_front = settings.statistics == "segment"
        self._prosody = stage("prosody.onnx", assignment.prosody)
        self._source = stage("source.onnx", assignment.source)
        self._exact_front = stage("front-exact.onnx", assignment.front)
        self._exact_generator = stage("generator-exact.onnx", assignment.generator)
        front = FittedStage(self._exact_front)
        generator = FittedStage(self._exact_generator)
        if self.windowed and not self._own_front:
            fixed = fixed_fronts(prepared, settings, assignment.front)
            front = FittedStage(stage("front.onnx", assignment.front), fixed)
        if self.windowed:
            fixed = fixed_generators(prepared, settings, assignment.generator)
            generator = FittedStage(stage("generator.onnx", assignment.generator), fixed)
        self._front, self._generator = front, generator
        for each, threads in product((front, generator), {self._crew.most, self._crew.least}):
            each.open(threads)

    @property
    def first_block(self) -> float:
        """Seconds of sound in a segment's first block; 0: it is one block."""
        return self._shape.first / FRAMES_PER_SECOND if self.windowed else 0.0

    @property
    def session(self) -> Any:
        """The one that has the model's own inputs and metadata."""
        return self._prosody.session(self._crew.most)

    def forget_exact(self) -> None:
        """Give back the memory of the stages that only an unknown voice needs."""
        for exact, windowed in ((self._exact_front, self._front), (self._exact_generator, self._generator)):
            if windowed.any_length is not exact:
                exact.close()

    def blocks(self, inputs: Sequence[NDArray[Any]], voice: str, utterance: Utterance) -> Generator[Block, None, None]:
        """The utterance's blocks; `inputs` are the model's: tokens, style, speed.

        A voice whose statistics are frozen when the segment begins speaks it in windows. Another one speaks it whole,
        with the segment's own.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        started = time.monotonic()
        statistics = self.statistics.frozen(voice) if self.windowed else None
        with self._crew.step() as threads:
            prosody = self._prosody_of(inputs, utterance)
            plan = list(windows(prosody.lead, prosody.frames, self._shape))
            segment = statistics and self._windowed(prosody, statistics, plan, utterance)
            if segment:
                segment.begin(threads)
        prosody_seconds = time.monotonic() - started
        marks = marks_of(prosody.durations, prosody.lead // 2) if utterance.marks else ()
        sound = self._in_windows(segment, plan, utterance) if segment else self._whole(prosody, utterance)
        for offset, samples, last in sound:
            skipped = max(0, utterance.from_sample - offset)
            if skipped >= len(samples):
                continue
            end = offset + len(samples)
            begin = offset + skipped
            here = tuple(mark for mark in marks if begin <= mark[1] and (last or mark[1] < end))
            yield Block(begin, samples[skipped:], last, here, prosody_seconds)
            prosody_seconds = 0.0

    def _windowed(
        self, prosody: Prosody, statistics: Statistics, plan: Sequence[Window], utterance: Utterance
    ) -> WindowedSegment:
        return WindowedSegment(
            prosody,
            self._source_of(prosody, utterance),
            statistics,
            plan,
            self._front,
            self._generator,
            utterance.cancellation,
            exact_front=self._own_front,
        )

    def _in_windows(
        self, segment: WindowedSegment, plan: Sequence[Window], utterance: Utterance
    ) -> Generator[_Sound, None, None]:
        start = plan[0].begin
        for window in plan:
            if (window.end - start) * FRAME_SAMPLES > utterance.from_sample:
                with self._crew.step() as threads:
                    samples = to_pcm(segment.samples(window, threads))
                yield (window.begin - start) * FRAME_SAMPLES, samples, window is plan[-1]

    def _whole(self, prosody: Prosody, utterance: Utterance) -> Generator[_Sound, None, None]:
        with self._crew.step() as threads:
            audio, _ = self._in_one_run(prosody, utterance, threads)
            samples = to_pcm(audio)
        yield 0, samples[prosody.lead * FRAME_SAMPLES :], True

    def measured(self, inputs: Sequence[NDArray[Any]], utterance: Utterance) -> tuple[Statistics, float]:
        """The statistics of this utterance when it is spoken whole, and its length in seconds. Takes all cores.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        audio, statistics = self._in_one_run(self._prosody_of(inputs, utterance), utterance, self._crew.most)
        return statistics, len(audio) / SAMPLE_RATE

    def _in_one_run(
        self, prosody: Prosody, utterance: Utterance, threads: int
    ) -> tuple[NDArray[np.floating[Any]], Statistics]:
        source = self._source_of(prosody, utterance)
        stages = self._exact_front, self._exact_generator
        return whole_segment(prosody, source, *stages, threads, utterance.cancellation)

    def _prosody_of(self, inputs: Sequence[NDArray[Any]], utterance: Utterance) -> Prosody:
        # A second session for one thread would cost 100 MB, for 5 % of the work: prosody has one, with all cores.
        text, f0, energy, durations = self._prosody.run(inputs, self._crew.most, utterance.cancellation)
        return Prosody(text, f0, energy, durations.ravel().astype(np.int64), inputs[1])

    def _source_of(self, prosody: Prosody, utterance: Utterance) -> Source:
        first = prosody.lead + self._shape.first + GENERATOR_CONTEXT
        return Source(self._source, self._noise, utterance.seed, prosody.f0, first, utterance.cancellation)
