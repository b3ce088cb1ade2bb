"""Types that the text pipeline returns: units, sentences of units, and segments, each of which an engine synthesises in
one run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from shm.engine_info import EngineInfo
from shm.inflection import PLAIN, InflectedSpan, Inflection
from shm.score import Score
from text.words.performer import Performer


class PhonemeSource(StrEnum):
    """Source of a word's phonemes, in the order in which sources are tried."""

    USER = "user"
    """Pronunciation from the user's lexicon, or from markup in the text."""
    LEXICON = "lexicon"
    ESPEAK = "espeak"
    LETTERS = "letters"
    NONE = "none"
    """No pronunciation: the word has only punctuation and symbols, or no source knows it."""

    @classmethod
    def weakest(cls, sources: Collection[PhonemeSource]) -> PhonemeSource:
        """The least reliable source of a word's parts; NONE if no part has phonemes."""
        return next((source for source in (cls.LETTERS, cls.ESPEAK, cls.LEXICON) if source in sources), cls.NONE)


class Word(msgspec.Struct, frozen=True):
    """Text between two spaces of a sentence, punctuation included, with its phonemes."""

    text: str
    phonemes: str
    """Phonemes of the word; punctuation that the model knows keeps its place in them."""
    source: PhonemeSource
    joins: bool = False
    """True if the phonemes continue those of the word before without a space: both are one spoken word."""
    bookmarks: tuple[str, ...] = ()
    """Names of the bookmarks that stand before the word."""
    inflection: Inflection | None = None
    """The word's inflection; None: the engine's own."""


class Cut(StrEnum):
    """Kind of boundary at the end of a unit or a segment."""

    PARAGRAPH = "paragraph"
    SENTENCE = "sentence"
    CLAUSE = "clause"
    PHRASE = "phrase"
    WORD = "word"
    INSIDE = "inside"
    """Cut inside a word; only words longer than the engine's limit are cut inside."""
    SEAM = "seam"
    """No boundary: the rest of the sentence follows as if both were one run."""


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """Word as the user wrote it, with its span of a script."""

    written: str
    """Word in the user's spelling; "" if it continues a word of the unit or segment before."""
    said: str
    """Normalised word ("twenty twenty-six"); "" if a part of a word was said with the part before it."""
    start: int
    end: int
    """Span in characters of the script of the unit or segment that holds the word; start equals end if the script has
    nothing for it.
    """
    bookmarks: tuple[str, ...] = ()
    """Names of the bookmarks that stand before the word."""
    bookmarks_after: tuple[str, ...] = ()
    """Names of the bookmarks after the word, if no word follows in the text."""
    inflection: Inflection | None = None
    """The word's inflection; None: the engine's own."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Smallest piece of speech that a segment plan can separate: at least one word that sounds, with the silent words
    around it.
    """

    text: str
    """Normalised text of the unit."""
    script: str
    """Engine input for the unit: phonemes of its vocabulary, or text (`Notation.speaks`)."""
    lead: str
    """Separator between this unit's script and that of the unit before it, if both are in one segment."""
    cut: Cut
    """Kind of boundary after the unit."""
    words: tuple[SpokenWord, ...] = ()
    rate: float = 1.0
    """Speaking rate that markup asks for, times the request's speed. All of a segment has one rate."""
    pause: float | None = None
    """Silence after the unit in seconds, set by markup in place of the cut's own pause; a segment ends here. None: the
    cut decides.
    """
    ends: bool = False
    """True if a segment ends here, at a cut mark of the user's own."""
    performer: Performer | None = None
    """Performer of the unit, if the text has several; None: the request's own. All of a segment has one performer."""
    sentence: SentenceStart | None = None
    """The sentence that begins with this unit, where sentences are numbered: a segment ends before it. None inside a
    sentence, and where sentences aren't numbered."""
    score: Score = ()
    """An edited score of the unit, which is a segment of its own (`ends`); empty: as the engine says it."""


@dataclass(frozen=True, slots=True)
class SentenceStart:
    """A sentence of a request's text."""

    number: int
    """Place of the sentence in the text, from 0."""
    text: str
    """The sentence as the user wrote it, with single spaces."""


