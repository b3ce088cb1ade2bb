"""A recording compared with the samples that should sound: gaps of silence between them, and samples that are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm

WINDOW = SAMPLE_RATE // 2
"""Samples by which a place is recognised after a break: half a second differs between any two sentences."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Silence between two samples that belong together: a buffer didn't last. All samples are heard, in order."""

    at: int
    """Sample of the recording at which it begins."""
    length: int


@dataclass(frozen=True, slots=True)
class Break:
    """Samples that are wrong, however long a buffer lasts."""

    at: int
    """Sample of the recording at which it begins."""
    kind: str
    """`lost`, `doubled`, `changed` or `unasked` (sound after the last sample)."""
    length: int


@dataclass(slots=True)
class Heard:
    """The differences between a recording and the samples that should sound; none of either kind if it is whole."""

    gaps: list[Gap] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)


def compare(recorded: Pcm, wanted: Pcm) -> Heard:
    """Compare a recording with what should sound (shapes [n] and [m]); silence before and after either is ignored."""
    heard = Heard()
    sounding, loud = _sounding(recorded), _sounding(wanted)
    wanted = wanted[loud]
    at, place = sounding.start, 0
    while place < len(wanted) and at < sounding.stop:
        same = _equal(recorded[at : sounding.stop], wanted[place:])
        at, place = at + same, place + same
        if place == len(wanted) or at == sounding.stop:
            break
        if silence := _silence(recorded[at : sounding.stop]):
            heard.gaps.append(Gap(at, silence))
            at += silence
            continue
        found = _found_again(recorded, wanted, at, sounding.stop, place)
        heard.breaks.append(found[0])
        at, place = found[1:]
    if place < len(wanted):
        heard.breaks.append(Break(at, "lost", len(wanted) - place))
    elif at < sounding.stop:
        heard.breaks.append(Break(at, "unasked", sounding.stop - at))
    return heard


def _sounding(samples: Pcm) -> slice:
    """Time from the first audible sample to the last."""
    audible = np.flatnonzero((samples > AUDIBLE) | (samples < -AUDIBLE))
    return slice(int(audible[0]), int(audible[-1]) + 1) if len(audible) else slice(0, 0)


def _equal(recorded: Pcm, wanted: Pcm) -> int:
    """Number of samples that are equal from the beginning on."""
    count = min(len(recorded), len(wanted))
    different = np.flatnonzero(recorded[:count] != wanted[:count])
    return int(different[0]) if len(different) else count


def _silence(recorded: Pcm) -> int:
    """Number of samples at the beginning that are 0."""
    sound = np.flatnonzero(recorded)
    return int(sound[0]) if len(sound) else len(recorded)


def _found_again(recorded: Pcm, wanted: Pcm, at: int, end: int, place: int) -> tuple[Break, int, int]:
    """The break at `at`, and the places in both at which they agree again."""
    began = at
    while at < end:
        places = list(_places(wanted, recorded[at : min(at + WINDOW, end)]))
        if places:
            again = min(places, key=lambda each: abs(each - place - (at - began)))
            if at > began:
                return Break(began, "changed", at - began), at, again
            kind = "lost" if again > place else "doubled"
            return Break(began, kind, abs(again - place)), at, again
        at += WINDOW // 10
    return Break(began, "changed", end - began), end, min(place + end - began, len(wanted))


def _places(wanted: Pcm, part: Pcm) -> Iterator[int]:
    """Places at which a part is found in what is wanted."""
    firsts: NDArray[np.intp] = np.flatnonzero(wanted[: max(len(wanted) - len(part) + 1, 0)] == part[0])
    for first in firsts:
        if np.array_equal(wanted[first : first + len(part)], part):
            yield int(first)
