"""The planner cuts a text into segments: early for the first sound, rarely inside sentences, ahead of playback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise, takewhile

from frontend.contract.growing_text import TextMark
from frontend.planning.cuts import MARGIN, Cuts, Row, best_cuts, parts
from frontend.planning.profile import CostProfile
from frontend.planning.sentences import BegunSentence, SentenceSource, words_of
from text.units.segmentation import add_word
from text.words.segment import Cut, Notation, Segment, Sentence, SpokenWord, Unit

MIN_FIRST_TOKENS = 30
"""Minimum length of a segment, and of the first one above all. A text without enough tokens may fall below it.

A fragment of a few words cut out of a longer text gets a melody of its own, which reveals the cut.
A complete text that is shorter sounds right.
"""

LONG = 80
"""Tokens of a first segment whose prosody takes so long that its first words are begun before."""

BEGUN = 50
"""Tokens whose prosody is made for the first words of such a segment (docs/decisions/long-openings.md)."""

BEHIND = 3
"""Words of them that are spoken with the rest of the segment: their prosody is that of a text's end."""

USUAL = 65
"""Tokens of a usual sentence. The beginning of one that isn't whole yet has at least the style of that
(docs/decisions/growing-text.md)."""

_AT_ONCE = 300
"""Number of tokens planned together, unless twice a segment's limit is more. A larger number would hardly change a cut,
and would cost time."""


@dataclass(frozen=True, slots=True)
class Limits:
    max_tokens: int = 400
    """Longest segment in tokens. The engine's memory grows with the longest segment, and most with one made whole."""
    max_segment_seconds: float = 2.7
    """Longest work in seconds on one segment by an engine that makes segments whole: a new stream waits for at most one
    such segment. Segments of up to `2 * min_first_tokens` are exempt, because cutting them would leave a part below the
    minimum."""
    min_first_tokens: int = MIN_FIRST_TOKENS
    """Shortest segment in tokens, where the text allows it."""
    opens_from: int = 0
    """Tokens from which on a text's first segment is begun with the prosody of its first words alone; 0: none is."""


def plan(
    sentences: Iterable[Sentence], profile: CostProfile, speed: float, notation: Notation, limits: Limits
) -> Iterator[Segment]:
    """The text's segments, in order; each unit belongs to one of them. Pure: equal arguments give equal segments.

    The plan minimises the time until the first sound, plus prices for bad cuts, plus a steep price for silence that
    the profile predicts (`frontend.planning.cuts`). The plan is lazy: the first segment needs only the first sentence,
    unless that is shorter than the minimum; a later segment needs one sentence more than it holds. Each segment is
    planned in a row of a bounded number of tokens, so the time is linear in the text's length.

    A segment always ends at a paragraph's end, and at a pause or a change of pace or voice that markup asks for. If the
    engine takes text, sentences stay whole, because such an engine has prosody of its own and its work is next to
    nothing.
    """
    return _Planner(SentenceSource(sentences), profile, speed, notation, limits).known(None)


def plan_growing(
    source: SentenceSource, profile: CostProfile, speed: float, notation: Notation, limits: Limits
) -> Iterator[Segment | TextMark]:
    """The segments of a text that is still being written, in order, with marks between them.

    The iterator never waits: it gives `WAITING` or `HOLDING` where it needs more text, and continues when it is asked
    again. The plan depends on the text, its flushes, and on the holds that were hurried, not on any other time.
    """
    return _Planner(source, profile, speed, notation, limits).segments(None)


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
    return list(_Planner(SentenceSource(sentences), profile, speed, notation, limits).known(slack))


def recut(items: Iterator[Segment | TextMark], cuts: Sequence[int]) -> Iterator[Segment | TextMark]:
    """The same units in segments of these numbers of units first, then in the plan's own ones.

    A stream whose front was killed is cut as it was, where it was planned again for a listener about to run dry. A
    flush within such a segment follows it.
    """
    units: list[Unit] = []
    flushes: list[TextMark] = []
    for wanted in cuts:
        while len(units) < wanted and (item := next(items, None)):
            if isinstance(item, TextMark):
                if item is TextMark.FLUSH and units:
                    flushes.append(item)
                else:
                    yield item
            elif not units and len(item.units) == wanted:
                yield item
                break
            else:
                units += item.units
        else:
            if not units:
                return
            yield _segment(units[:wanted])
            del units[:wanted]
            if not units:
                yield from flushes
                flushes.clear()
    if units:
        yield _segment(units)
    yield from flushes
    yield from items


