"""A row: the units that are planned together, and the cost of each way to cut them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise, takewhile

from frontend.planning.profile import CostProfile
from text.units.cuts import CLAUSE_COST, INSIDE_COST, WORD_COST, balanced_ends
from text.words.segment import Cut, Unit

CUT_PRICES: Mapping[Cut, float] = {
    Cut.PARAGRAPH: 0.0,
    Cut.SENTENCE: 0.0,
    Cut.CLAUSE: 0.25,
    Cut.PHRASE: 4.0,
    Cut.WORD: 5.0,
    Cut.INSIDE: 12.0,
}
"""Price of a cut, by its kind: the cut is made only if it saves more seconds of waiting for the first sound.

Opinion scores of English passages fall by 0.03 where a clause is cut, and by 0.01 at a sentence's end (`python -m
benchmarks.quality`, overall score), so a clause is cut only where the machine is slow or the sentence long.

Kokoro speaks a segment's end like a sentence's end: a cut between the words of one clause makes the pitch fall as at a
full stop. No wait for a first sound justifies that, since the longest segment begins within 3 s; only a limit or a
predicted gap forces such a cut.
"""

_IN_NUMBER_PRICE = 7.0
"""Price of a cut between words that stand for one written word: "$250" isn't spoken in two breaths."""

EVENNESS_PRICE = 0.02
"""Price of a segment as long as the limit; it grows with the square of the length. Among otherwise equal plans the more
even one wins, and a segment goes past a sentence's end only for a reason."""

_EVENNESS_COSTS = {Cut.WORD: WORD_COST, Cut.PHRASE: WORD_COST, Cut.INSIDE: INSIDE_COST}

SHORT_PRICE = 100.0
"""Price of a segment below the minimum, higher than that of any other fault."""

SILENCE_PRICE = 50.0
"""Price of a second of silence after the listener has begun to hear: 0.1 s of it justifies a cut between words."""

_PLACES = 64

MARGIN = 1.25
"""Safety factor on predicted work: a stored profile may be off by as much before it is replaced."""

Cuts = list[tuple[int, float]]
"""Ends of segments (indices of the units after them), each with the slack after it."""


class Row:
    """Units, and the price of each way to cut them into segments.

    Slack is the time from the moment the worker is free until the listener's audio ends; None if nothing was sent yet.
    """

    def __init__(
        self, units: Sequence[Unit], costs_at: Callable[[float], tuple[CostProfile, int]], minimum: int
    ) -> None:
        """
        Args:
            costs_at: by `Unit.rate`, the costs at that pace, and the longest segment in tokens.
            minimum: shortest segment in tokens, where the text allows it.
        """
        self.units = units
        self.minimum = minimum
        figures = [costs_at(unit.rate) for unit in units]
        self.costs = [costs for costs, _ in figures]
        self.limits = [limit for _, limit in figures]
        self.leads = [len(unit.lead) for unit in units]
        self.before = [0, *accumulate(len(unit.lead) + len(unit.script) for unit in units)]
        """Number of tokens before each unit, from the row's start."""
        self.prices = [0.0, *(_cut_price(*pair) for pair in pairwise(units)), 0.0]
        """Price of a cut before each unit; 0 where a cut is mandatory."""
        self.walls = self._walls()

    def tokens(self, start: int, end: int) -> int:
        """Length in tokens of the segment from unit `start` to unit `end`."""
        return self.before[end] - self.before[start] - self.leads[start]

    def _walls(self) -> list[int]:
        """Index of the next mandatory segment end, for each unit."""
        walls = [len(self.units)] * len(self.units)
        for place in range(len(self.units) - 2, -1, -1):
            walls[place] = place + 1 if parts(self.units[place], self.units[place + 1]) else walls[place + 1]
        return walls

    def holds(self, start: int, end: int) -> bool:
        """True if the units from `start` to `end` may be one segment. A unit over the limit is a segment of its own."""
        return end <= self.walls[start] and (end == start + 1 or self.tokens(start, end) <= self.limits[start])

    def places(self) -> list[int]:
        """Places to consider for a cut, from 0 to the row's end: all places, unless the units are tiny.

        A row of tiny units has about `_PLACES` places: the best one in each part, and both sides of every larger unit,
        so that a place is always within reach.
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
        """Price that a segment adds, and the slack after it.

        The first segment costs the time until it sounds. A later one costs its expected lateness, with a safety margin;
        actual lateness also delays all that follows.
        """
        cost = self.costs[start]
        tokens = self.tokens(start, end)
        audio = cost.audio_fixed + cost.audio_per_token * tokens
        prosody = cost.fixed + cost.per_token * tokens
        ready = prosody + cost.per_audio * min(cost.first_block or audio, audio)
        work = prosody + cost.per_audio * audio
        price = self.prices[end] + EVENNESS_PRICE * (tokens / self.limits[start]) ** 2
        if tokens < self.minimum:
            price += SHORT_PRICE * (2 - tokens / self.minimum)
        if slack is None:
            return price + ready, ready + audio - work
        late = ready * MARGIN - slack
        if late > 0:
            price += SILENCE_PRICE * late
        return price, max(slack, ready) + audio - work

    def price(self, ends: Sequence[int], slack: float | None) -> tuple[float, Cuts]:
        """Price and cuts of the plan whose segments end at `ends`."""
        total = 0.0
        cuts: Cuts = []
        for start, end in pairwise([0, *ends]):
            price, slack = self.step(start, end, slack)
            total += price
            cuts.append((end, slack))
        return total, cuts

    def sentence_ends(self) -> list[int]:
        """Ends of a plan that cuts after every sentence, and splits sentences over the limit into parts of similar
        length."""
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
        limit = max(self.limits[start], *lengths)
        costs = [_EVENNESS_COSTS.get(unit.cut, CLAUSE_COST) for unit in self.units[start:end]]
        found = balanced_ends(lengths, self.leads[start:end], costs, limit)
        return found if limit == self.limits[start] else self._held_to_limit(start, found)

    def _held_to_limit(self, start: int, ends: list[int]) -> list[int]:
        """The given ends, with more cuts where a unit over the limit let others join its segment."""
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
    """True if a segment must end between two units."""
    return (
        following.sentence is not None
        or unit.cut is Cut.PARAGRAPH
        or unit.pause is not None
        or unit.ends
        or unit.rate != following.rate
        or unit.performer != following.performer
    )


def _cut_price(unit: Unit, following: Unit) -> float:
    if parts(unit, following):
        return 0.0
    if unit.cut in (Cut.PHRASE, Cut.WORD) and following.words and not following.words[0].written:
        return _IN_NUMBER_PRICE
    return CUT_PRICES[unit.cut]


_LABELS = 6
"""Number of ways to reach a place that the search keeps."""

_Way = tuple[float, float, int, int, tuple[int, ...]]
"""A way to a place: price, negated slack (at most `_plenty`), previous place, number of the way to that place, and all
ends so far."""


def best_cuts(row: Row, slack: float | None) -> Cuts:
    """The cheapest cuts found; never dearer than cutting at sentence ends.

    Dynamic programming over the places between units. For place j, L(j) is the set of ways to reach it, each a pair
    (price, slack), and

      L(0) = {(0, slack)}
      L(j) = best of {(p + price, s') for i < j, (p, s) in L(i), (price, s') = row.step(i, j, s)}

    for all i from which a segment may end at j. A way is dropped if another reaches the same place at no higher
    price and with no less slack: more slack never makes the rest dearer, so the cheapest way in L(n) is the cheapest
    overall. Among the remaining ways the `_LABELS` cheapest are kept, which bounds the work. This makes the search
    inexact, so the price of sentence splitting serves as an upper bound, which also prunes early. Slack beyond the need
    of the whole row counts as equal.
    """
    count = len(row.units)
    bound, cuts = row.price(row.sentence_ends(), slack)
    plenty = _plenty(row)
    reached: list[list[_Way]] = [[] for _ in range(count + 1)]
    reached[0] = [(0.0, 0.0 if slack is None else -min(slack, plenty), 0, 0, ())]
    places = row.places()
    for index, start in enumerate(places):
        ways = _undominated(reached[start])
        for end in takewhile(partial(row.holds, start), places[index + 1 :] if ways else ()):
            for number, (price, owed, _, _, ends) in enumerate(ways):
                first = slack is None and start == 0
                more, after = row.step(start, end, None if first else -owed)
                if price + more < bound:
                    reached[end].append((price + more, -min(after, plenty), start, number, (*ends, end)))
    if reached[count]:
        _, cuts = row.price(min(reached[count])[-1], slack)
    return cuts


def _undominated(ways: list[_Way]) -> list[_Way]:
    found: list[_Way] = []
    for way in sorted(ways):
        if not found or way[1] < found[-1][1]:
            found.append(way)
            if len(found) == _LABELS:
                break
    return found


def _plenty(row: Row) -> float:
    """Slack in seconds beyond which more makes no difference: twice the work on the whole row."""
    tokens = row.before[-1]
    dearest = max(cost.per_token + cost.per_audio * cost.audio_per_token for cost in row.costs)
    fixed = max(cost.fixed + cost.per_audio * cost.audio_fixed for cost in row.costs)
    return 2 * (tokens * dearest + len(row.units) * fixed)
