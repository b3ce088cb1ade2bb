"""Inflections: how a part of a text is to be said, relative to how the engine would say it of its own accord.

An inflection belongs to words, travels with them through the plan, and reaches the engine as spans of a segment's
script. An engine whose `EngineInfo.inflects` is False says all words its own way.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

MOST_SEMITONES = 12.0
"""Largest shift of a pitch, up or down: an octave."""

WIDEST = 3.0
"""Largest factor on the range of a pitch."""

MOST_DECIBELS = 12.0
QUIETEST_DECIBELS = -60.0
"""Limits of a change of level; at the lower one nothing can be heard."""

Contour = tuple[tuple[float, float], ...]
"""Points of a pitch contour: (fraction of the time, semitones), by rising fraction. Before the first point and after
the last one its value holds."""


class Inflection(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way of saying words. The defaults change nothing."""

    pitch: Annotated[float, Meta(description="Shift of the fundamental frequency in semitones.")] = 0.0
    hertz: Annotated[
        float, Meta(description="The mean fundamental frequency, in place of the voice's own; 0: the voice's own.")
    ] = 0.0
    range: Annotated[
        float,
        Meta(
            description="Factor on the distance of the fundamental frequency from the segment's mean, both in "
            "semitones; 0 is a monotone."
        ),
    ] = 1.0
    volume: Annotated[float, Meta(description="Change of the level in dB.")] = 0.0
    stretch: Annotated[float, Meta(description="Factor on the durations.")] = 1.0
    duration: Annotated[
        float,
        Meta(
            description="Seconds for each written character, in place of the voice's own durations; 0: the voice's own."
        ),
    ] = 0.0
    contour: Annotated[
        Contour,
        Meta(description="Shift over the words' time: pairs of a fraction of the time, and semitones."),
    ] = ()
    rise: Annotated[
        float,
        Meta(
            description="Semitones above the segment's mean to which the pitch rises from the last stress of the last "
            "word on, as at the end of a question; 0: the voice's own course. `range` scales it."
        ),
    ] = 0.0

    def within(self, around: Inflection) -> Inflection:
        """This inflection of a part of words that have the inflection `around`."""
        return Inflection(
            pitch=_bounded(self.pitch + around.pitch * (not self.hertz), -MOST_SEMITONES, MOST_SEMITONES),
            hertz=self.hertz or around.hertz,
            range=min(self.range * around.range, WIDEST),
            volume=_bounded(self.volume + around.volume, QUIETEST_DECIBELS, MOST_DECIBELS),
            stretch=self.stretch * around.stretch,
            duration=self.duration or around.duration,
            contour=self.contour or around.contour,
            rise=self.rise or around.rise,
        )

    def times(self, degree: float) -> Inflection:
        """The same to another degree: 0 changes nothing, 1 is the inflection itself. A duration and a mean stay."""
        return msgspec.structs.replace(
            self,
            pitch=self.pitch * degree,
            range=self.range**degree,
            volume=self.volume * degree,
            stretch=self.stretch**degree,
            contour=tuple((at, semitones * degree) for at, semitones in self.contour),
            rise=self.rise * degree,
        )

    def part(self, begin: float, end: float) -> Inflection:
        """The inflection of a part of its words: `begin` and `end` are fractions of their time."""
        if not self.contour or end <= begin:
            return self
        inner = [((at - begin) / (end - begin), value) for at, value in self.contour if begin < at < end]
        edges = (0.0, at_fraction(self.contour, begin)), (1.0, at_fraction(self.contour, end))
        return msgspec.structs.replace(self, contour=(edges[0], *inner, edges[1]))


PLAIN = Inflection()


class InflectedSpan(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A span of a segment's script that is said in one way."""

    start: int
    end: int
    """Characters of the script."""
    inflection: Inflection
    seconds: float = 0.0
    """Time that the span shall take; 0: what `inflection` says of it."""


def at_fraction(contour: Contour, fraction: float) -> float:
    """Semitones of a contour at a fraction of its time, on straight lines between its points.

    >>> at_fraction(((0.0, 0.0), (1.0, 4.0)), 0.25)
    1.0
    """
    before = contour[0]
    for point in contour:
        if point[0] >= fraction:
            width = point[0] - before[0]
            return before[1] + (point[1] - before[1]) * ((fraction - before[0]) / width if width > 0 else 1.0)
        before = point
    return before[1]


def _bounded(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)
