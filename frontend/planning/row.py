"""A row of units that is planned at once, and what a way of cutting it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from frontend.planning.profile import Profile
from frontend.text.cuts import CLAUSE_COST, INSIDE_COST, WORD_COST, balanced_ends
from frontend.text.segment import Cut, Unit

CUT_PRICES: Mapping[Cut, float] = {
    Cut.PARAGRAPH: 0.0,
    Cut.SENTENCE: 0.0,
    Cut.CLAUSE: 0.15,
    Cut.PHRASE: 4.0,
    Cut.WORD: 5.0,
    Cut.INSIDE: 12.0,
}
"""Seconds of waiting for the first sound that a cut there may save and no more.

Kokoro speaks a segment's end like a sentence's end: where words of one clause are cut apart the pitch falls as at a
full stop. No wait for a first sound is worth that, since the longest segment begins within 3 s; only a limit or a
predicted gap has such a cut made.
"""

_IN_NUMBER_PRICE = 7.0
"""Of a cut between words that are said for one written word: "$250" isn't spoken in two breaths."""

EVENNESS_PRICE = 0.02
"""Of a segment as long as the limit, and by the square of its length: of two ways that are alike the more even one is
taken, and nothing goes on behind a sentence's end without a reason."""

SHORT_PRICE = 100.0
"""Of a segment under the minimum: any other way is better."""

SILENCE_PRICE = 50.0
"""Of a second in which a listener who has begun to listen hears nothing: 0.1 s of it is worth a cut between words."""

_PLACES = 64

_MARGIN = 1.25
"""How much longer than predicted work may take: a stored profile is off by as much before another takes its place."""

Cuts = list[tuple[int, float]]
"""Where segments end (indices of the units after them), each with the slack after it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A segment's figures, by its tokens, at its pace."""

    prosody_fixed: float
    prosody: float
    audio_fixed: float
    audio: float
    vocoder: float
    """Seconds of work per second of audio."""
    first_block: float
    """Seconds of audio."""
    limit: int
    """Tokens."""

    @classmethod
    def of(cls, profile: Profile, speed: float, limit: int) -> Cost:
        """From figures at speed 1."""
        return cls(
            prosody_fixed=profile.fixed,
            prosody=profile.per_token if profile.first_block else profile.per_token / speed,
            audio_fixed=profile.audio_fixed / speed,
            audio=profile.audio_per_token / speed,
            vocoder=profile.per_audio,
            first_block=profile.first_block,
            limit=limit,
        )