_OBSTRUENTS = frozenset('pbtdkɡfvszʃʒθðʧʤxhTʔ;:,.!?—…"()“” ')
"""Phonemes and signs without a tone of their own."""

Sentence = tuple[Unit, ...]
"""Sentence of at least one unit. The last unit's cut is SENTENCE or PARAGRAPH, or the place where an overlong sentence
was split.
"""


@dataclass(frozen=True, slots=True)
class Continuation:
    """Boundary between two texts that are spoken one after the other."""

    cut: Cut | None = None
    """Kind of boundary, unless the first text ends with its paragraph; None: the first text's end decides."""
    pause: float | None = None
    """Silence between the texts in seconds; None: the cut decides."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Stretch of text that is spoken in one prosody pass."""

    text: str
    """Normalised text of the segment; a text's segments hold each of its words once, in order."""
    script: str
    """Engine input for the segment: phonemes of its vocabulary, or the text itself (`Notation.speaks`)."""
    tokens: int
    """Length of the script as the engine counts it."""
    cut: Cut
    words: tuple[SpokenWord, ...] = ()
    rate: float = 1.0
    pause: float | None = None
    """Silence after the segment in seconds, set by markup; None: the cut decides."""
    performer: Performer | None = None
    """Performer of the segment, if the text has several; None: the request's own."""
    score: Score = ()
    """The unit's score."""
    units: tuple[Unit, ...] = field(default=(), compare=False, repr=False)
    """Units of the segment, kept so that they can be planned again."""
    part: tuple[int, int] | None = None
    """Span of the script that is spoken, in characters; the rest only gives it its prosody. None: all of it."""
    styled: int = 0
    """Tokens of the sentence whose style the beginning of it has; 0: the script's own."""

    def inflected(self, around: Inflection = PLAIN) -> tuple[InflectedSpan, ...]:
        """The spans of the script that are to be said otherwise than the engine would say them.

        Args:
            around: the inflection of the whole text.
        """
        found: list[InflectedSpan] = []
        written = 0
        for word in self.words:
            inflection = (word.inflection or PLAIN).within(around)
            if word.start == word.end or inflection == PLAIN:
                continue
            following = (
                bool(found)
                and found[-1].inflection == inflection
                and not self.script[found[-1].end : word.start].strip()
                and not (inflection.rise and self.script[found[-1].end - 1] == ",")  # each item of a list rises
            )
            written = len(word.written) + (written if following else 0)
            start = found.pop().start if following else word.start
            if inflection.rise:
                stress = max(self.script.rfind(mark, start, word.end) for mark in "ˈˌ")
                before = msgspec.structs.replace(inflection, rise=0.0)
                if stress > start and before != PLAIN:
                    found.append(InflectedSpan(start, stress, before))
                start = max(start, stress)
            found.append(InflectedSpan(start, word.end, inflection, inflection.duration * written))
        return tuple(part for span in found for part in self._risen(span))

    def _risen(self, span: InflectedSpan) -> Iterator[InflectedSpan]:
        """The span up to its last vowel, nasal or glide, and the rest: in obstruents nobody hears a pitch."""
        last = max((place for place in range(span.start, span.end) if self.script[place] not in _OBSTRUENTS), default=0)
        after = msgspec.structs.replace(span.inflection, rise=0.0)
        if last <= span.start or span.seconds or not span.inflection.rise:
            yield span
            return
        yield InflectedSpan(span.start, last + 1, span.inflection)
        if last + 1 < span.end and after != PLAIN:
            yield InflectedSpan(last + 1, span.end, after)


@dataclass(frozen=True, slots=True)
class Notation:
    """Input that an engine accepts: phonemes or text, its vocabulary, and its limit for one run."""

    speaks: str
    vocabulary: frozenset[str]
    max_tokens: int

    @classmethod
    def of(cls, engine: EngineInfo) -> Notation:
        return cls(engine.speaks, frozenset(engine.vocabulary), engine.max_tokens)