class _Planner:
    def __init__(
        self, source: SentenceSource, profile: CostProfile, speed: float, notation: Notation, limits: Limits
    ) -> None:
        self._source = source
        self._most = most = min(limits.max_tokens, notation.max_tokens)
        self._speaks_text = notation.speaks == "text"
        if self._speaks_text:
            self._most = most = notation.max_tokens
        self._minimum = min(limits.min_first_tokens, most // 2)
        self._opens_from = limits.opens_from

        @cache
        def costs_at(rate: float) -> tuple[CostProfile, int]:
            limit = most
            if profile.per_token and not (profile.first_block or self._speaks_text):
                work = (limits.max_segment_seconds - profile.fixed) / profile.per_token * speed * rate
                limit = min(most, max(int(work), 2 * limits.min_first_tokens))
            return profile.at_speed(speed * rate), limit

        self._costs_at = costs_at
        self._room = 0
        """Tokens that short sentences may add to the row at hand."""
        self._said = 0
        """Number of words, from the row's first one on, that were spoken before their sentence was whole."""
        self._words_said: Sequence[SpokenWord] = ()
        """The last of them, if this plan has them."""

    def known(self, slack: float | None) -> Iterator[Segment]:
        """`segments` of a source that never waits."""
        return (item for item in self.segments(slack) if isinstance(item, Segment))

    def segments(self, slack: float | None) -> Iterator[Segment | TextMark]:
        """Segments of all the source's units, and the source's marks. `slack` is defined in `Row`."""
        units: list[Unit] = []
        while True:
            self._room = self._most
            while not self._fill(units, begun=slack is not None):
                if (opening := self._source.opening()) is None:
                    yield TextMark.HOLDING if units and not self._said else TextMark.WAITING
                elif (segment := self._opened(units, opening)) is not None:
                    self._source.spoke(opening.words)
                    yield segment
            if not units:
                mark = self._source.next_stretch()
                if mark is None:
                    return
                if mark is TextMark.FLUSH:
                    yield mark
                continue
            cuts: Cuts
            if self._speaks_text:
                cuts = [(end, 0.0) for end in Row(units, self._costs_at, self._minimum).sentence_ends()]
            else:
                row = Row(units[: self._reach(units)], self._costs_at, self._minimum)
                cuts = best_cuts(row, slack)
                if len(row.units) < len(units):
                    cuts = cuts[:-1] or cuts
                elif slack is None and not self._source.grows:
                    # The units after the first segment are planned again when more of the text is known.
                    cuts = cuts[:1]
            start = 0
            for end, after in cuts:
                if slack is None and (segment := self._opening(units[start:end])) is not None:
                    yield segment
                if (segment := self._unsaid(units[start:end])) is not None:
                    yield segment
                start, slack = end, after
            del units[:start]

    def _opened(self, held: Sequence[Unit], opening: BegunSentence) -> Segment | None:
        """The part of the held units and of a sentence's beginning that can be spoken; None if there is none."""
        units = [*held, *opening.units]
        words = len(words_of(held)) + opening.words
        self._said = max(self._said, len(words_of(held)) + opening.said if opening.said else 0)
        if not opening.words or words <= self._said:
            return None
        whole = _segment(units)
        if whole.tokens > self._most or any(parts(one, other) for one, other in pairwise(units)):
            return None
        segment = _part_of(whole, self._said, words, Cut.SEAM, self._words_said)
        self._said, self._words_said = words, segment.words
        return replace(segment, styled=max(whole.tokens, USUAL))

    def _opening(self, units: Sequence[Unit]) -> Segment | None:
        """The first words of a long first segment, which sound before the prosody of all of it is made; None if it is
        short or begun, or if the rest could come late."""
        length = sum(map(_length, units)) - len(units[0].lead)
        if self._said or not 0 < self._opens_from <= length:
            return None
        there = next(place for place, reached in enumerate(accumulate(map(_length, units)), 1) if reached >= BEGUN)
        words = len(words_of(units[:there])) - BEHIND
        if words < 1 or there == len(units):
            return None
        opening = _part_of(_segment(units[:there]), 0, words, Cut.SEAM, ())
        costs = self._costs_at(opening.rate)[0]
        audio = costs.audio_per_token * opening.tokens
        slack = audio - costs.per_audio * (audio - costs.first_block)
        if costs.first_audio(length, 1.0) * MARGIN > slack:
            return None
        self._said, self._words_said = words, opening.words
        return replace(opening, styled=length)

    def _unsaid(self, units: Sequence[Unit]) -> Segment | None:
        """The segment of these units, without its words that were spoken before; None if all were."""
        whole = _segment(units)
        if not (said := self._said):
            return whole
        count = len(words_of(units))
        self._said = max(said - count, 0)
        return _part_of(whole, said, count, whole.cut, self._words_said) if said < count else None

    def _fill(self, units: list[Unit], begun: bool) -> bool:
        """Take sentences until the units suffice for a segment, and short sentences after them that can't stand alone.

        Before the first segment is sent (`begun` is false), only necessary sentences are taken: pronouncing each takes
        time. Returns False if a necessary sentence isn't written yet; call it again then.
        """
        if not units and not self._take(units):
            return False
        if self._speaks_text:
            return True
        while units and not _has_tokens(_last_stretch(units), self._minimum):
            following = self._joining(units)
            if following is None:
                return False
            if not (following and self._take(units)):
                break
        while begun and units and self._room > 0 and not self._source.grows:
            following = self._joining(units)
            if not following or _has_tokens(reversed(following), self._minimum):
                break
            self._room -= sum(map(_length, following))
            self._take(units)
        return True

    def _take(self, units: list[Unit]) -> bool:
        """Add the next sentence, if there is one; returns False if it isn't written yet."""
        sentence = self._source.take()
        if said := self._source.said:
            self._said = max(self._said, len(words_of(units)) + said)
        units += sentence or ()
        return sentence is not None

    def _joining(self, units: list[Unit]) -> Sentence | None:
        """The next sentence if it may be in one segment with the units, else an empty one; None if it isn't written
        yet."""
        numbered = units[0].sentence is not None
        if numbered or units[-1].cut is Cut.PARAGRAPH or units[-1].pause is not None:
            return ()  # decided without pronouncing the next sentence, or waiting for it
        following = self._source.peek()
        return () if following and parts(units[-1], following[0]) else following

    def _reach(self, units: list[Unit]) -> int:
        """Number of units that are planned together."""
        length = 0
        most = max(2 * self._costs_at(units[0].rate)[1], _AT_ONCE)
        for place, unit in enumerate(units):
            length += _length(unit)
            if length > most and place:
                return place
        return len(units)


def _length(unit: Unit) -> int:
    """Length of a unit in tokens."""
    return len(unit.lead) + len(unit.script)


def _has_tokens(backwards: Iterable[Unit], tokens: int) -> bool:
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


def _part_of(segment: Segment, first: int, last: int, cut: Cut, said: Sequence[SpokenWord]) -> Segment:
    """The part of a segment from its word number `first` on to that before number `last`. Words that are inflected
    together with the last one of `said`, the words before the part, go on as that one was said: no pitch jumps at a
    seam. (A rise begins at the pitch that is there.)"""
    begins: list[int] = []
    for word in segment.words:
        begins += [word.start] * len(word.written.split())
    begin = begins[first]
    end = begins[last] if last < len(begins) else len(segment.script)
    words = [word for word in segment.words if begin <= word.start < max(end, begin + 1)]
    former = next((word.inflection for word in reversed(segment.words) if word.start < begin), None)
    if said and former and not former.rise:
        together = len(list(takewhile(lambda word: word.inflection == former, words)))
        words[:together] = [replace(word, inflection=said[-1].inflection) for word in words[:together]]
    return replace(segment, part=(begin, end), tokens=max(end - begin, 1), words=tuple(words), cut=cut)


def _segment(units: Sequence[Unit]) -> Segment:
    script = units[0].script + "".join(unit.lead + unit.script for unit in units[1:])
    words: list[SpokenWord] = []
    position = -len(units[0].lead)
    for unit in units:
        position += len(unit.lead)
        for word in unit.words:
            add_word(words, replace(word, start=word.start + position, end=word.end + position))
        position += len(unit.script)
    last = units[-1]
    text = " ".join(unit.text for unit in units if unit.text)
    return Segment(
        text,
        script,
        len(script),
        last.cut,
        tuple(words),
        last.rate,
        last.pause,
        last.performer,
        last.score,
        tuple(units),
    )