class Row:
    """Units, and how much the segments cost that they may be cut into.

    Slack is the time from when the worker is free to when the listener's audio ends; None: nothing was sent yet.
    """

    def __init__(self, units: Sequence[Unit], cost_at: Callable[[float], Cost], minimum: int) -> None:
        """Args:
        cost_at: by `Unit.rate`.
        minimum: tokens that a segment has, where that can be.
        """
        self.units = units
        self.minimum = minimum
        self.costs = [cost_at(unit.rate) for unit in units]
        self.leads = [len(unit.lead) for unit in units]
        self.before = [0, *accumulate(len(unit.lead) + len(unit.script) for unit in units)]
        """Tokens before a unit, from the row's start."""
        self.prices = [0.0, *(_cut_price(*pair) for pair in pairwise(units)), 0.0]
        """Of a cut before a unit; none where there is no choice."""
        self.walls = self._walls()

    def tokens(self, start: int, end: int) -> int:
        """Of a segment."""
        return self.before[end] - self.before[start] - self.leads[start]

    def _walls(self) -> list[int]:
        """For each unit the end of the stretch that it is in: no segment goes on behind it."""
        walls = [len(self.units)] * len(self.units)
        for place in range(len(self.units) - 2, -1, -1):
            walls[place] = place + 1 if parts(self.units[place], self.units[place + 1]) else walls[place + 1]
        return walls

    def holds(self, start: int, end: int) -> bool:
        """Whether that may be a segment. A unit over the limit is a segment of its own."""
        return end <= self.walls[start] and (end == start + 1 or self.tokens(start, end) <= self.costs[start].limit)

    def places(self) -> list[int]:
        """Where it is worth while to think of cutting, from 0 to the row's end: everywhere, unless units are tiny.

        Of a row of tiny ones no more than about `_PLACES`: the best in each part of it, and both sides of every unit
        that isn't tiny, so that there is always a place within reach.
        """
        count = len(self.units)
        if count <= _PLACES:
            return list(range(count + 1))
        width = self.before[-1] / _PLACES
        best: dict[int, int] = {}
        kept = {0, count, *self.walls}
        for place in range(1, count):
            if max(len(self.units[place - 1].script), len(self.units[place].script)) > width:
                kept.add(place)
            part = int(self.before[place] / width)
            if part not in best or self.prices[place] < self.prices[best[part]]:
                best[part] = place
        return sorted(kept.union(best.values()))

    def step(self, start: int, end: int, slack: float | None) -> tuple[float, float]:
        """What a segment adds to the price, and the slack after it.

        The first one costs the time until it sounds. A later one costs what it is expected to come too late, with a
        margin; if it does come too late, what follows is later by as much.
        """
        cost = self.costs[start]
        tokens = self.tokens(start, end)
        audio = cost.audio_fixed + cost.audio * tokens
        prosody = cost.prosody_fixed + cost.prosody * tokens
        ready = prosody + cost.vocoder * min(cost.first_block or audio, audio)
        work = prosody + cost.vocoder * audio
        price = self.prices[end] + EVENNESS_PRICE * (tokens / cost.limit) ** 2
        if tokens < self.minimum:
            price += SHORT_PRICE * (2 - tokens / self.minimum)
        if slack is None:
            return price + ready, ready + audio - work
        late = ready * _MARGIN - slack
        if late > 0:
            price += SILENCE_PRICE * late
        return price, max(slack, ready) + audio - work

    def price(self, ends: Sequence[int], slack: float | None) -> tuple[float, Cuts]:
        """Of cutting there."""
        total = 0.0
        cuts: Cuts = []
        for start, end in pairwise([0, *ends]):
            price, slack = self.step(start, end, slack)
            total += price
            cuts.append((end, slack))
        return total, cuts

    def sentence_ends(self) -> list[int]:
        """Cut at the end of every sentence, and in those that are over the limit into parts of like length."""
        ends: list[int] = []
        start = 0
        for place in range(len(self.units)):
            end = place + 1
            if self.units[place].cut in (Cut.SENTENCE, Cut.PARAGRAPH) or end == self.walls[place]:
                ends += (start + inner for inner in self._even_ends(start, end))
                start = end
        return ends

    def _even_ends(self, start: int, end: int) -> list[int]:
        lengths = [len(unit.script) for unit in self.units[start:end]]
        limit = max(self.costs[start].limit, *lengths)
        costs = [_evenness_cost(unit.cut) for unit in self.units[start:end]]
        found = balanced_ends(lengths, self.leads[start:end], costs, limit)
        return found if limit == self.costs[start].limit else self._held_to_limit(start, found)

    def _held_to_limit(self, start: int, ends: list[int]) -> list[int]:
        """The same, cut more where a unit over the limit let others go on behind it."""
        held: list[int] = []
        begin = start
        for end in ends:
            while not self.holds(begin, start + end):
                begin = max(place for place in range(begin + 1, start + end) if self.holds(begin, place))
                held.append(begin - start)
            held.append(end)
            begin = start + end
        return held


def parts(unit: Unit, following: Unit) -> bool:
    """Whether a segment must end between two units."""
    return unit.cut is Cut.PARAGRAPH or unit.pause is not None or unit.rate != following.rate


def _cut_price(unit: Unit, following: Unit) -> float:
    if parts(unit, following):
        return 0.0
    if unit.cut in (Cut.PHRASE, Cut.WORD) and following.words and not following.words[0].written:
        return _IN_NUMBER_PRICE
    return CUT_PRICES[unit.cut]


@cache
def _evenness_cost(cut: Cut) -> float:
    match cut:
        case Cut.WORD | Cut.PHRASE:
            return WORD_COST
        case Cut.INSIDE:
            return INSIDE_COST
        case _:
            return CLAUSE_COST
