"""Ways to divide the cores, each measured against the default: both engines are loaded and speak in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from statistics import median
from typing import Protocol

import msgspec

from supervisor.tuning.measured_engine import CannotMeasure
from supervisor.tuning.profile import Attempt, Way
from worker.settings import WorkerSettings
from worker.tuning.messages import Round

ROUNDS = 5
"""Pairs of measurements for each way. The default wins all of them by chance once in 32 times."""

GAIN = 1.05
"""Least median ratio of first audio, or of throughput, for which a way is chosen."""

LOSS = 0.95
"""Median ratio below which a figure counts as worse."""


class MeasuredSpeaker(Protocol):
    """An engine that can be measured."""

    def measure(self) -> Round:
        """
        Raises:
            CannotMeasure: the engine fails, or doesn't load.
        """
        ...


Open = Callable[[WorkerSettings], AbstractContextManager[MeasuredSpeaker]]
"""Opens an engine for the duration of a block."""


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """The result of a comparison."""

    chosen: Way | None
    """The chosen way; None: the defaults stay."""
    verdict: str
    attempts: tuple[Attempt, ...]


def ways(cores: int) -> list[Way]:
    """All cores divided among inferences: 1, 2, 4, … threads each, and one inference with all of them.

    The default is none of these ways: it gives a lone inference all cores, and several ones one core each.
    """
    threads = [1 << power for power in range(cores.bit_length()) if 1 << power < cores]
    return [Way(threads=each, concurrency=cores // each) for each in (*threads, cores)] if cores > 1 else []


def compare(
    open: Open, settings: WorkerSettings, tried: Sequence[Way], tell: Callable[[str], None]
) -> ComparisonResult:
    """Measure each way against the default and choose the best, if one is better.

    Args:
        tell: told of each step, for people.

    Raises:
        CannotMeasure: the default itself can't be measured.
    """
    attempts = []
    tell("loading the default")
    with open(settings) as default:
        default.measure()  # the first start of an engine makes files of the model that all later ones load
        for number, way in enumerate(tried):
            tell(f"{number + 1} of {len(tried)}: {way}")
            attempts.append(_attempt(open, settings, default, way))
    gains = {_gain(each): each for each in attempts if each.first is not None and not each.note}
    if not gains:
        return ComparisonResult(None, "the defaults stay: no way was better", tuple(attempts))
    best = gains[max(gains)]
    verdict = f"{best.way}: first audio {best.first:.2f}, speed {best.together:.2f} times the default's"
    return ComparisonResult(best.way, verdict, tuple(attempts))


def _attempt(open: Open, settings: WorkerSettings, default: MeasuredSpeaker, way: Way) -> Attempt:
    mine: list[Round] = []
    others: list[Round] = []
    try:
        with open(replace(settings, **msgspec.structs.asdict(way))) as speaker:
            speaker.measure()  # sessions open at their first use
            for number in range(ROUNDS):
                # The second of a pair finds a warmer machine than the first, so the order alternates.
                if number % 2:
                    mine.append(speaker.measure())
                others.append(_measured(default))
                if not number % 2:
                    mine.append(speaker.measure())
    except _DefaultFailed as error:
        raise CannotMeasure(str(error)) from error
    except CannotMeasure as error:
        return Attempt(way=way, note=str(error))
    first = [other.first / each.first for each, other in zip(mine, others, strict=True)]
    alone = [each.alone / other.alone for each, other in zip(mine, others, strict=True)]
    together = [each.together / other.together for each, other in zip(mine, others, strict=True)]
    return Attempt(
        way=way,
        first=median(first),
        alone=median(alone),
        together=median(together),
        note=_rejection(first, alone, together),
    )


def _rejection(first: Sequence[float], alone: Sequence[float], together: Sequence[float]) -> str:
    """The reason why the way with these ratios isn't better than the default; empty if it is."""
    figures = {"first audio": first, "one at a time": alone, "throughput": together}
    if worse := [f"{name} {median(ratios):.2f}" for name, ratios in figures.items() if median(ratios) < LOSS]:
        return f"worse: {', '.join(worse)}"
    gained = [ratios for ratios in (first, together) if median(ratios) >= GAIN]
    if not gained:
        return f"gains less than {GAIN - 1:.0%}"
    return "" if any(min(ratios) > 1 for ratios in gained) else "not better in every round"


def _gain(attempt: Attempt) -> float:
    assert attempt.first is not None and attempt.together is not None
    return math.sqrt(attempt.first * attempt.together)


class _DefaultFailed(Exception):
    """The default failed, rather than the way that is measured."""


def _measured(default: MeasuredSpeaker) -> Round:
    try:
        return default.measure()
    except CannotMeasure as error:
        raise _DefaultFailed(str(error)) from error
