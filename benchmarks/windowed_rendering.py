"""Any prosody vocoded in windows by any variant's vocoder, as the engine does: with a voice's frozen statistics.

A variant that predicts other durations makes sound that can't be compared sample by sample. So it is given the
full-precision model's prosody, as in `worker.quantization.quality`, where segments are vocoded whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from shm.audio import Pcm
from worker.cancellation import Cancellation
from worker.machine import cores
from worker.pcm import to_pcm
from worker.providers.records import StageRecord
from worker.settings import WorkerSettings
from worker.split.fitted_stage import FittedStage
from worker.split.prepared import prepare
from worker.split.segment import GENERATOR_CONTEXT, Prosody, WindowedSegment, whole_segment
from worker.split.source import Source
from worker.split.stage import Stage
from worker.split.stage_files import EXACT_FRONT, EXACT_GENERATOR, GENERATOR, SOURCE
from worker.split.statistics import Statistics
from worker.split.study import ENOUGH_SECONDS
from worker.split.windows import FRAMES_PER_SECOND, WindowShape, windows

_NOBODY = Cancellation()


class WindowedRenderer:
    """One model's vocoder."""

    def __init__(self, model: Path, settings: WorkerSettings, cache: Path) -> None:
        """
        Raises:
            Unprepared: the model can't be split.
            EngineUnavailable: onnxruntime can't load a stage.
        """
        prepared = prepare(model, cache)
        self._noise = prepared.manifest.noise
        self._source, self._front, self._exact, self._generator = (
            Stage(prepared.folder / name, settings, StageRecord())
            for name in (SOURCE, EXACT_FRONT, EXACT_GENERATOR, GENERATOR)
        )
        self._shape = WindowShape.of(settings)
        self._threads = settings.threads or cores()

    def statistics(self, prosodies: Sequence[Prosody]) -> Statistics:
        """A voice's, of what it speaks, as `worker.split.study` measures them.

        Raises:
            EngineError: the model can't speak this.
        """
        told: list[Statistics] = []
        seconds: list[float] = []
        for seed, prosody in enumerate(prosodies):
            source = self._source_of(prosody, seed)
            told.append(whole_segment(prosody, source, self._front, self._exact, self._threads, _NOBODY)[1])
            seconds.append(prosody.frames / FRAMES_PER_SECOND)
            if sum(seconds) >= ENOUGH_SECONDS:
                break
        means = (np.average(vectors, axis=0, weights=seconds) for vectors in zip(*told, strict=True))
        return Statistics(*(mean.astype(np.float32) for mean in means))

    def sound(self, prosody: Prosody, seed: int, statistics: Statistics) -> Pcm:
        """Without the segment's leading silence, as it is spoken.

        Raises:
            EngineError: the model can't speak this.
        """
        plan = list(windows(prosody.lead, prosody.frames, self._shape))
        segment = WindowedSegment(
            prosody,
            self._source_of(prosody, seed),
            statistics,
            plan,
            FittedStage(self._front),
            FittedStage(self._generator),
            _NOBODY,
            exact_front=True,
        )
        return np.concatenate([to_pcm(segment.samples(window, self._threads)) for window in plan])

    def _source_of(self, prosody: Prosody, seed: int) -> Source:
        first = prosody.lead + self._shape.first + GENERATOR_CONTEXT
        return Source(self._source, self._noise, seed, prosody.f0, first, _NOBODY)
