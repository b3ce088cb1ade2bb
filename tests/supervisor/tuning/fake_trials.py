"""Trials without a model: a machine whose every cost is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kokoro_onnx.config import DEFAULT_VOCAB

from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from supervisor.tuning.candidates import Groups
from supervisor.tuning.effort import Effort
from supervisor.tuning.search import Found, Search
from worker.settings import WorkerSettings
from worker.split.windows import FRAMES_PER_SECOND, WindowShape, windows
from worker.tuning.records import Failed, Measured, Result, SegmentTimes, TextTimes, TrialSpec, silence

EFFORT = Effort(
    ("wˌʌt tˈIm ɪz ɪt, ænd hˌu wˈɑnts tə nˈO ðˈæt?",),
    ("ˌɪf wˌi lˈiv nˈW, bəfˈɔɹ ðə ɹˈAn bəɡˈɪnz, wˌi ʃˌʊd bi hˈOm.",),
    repeats=1,
    firsts=0,
    pairs=2,
    finalists=2,
)

Slowness = Callable[[WorkerSettings, TrialSpec], float]
"""How many times slower than usual."""


@dataclass
class FakeMachine:
    """A `Runner`."""

    slowness: Slowness = lambda settings, spec: 1.0
    fails: Callable[[WorkerSettings], str] = lambda settings: ""
    rss: Callable[[WorkerSettings], int] = lambda settings: 500_000_000
    per_token: float = 0.002
    per_window: float = 0.05
    provider: str = "CPUExecutionProvider"
    specs: list[TrialSpec] = field(default_factory=list)
    """Of all trials, in order."""

    def __call__(self, spec: TrialSpec) -> Result:
        self.specs.append(spec)
        settings = spec.settings
        if reason := self.fails(settings):
            return Failed(reason)
        slower = self.slowness(settings, spec)
        shape = WindowShape.of(settings)
        texts, segments = [], []
        for text in spec.texts:
            made = [self._segment(script, shape, slower) for script in text]
            blocks = tuple(block for segment in made for block in segment.blocks)
            times = TextTimes(
                first=blocks[0][1],
                whole=sum(seconds for _, seconds in blocks),
                silence=silence(blocks),
                audio=sum(samples for samples, _ in blocks) / SAMPLE_RATE,
            )
            texts.append(times)
            segments += made
        alone = sum(each.audio for each in texts) / sum(each.whole for each in texts) if texts else None
        return Measured(
            engine=engine(settings, self.provider),
            load_seconds=1.0,
            rss=self.rss(settings),
            texts=tuple(texts),
            together=alone and 1.5 * alone,
            segments=tuple(segments),
        )

    def _segment(self, script: str, shape: WindowShape, slower: float) -> SegmentTimes:
        prosody = self.per_token * len(script) * slower
        blocks = []
        for number, (begin, end) in enumerate(windows(0, 6 * len(script), shape)):
            audio = (end - begin) / FRAMES_PER_SECOND
            seconds = (self.per_window + 0.4 * audio) * slower + (0 if number else prosody)
            blocks.append((round(audio * SAMPLE_RATE), seconds))
        return SegmentTimes(tokens=len(script), prosody_seconds=prosody, blocks=tuple(blocks))


def engine(settings: WorkerSettings, provider: str = "CPUExecutionProvider") -> EngineInfo:
    return EngineInfo(
        name="kokoro",
        provider=provider,
        model=settings.model.name if settings.model else "model.onnx",
        speaks="phonemes",
        vocabulary="".join(DEFAULT_VOCAB),
        max_tokens=510,
        voices=("af_heart",),
        concurrency=settings.concurrency or 2,
        first_block=settings.first_window,
    )


def search(machine: FakeMachine, groups: Groups, **changes: Any) -> Found:
    """A whole search."""
    arguments: dict[str, Any] = {"max_memory": 1.5, "shortest": 30, "knob_trials": 0, "effort": EFFORT} | changes
    settings = arguments.pop("settings", WorkerSettings())
    return Search(machine, settings, 30, **arguments).search(lambda engine: groups)
