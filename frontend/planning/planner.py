"""Decides where a text is cut into segments: soon for the first sound, seldom inside sentences, ahead of playback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from frontend.planning.minimum import MIN_FIRST_TOKENS
from frontend.planning.profile import Profile
from frontend.planning.row import Cost, Cuts, Row, parts
from frontend.planning.search import best_cuts
from frontend.text.segment import Cut, Notation, Segment, Sentence, SpokenWord, Unit
from frontend.text.segmentation import add_word

_AT_ONCE = 300
"""Tokens that are planned at once, or twice a segment's limit. More would hardly change a cut, and cost time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one segment."""

    max_tokens: int = 400
    """More take a lot of memory: 630 MB in windows, 860 MB whole."""
    max_segment_seconds: float = 2.7
    """Of work, on an engine that makes segments whole: a newcomer waits for one at most. It is not held to under
    `2 * min_first_tokens`, where a segment couldn't be cut without becoming too short."""
    min_first_tokens: int = MIN_FIRST_TOKENS
    """No segment is shorter where that can be."""


def plan(
    sentences: Iterable[Sentence], profile: Profile, speed: float, notation: Notation, limits: Limits
) -> Iterator[Segment]:
    """The text's segments, in order, each unit in one of them. Pure: the same arguments, the same segments.

    What is minimised is the time until the first sound, plus prices for bad cuts, plus a steep one for the silence
    that the profile predicts (`frontend.planning.row`). Lazy: the first segment needs the first sentence only, unless
    that is shorter than the minimum; later ones need one sentence more than they hold. Each is planned in a row of a
    bounded number of tokens, so time is linear.

    A segment never goes on behind a paragraph's end, a pause or a change of pace that markup asks for. Where an engine
    speaks text, sentences stay whole: it has prosody of its own, and its work is next to nothing.
    """
    yield from _Planner(_Source(sentences), profile, speed, notation, limits).segments(None)


def replan(
    units: Sequence[Unit], slack: float, profile: Profile, speed: float, notation: Notation, limits: Limits
) -> list[Segment]:
    """The rest of a stream again, in smaller segments where otherwise the listener would hear a gap. As pure.

    Args:
        units: of the segments that no worker has (`Segment.units`), in order.
        slack: seconds from when a worker could begin with them until the listener's audio ends; 0 if it has ended.
    """
    sentences = [tuple(units)] if units else []
    return list(_Planner(_Source(sentences), profile, speed, notation, limits).segments(slack))


class _Source:
    """Sentences, with a look at the next one."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._rest = iter(sentences)
        self._ahead: Sentence | None = None

    def peek(self) -> Sentence:
        """The next one; empty when there is none."""
        if self._ahead is None:
            self._ahead = next(self._rest, ())
        return self._ahead

    def take(self) -> Sentence:
        """The same, which then is not the next one any more."""
        sentence = self.peek()
        self._ahead = None if sentence else ()
        return sentence


class _Planner:
    def __init__(self, source: _Source, profile: Profile, speed: float, notation: Notation, limits: Limits) -> None:
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
        """All of the source's. See `Row` for slack."""
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
                    # What follows the first one is planned again, when more of the text is known.
                    cuts = cuts[:1]
            start = 0
            for end, after in cuts:
                yield _segment(units[start:end])
                start, slack = end, after
            del units[:start]

    def _fill(self, units: list[Unit], begun: bool) -> None:
        """Takes sentences until a segment can be made, and what is too short to be one from behind them.

        Before anything was sent only what is needed: each sentence takes time to pronounce.
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
            return False  # known without the next sentence
        following = self._source.peek()
        return bool(following) and not parts(units[-1], following[0])

    def _reach(self, units: list[Unit]) -> int:
        """How many units are planned at once."""
        length = 0
        most = max(2 * self._cost_at(units[0].rate).limit, _AT_ONCE)
        for place, unit in enumerate(units):
            length += _length(unit)
            if length > most and place:
                return place
        return len(units)


def _length(unit: Unit) -> int:
    """Tokens."""
    return len(unit.lead) + len(unit.script)


def _have(backwards: Iterable[Unit], tokens: int) -> bool:
    """Whether a segment of them would have so many; units from the last one on, no more than it needs to tell."""
    length = 0
    for unit in backwards:
        length += len(unit.script)
        if length >= tokens:
            return True
        length += len(unit.lead)
    return False


def _last_stretch(units: Sequence[Unit]) -> Iterator[Unit]:
    """Those behind the last place at which a segment must end, from the last one on."""
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
