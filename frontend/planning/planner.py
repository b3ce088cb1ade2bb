"""The planner cuts a text into segments: early for the first sound, rarely inside sentences, ahead of playback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from frontend.planning.minimum import MIN_FIRST_TOKENS
from frontend.planning.profile import CostProfile
from frontend.planning.row import Cost, Cuts, Row, parts
from frontend.planning.search import best_cuts
from frontend.text.segment import Cut, Notation, Segment, Sentence, SpokenWord, Unit
from frontend.text.segmentation import add_word

_AT_ONCE = 300
"""Number of tokens planned together, unless twice a segment's limit is more. A larger number would hardly change a cut,
and would cost time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one segment."""

    max_tokens: int = 400
    """Longest segment in tokens. A longer one takes a lot of memory: 630 MB in windows, 860 MB whole."""
    max_segment_seconds: float = 2.7
    """Longest work in seconds on one segment by an engine that makes segments whole: a new stream waits for at most one
    such segment. Segments of up to `2 * min_first_tokens` are exempt, because cutting them would leave a part below the
    minimum."""
    min_first_tokens: int = MIN_FIRST_TOKENS
    """Shortest segment in tokens, where the text allows it."""


def plan(
    sentences: Iterable[Sentence], profile: CostProfile, speed: float, notation: Notation, limits: Limits
) -> Iterator[Segment]:
    """The text's segments, in order; each unit belongs to one of them. Pure: equal arguments give equal segments.

    The plan minimises the time until the first sound, plus prices for bad cuts, plus a steep price for silence that
    the profile predicts (`frontend.planning.row`). The plan is lazy: the first segment needs only the first sentence,
    unless that is shorter than the minimum; a later segment needs one sentence more than it holds. Each segment is
    planned in a row of a bounded number of tokens, so the time is linear in the text's length.

    A segment always ends at a paragraph's end, and at a pause or a change of pace that markup asks for. If the engine
    takes text, sentences stay whole, because such an engine has prosody of its own and its work is next to nothing.
    """
    yield from _Planner(_Source(sentences), profile, speed, notation, limits).segments(None)


def replan(
    units: Sequence[Unit], slack: float, profile: CostProfile, speed: float, notation: Notation, limits: Limits
) -> list[Segment]:
    """Plan the rest of a stream again, in smaller segments where the listener would otherwise hear a gap. Pure, like
    `plan`.

    Args:
        units: units of the segments that no worker has (`Segment.units`), in order.
        slack: seconds from the moment a worker can start on the units until the listener's audio ends; 0 if it has
            ended.
    """
    sentences = [tuple(units)] if units else []
    return list(_Planner(_Source(sentences), profile, speed, notation, limits).segments(slack))


class _Source:
    """A text's sentences, with one sentence of lookahead."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._rest = iter(sentences)
        self._ahead: Sentence | None = None

    def peek(self) -> Sentence:
        """The next sentence; empty at the end."""
        if self._ahead is None:
            self._ahead = next(self._rest, ())
        return self._ahead

    def take(self) -> Sentence:
        """Remove the next sentence from the source and return it; empty at the end."""
        sentence = self.peek()
        self._ahead = None if sentence else ()
        return sentence


class _Planner:
    def __init__(self, source: _Source, profile: CostProfile, speed: float, notation: Notation, limits: Limits) -> None:
        self._source = source
        self._most = most = min(limits.max_tokens, notation.max_tokens)
        self._speaks_text = notation.speaks == "text"
        if self._speaks_text:
            self._most = most = notation.max_tokens
        self._minimum = min(limits.min_first_tokens, most // 2)

        @cache
        def cost_at(rate: float) -> Cost:
            limit = most
            if profile.per_token and not (profile.first_block or self._speaks_text):
                work = (limits.max_segment_seconds - profile.fixed) / profile.per_token * speed * rate
                limit = min(most, max(int(work), 2 * limits.min_first_tokens))
            return Cost.of(profile, speed * rate, limit)

        self._cost_at = cost_at

    def segments(self, slack: float | None) -> Iterator[Segment]:
        """Segments of all the source's units. `slack` is defined in `Row`."""
        units: list[Unit] = []
        while True:
            if not self._speaks_text:
                self._fill(units, begun=slack is not None)
            elif not units:
                units += self._source.take()
            if not units:
                return
            cuts: Cuts
            if self._speaks_text:
                cuts = [(end, 0.0) for end in Row(units, self._cost_at, self._minimum).sentence_ends()]
            else:
                row = Row(units[: self._reach(units)], self._cost_at, self._minimum)
                cuts = best_cuts(row, slack)
                if len(row.units) < len(units):
                    cuts = cuts[:-1] or cuts
                elif slack is None:
                    # The units after the first segment are planned again when more of the text is known.
                    cuts = cuts[:1]
            start = 0
            for end, after in cuts:
                yield _segment(units[start:end])
                start, slack = end, after
            del units[:start]

    def _fill(self, units: list[Unit], begun: bool) -> None:
        """Take sentences until the units suffice for a segment, and short sentences after them that can't stand alone.

        Before the first segment is sent (`begun` is false), only necessary sentences are taken: pronouncing each takes
        time.
        """
        if not units:
            units += self._source.take()
        while units and not _have(_last_stretch(units), self._minimum) and self._may_join(units):
            units += self._source.take()
        room = self._most
        while begun and units and room > 0 and self._may_join(units):
            following = self._source.peek()
            if _have(reversed(following), self._minimum):
                break
            room -= sum(map(_length, following))
            units += self._source.take()

    def _may_join(self, units: list[Unit]) -> bool:
        if units[-1].cut is Cut.PARAGRAPH or units[-1].pause is not None:
            return False  # decided without pronouncing the next sentence
        following = self._source.peek()
        return bool(following) and not parts(units[-1], following[0])

    def _reach(self, units: list[Unit]) -> int:
        """Number of units that are planned together."""
        length = 0
        most = max(2 * self._cost_at(units[0].rate).limit, _AT_ONCE)
        for place, unit in enumerate(units):
            length += _length(unit)
            if length > most and place:
                return place
        return len(units)


def _length(unit: Unit) -> int:
    """Length of a unit in tokens."""
    return len(unit.lead) + len(unit.script)


def _have(backwards: Iterable[Unit], tokens: int) -> bool:
    """True if a segment of these units would have at least `tokens` tokens. `backwards` starts at the last unit, and is
    read only as far as needed."""
    length = 0
    for unit in backwards:
        length += len(unit.script)
        if length >= tokens:
            return True
        length += len(unit.lead)
    return False


def _last_stretch(units: Sequence[Unit]) -> Iterator[Unit]:
    """The units after the last mandatory segment end, from the last one backwards."""
    following: Unit | None = None
    for unit in reversed(units):
        if following and parts(unit, following):
            return
        yield unit
        following = unit


def _segment(units: Sequence[Unit]) -> Segment:
    script = units[0].script + "".join(unit.lead + unit.script for unit in units[1:])
    words: list[SpokenWord] = []
    position = -len(units[0].lead)
    for unit in units:
        position += len(unit.lead)
        for word in unit.words:
            add_word(words, SpokenWord(word.written, word.said, word.start + position, word.end + position))
        position += len(unit.script)
    last = units[-1]
    text = " ".join(unit.text for unit in units if unit.text)
    return Segment(text, script, len(script), last.cut, tuple(words), last.rate, last.pause, tuple(units))
