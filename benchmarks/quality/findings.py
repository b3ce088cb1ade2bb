"""Figures of one way of speaking against a reference, over the same texts."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.joins import largest_step
from benchmarks.measuring.hearing.gate import Judgement, level_differences
from benchmarks.measuring.hearing.level import frame_levels, pause_noise
from benchmarks.measuring.mel_distance import log_mel_distance
from benchmarks.quality.pitch import pitch_before
from benchmarks.quality.renderings import Rendering
from shm.audio import SAMPLE_RATE, Pcm
from text.words.segment import Cut

SAME_PITCH = 1.15
"""Times a sentence's last pitch: a cut inside a sentence that falls lower than that falls like a sentence's end."""


PAUSES = 3.0
"""dB, either way: limit of the noise in pauses of sound in windows."""

PLAN_OPINION, PLAN_SECONDS = 0.02, 0.03
"""Limits of a plan for windows against the same texts in one segment: loss of the overall opinion score, and the share
by which it lasts longer or shorter. The gate alone judges P.808, which differs from passage to passage by 0.1, the
overall score by 0.02: six passages can tell 0.02 of the latter only."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Figures of one way over all texts."""

    way: str
    judgement: Judgement
    """Log-mel distance of sound in windows to the same model's whole run; None for other sound."""
    log_mel: float
    """dB to the reference: aligned in time where prosody or pauses differ."""
    word_error_rate: float | None
    """Percent."""
    p808: float | None
    overall: float | None
    signal: float | None
    seconds: float
    levels: dict[int, float]
    """dB off by class of lengths (`benchmarks.measuring.hearing.gate.LENGTHS`)."""
    pause_noise: float | None
    """dB louder where the same model pauses, run whole; None where there is no such sound."""
    step: float | None
    """The largest step where windows meet, as a share of the signal's own largest within 50 ms."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Descriptions of the figures beyond the limits that need no other way's figures."""
        if self.pause_noise is None or abs(self.pause_noise) <= PAUSES:
            return self.judgement.failures
        return (*self.judgement.failures, f"its pauses are {self.pause_noise:+.1f} dB off (limit {PAUSES:g})")


def plan_faults(one_segment: Finding, planned: Finding) -> tuple[str, ...]:
    """Descriptions of a plan's figures beyond its limits against the same texts in one segment."""
    faults = []
    longer = planned.seconds / one_segment.seconds - 1
    if abs(longer) > PLAN_SECONDS:
        faults.append(f"it lasts {longer:+.1%} longer than in one segment (limit {PLAN_SECONDS:.0%})")
    if one_segment.overall is not None and planned.overall is not None:
        loss = one_segment.overall - planned.overall
        if loss > PLAN_OPINION:
            faults.append(f"its overall opinion score is {loss:.3f} lower than in one segment (limit {PLAN_OPINION:g})")
    return tuple(faults)


def finding(
    way: str, reference: Sequence[Rendering], other: Sequence[Rendering], whole: Sequence[Rendering] | None = None
) -> Finding:
    """
    Args:
        other: may be the reference, which gives its own figures.
        whole: the same model's whole runs, for sound in windows.
    """
    pairs = _pairs(reference, other)
    same = _pairs(whole, other) if whole else []
    heard = [rendering.heard for rendering in other]
    listened = [each for each in heard if each.errors is not None]
    words = sum(each.words for each in listened)
    opinions = [each.opinion for each in heard if each.opinion]
    scores: list[float | None] = [None] * 3
    if opinions:
        scores = [statistics.fmean(column) for column in zip(*opinions, strict=True)]
    steps = [largest_step(made, made, each.windows) for each, (_, made) in zip(other, pairs, strict=True)]
    references = [rendering.heard for rendering in reference]
    return Finding(
        way=way,
        judgement=Judgement.of(references, heard, _mean(log_mel_distance(*pair) for pair in same)),
        log_mel=statistics.fmean(log_mel_distance(*pair) for pair in pairs),
        word_error_rate=100 * sum(each.errors or 0 for each in listened) / words if words else None,
        p808=scores[0],
        overall=scores[1],
        signal=scores[2],
        seconds=sum(len(made) for _, made in pairs) / SAMPLE_RATE,
        levels=level_differences(references, heard),
        pause_noise=_mean(pause_noise(*pair) for pair in same),
        step=max((step for step in steps if step is not None), default=None),
    )


def _pairs(one: Sequence[Rendering], other: Sequence[Rendering]) -> list[tuple[Pcm, Pcm]]:
    return [(ours.samples, theirs.samples) for ours, theirs in zip(one, other, strict=True)]


@dataclass(frozen=True, slots=True)
class CutFinding:
    """The cuts of one kind that a plan made."""

    kind: Cut
    count: int
    pause_ms: float
    """Median length of the silence between speech and speech."""
    shortest_ms: float
    longest_ms: float
    pitch: float | None
    """Median Hz before the cut."""
    end_pitch: float | None
    """Median Hz at the ends of the same texts."""


def cut_findings(renderings: Sequence[Rendering]) -> list[CutFinding]:
    """Findings for each kind of cut, in the order of `Cut`."""
    pauses: dict[Cut, list[float]] = {}
    cut_pitches: dict[Cut, list[float]] = {}
    end_pitches: dict[Cut, list[float]] = {}
    for rendering in renderings:
        samples = rendering.samples
        end = pitch_before(samples, len(samples))
        for kind, _, began in rendering.cuts:
            ended, resumed = pause_around(samples, began)
            pauses.setdefault(kind, []).append(1000 * (resumed - ended) / SAMPLE_RATE)
            if (pitch := pitch_before(samples, ended)) is not None and end is not None:
                cut_pitches.setdefault(kind, []).append(pitch)
                end_pitches.setdefault(kind, []).append(end)
    return [
        CutFinding(
            kind,
            len(pauses[kind]),
            statistics.median(pauses[kind]),
            min(pauses[kind]),
            max(pauses[kind]),
            _median(cut_pitches.get(kind, [])),
            _median(end_pitches.get(kind, [])),
        )
        for kind in Cut
        if kind in pauses
    ]


_QUIET = 35.0
"""dB below the loudest frame of a text under which a frame is a pause."""


def pause_around(samples: Pcm, place: int) -> tuple[int, int]:
    """Samples at which the pause around a place begins and ends, on a grid of 20 ms."""
    levels = frame_levels(samples)
    quiet = levels < levels.max() - _QUIET
    frame = SAMPLE_RATE // 50
    middle = min(range(len(quiet)), key=lambda at: (not quiet[at], abs(at - place // frame)))
    begin = end = middle
    while begin > 0 and quiet[begin - 1]:
        begin -= 1
    while end + 1 < len(quiet) and quiet[end + 1]:
        end += 1
    return begin * frame, (end + 1) * frame


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
