"""An engine's costs out of trials: the front's cost profile, and what it costs to cut sound into windows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from frontend.planning.costs import CostModel
from frontend.planning.ledger import Account
from frontend.planning.profile import Profile
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from worker.split.windows import FRAMES_PER_SECOND, WindowShape, windows
from worker.tuning.records import Measured, SegmentTimes

_ORDINARY = 8 * FRAMES_PER_SECOND
"""Frames of a segment of about 100 tokens, for which a shape's mean cost is taken."""


@dataclass(frozen=True, slots=True)
class WindowCosts:
    """Of one way of running the model, alone; seconds. Without windows, a segment is one block."""

    profile: Profile
    """Prosody (or, without windows, all the work), and how long things sound."""
    per_window: float
    """Work per window, whatever its length: what is computed on both its sides, and starting it."""
    per_audio: float
    """Beyond that, per second of audio."""
    lanes: int
    crowding: float
    """How many times longer a block takes when all lanes are busy."""

    @property
    def windowed(self) -> bool:
        return self.profile.first_block > 0

    def window(self, frames: int) -> float:
        """Seconds of work for one of so many frames."""
        return self.per_window + self.per_audio * frames / FRAMES_PER_SECOND

    def crowded(self, busy: int) -> float:
        """How many times longer a block takes with so many lanes busy, its own included."""
        if self.lanes < 2:
            return 1.0
        return 1 + (self.crowding - 1) * (busy - 1) / (self.lanes - 1)

    def profile_for(self, shape: WindowShape) -> Profile:
        """What the front's cost model would come to with windows of that shape."""
        if not self.windowed:
            return self.profile
        sizes = [end - begin for begin, end in windows(0, _ORDINARY, shape)]
        return Profile(
            per_token=self.profile.per_token,
            audio_per_token=self.profile.audio_per_token,
            fixed=self.profile.fixed,
            audio_fixed=self.profile.audio_fixed,
            per_audio=sum(map(self.window, sizes)) * FRAMES_PER_SECOND / _ORDINARY,
            first_block=shape.first / FRAMES_PER_SECOND,
        )


def cost_profile(engine: EngineInfo, segments: Iterable[SegmentTimes]) -> Profile:
    """The front's cost model, told what was measured."""
    model = CostModel(engine.first_block)
    for each in segments:
        model.observe(each.tokens, 1.0, each.samples, each.seconds, each.prosody_seconds)
    return model.profile()


def label(engine: EngineInfo) -> str:
    """Under which stored costs are kept."""
    return Account(engine).label


def window_costs(trials: Sequence[Measured]) -> WindowCosts:
    """From trials with the same settings but for the windows' shape; the engine is the last one's."""
    engine = trials[-1].engine
    segments = [segment for trial in trials for segment in trial.segments]
    profile = cost_profile(engine, segments)
    fixed, slope = _line(segments) if engine.first_block else (0.0, 0.0)
    factors = [_crowding(trial) for trial in trials if trial.together]
    return WindowCosts(profile, fixed, slope, engine.concurrency, median(factors))


def _crowding(trial: Measured) -> float:
    assert trial.together
    alone = sum(text.audio for text in trial.texts) / sum(text.whole for text in trial.texts)
    return max(1.0, trial.engine.concurrency * alone / trial.together)


def _line(segments: Iterable[SegmentTimes]) -> tuple[float, float]:
    """Fixed part and slope of a window's work over its seconds of audio: least relative squares of lengths' medians."""
    seen: dict[int, list[float]] = defaultdict(list)
    for segment in segments:
        for place, (samples, seconds) in enumerate(segment.blocks):
            seen[samples].append(seconds - segment.prosody_seconds if place == 0 else seconds)
    audio = np.array([samples / SAMPLE_RATE for samples in seen])
    taken = np.array([max(median(seconds), 1e-9) for seconds in seen.values()])
    counts = np.sqrt([len(seconds) for seconds in seen.values()])
    if len(audio) < 2:
        return 0.0, float(taken[0] / audio[0])
    slope, fixed = np.polyfit(audio, taken, 1, w=counts / taken)
    if fixed < 0:
        return 0.0, float(np.median(taken / audio))
    if slope < 0:
        return float(np.median(taken)), 0.0
    return float(fixed), float(slope)
