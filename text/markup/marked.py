"""Text without its markup, and the annotations that the markup gave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from shm.inflection import Inflection
from text.markup.delimiters import ends_of_marks
from text.sentences.sentences import ends_sentence
from text.words.performer import Performer
from text.words.sanitize import sanitize
from text.words.segment import Continuation, Cut


class MarkupKind(StrEnum):
    """The notation of a request's text."""

    NONE = "none"
    """No markup: every character is text."""
    BASIC = "basic"
    """`[pause:1.5s]` and `[word](/ipa/)`, where nothing else is meant, and HTML's `lang`; other brackets are text."""
    TAGS = "tags"
    """`[pause:1.5s]`, `[word](/ipa/)`, `[voice:af_bella]` and `[rate:0.8]`; a tag with a fault is an error."""
    SSML = "ssml"


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """Pronunciation of a stretch, which no other rule changes."""

    start: int
    end: int
    phonemes: str
    """Phonemes in the alphabet of the text's language; empty if the stretch is read as written."""
    language: str = ""
    """Language by whose rules the stretch is pronounced as it is written, if that isn't the text's."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Speaking rate of a stretch. Rates don't overlap."""

    start: int
    end: int
    rate: float


@dataclass(frozen=True, slots=True)
class Inflected:
    """Inflection of a stretch. Inflected stretches don't overlap."""

    start: int
    end: int
    inflection: Inflection


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence at a place, after every word that begins before the place."""

    at: int
    seconds: float
    """Duration of the silence; 0 removes a pause that would be here."""


@dataclass(frozen=True, slots=True)
class SentenceEnd:
    """End of a sentence at a blank line that ends here, and that separates sentences, not paragraphs."""

    at: int


@dataclass(frozen=True, slots=True)
class SegmentEnd:
    """A user's own cut mark: a segment ends here, after every word that begins before the place."""

    at: int


@dataclass(frozen=True, slots=True)
class Entrance:
    """Place from which another performer speaks."""

    at: int
    performer: Performer | None
    """None: the performer of all text that names no voice."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """SSML's `mark`: a place before the next word whose time the client asks for."""

    at: int
    name: str


Annotation = Pronunciation | Rate | Inflected | Pause | SentenceEnd | SegmentEnd | Entrance | Bookmark


@dataclass(frozen=True, slots=True)
class Marked:
    """Text and its annotations. Positions are character indices of `text`, and rise within each kind of annotation."""

    text: str
    """Text that is sanitised already: `sanitize` doesn't change it."""
    annotations: tuple[Annotation, ...] = ()

    @classmethod
    def plain(cls, text: str) -> Marked:
        """Sanitised text without annotations."""
        return cls(sanitize(text))

    def ended_after(self, delimiters: str) -> Marked:
        """This text, in which segments end after each of a user's cut marks, and after the last of several in a row."""
        ends = [SegmentEnd(end) for end in ends_of_marks(delimiters, self.text)]
        return replace(self, annotations=(*self.annotations, *ends)) if ends else self

    def performed(self, performer: Performer, pause: float = 0.0) -> list[PerformedText]:
        """The parts that one performer each speaks, in order: `performer` those that name no voice.

        A part ends with the white space before the next one. One that ends within a sentence ("she said," before a
        quotation) ends like a clause, the text itself always like a sentence.

        Args:
            pause: seconds of silence after the text; 0: as long as after any sentence.
        """
        whole = Continuation(Cut.SENTENCE, pause or None)
        entrances = [each for each in self.annotations if isinstance(each, Entrance)]
        if not entrances:
            return [PerformedText(self, performer, whole)]
        if entrances[0].at > 0:
            entrances = [Entrance(0, None), *entrances]
        found = []
        for entrance, following in pairwise([*entrances, Entrance(len(self.text), None)]):
            part = self._cut(entrance.at, following.at)
            then = Continuation(Cut.SENTENCE if ends_sentence(part.text) else Cut.CLAUSE)
            found.append(PerformedText(part, entrance.performer or performer, then))
        found[-1] = replace(found[-1], then=whole)
        return found

    def _cut(self, start: int, end: int) -> Marked:
        found: list[Annotation] = []
        for each in self.annotations:
            match each:
                case Pause() | SentenceEnd() | SegmentEnd() if start < each.at <= end:
                    found.append(replace(each, at=each.at - start))
                case Bookmark() if start <= each.at < end or each.at == end == len(self.text):
                    found.append(replace(each, at=each.at - start))
                case Pronunciation() | Rate() | Inflected() if start <= each.start < end:
                    # A pronunciation doesn't cross a border; neither does what a builder was given in two stretches.
                    found.append(replace(each, start=each.start - start, end=min(each.end, end) - start))
        return Marked(self.text[start:end], tuple(found))


@dataclass(frozen=True, slots=True)
class PerformedText:
    """A stretch of text and its performer."""

    marked: Marked
    performer: Performer
    then: Continuation
    """The boundary to the next stretch."""
