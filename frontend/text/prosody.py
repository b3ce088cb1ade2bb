"""Pauses and endings that the layout of a text asks for: after headings, items of lists and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from frontend.text.lines import LIST_MARKER
from frontend.text.segment import Cut, Notation, Sentence
from frontend.text.segmentation import pronounceable
from frontend.text.word import Word

_HEADING = re.compile(r"#{1,6} |<h[1-6][ >]", re.IGNORECASE)
_UNDERLINE = re.compile(r"\n(?:={3,}|-{3,}) *(?:\n|$)")
_QUOTED = re.compile(r"(?:> ?)+")
_REST = re.compile(r"[^\w\n]*(?:</\w{1,10}>[^\w\n]*)*(?=\n|$)")
_ENDS = tuple(".!?…:;,。！？、，；：।")
_LONGEST_TITLE = 60
"""Characters of a line without a full stop between blank lines that is taken for a heading."""


class Place(StrEnum):
    """Where in the layout a sentence ends."""

    HEADING = "heading"
    ITEM = "item"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds of silence at speed 1. None leaves a place to the joiner's own pauses."""

    heading: float | None = 0.9
    item: float | None = 0.5
    paragraph: float | None = None

    def after(self, place: Place, cut: Cut) -> float | None:
        """The pause after a sentence."""
        if place is Place.HEADING:
            return self.heading
        if place is Place.ITEM and cut is not Cut.PARAGRAPH:
            return self.item
        return self.paragraph if cut is Cut.PARAGRAPH else None


def place_of(text: str, start: int, end: int) -> Place:
    """Where the sentence of a sanitised text that covers `text[start:end]` ends. Takes time in its lines' lengths."""
    rest = _REST.match(text, end)
    if rest is None:
        return Place.TEXT
    first = text.rfind("\n", 0, start) + 1
    line = text[first : rest.end()]
    quoted = _QUOTED.match(line)
    bare = line[quoted.end() :] if quoted else line
    if _HEADING.match(bare) or ("\n" not in line and _UNDERLINE.match(text, rest.end())):
        return Place.HEADING
    if LIST_MARKER.match(bare):
        return Place.ITEM
    alone = (first == 0 or text.startswith("\n\n", first - 2)) and text.startswith("\n\n", rest.end())
    short = len(bare) <= _LONGEST_TITLE and "\n" not in bare and not bare.rstrip("\"'”’»)*_").endswith(_ENDS)
    return Place.HEADING if alone and short and not quoted else Place.TEXT


def with_full_stop(words: Sequence[Word], notation: Notation) -> list[Word]:
    """The words of a line that ends without a mark, with a full stop: its melody then falls, as a sentence's does."""
    found = list(words)
    if notation.speaks != "phonemes" or "." not in notation.vocabulary:
        return found
    for place in range(len(found) - 1, -1, -1):
        word = found[place]
        if word.phonemes.rstrip('”")').endswith(_ENDS):
            break
        if pronounceable(word, notation):
            closed = word.phonemes.rstrip('”")')
            found[place] = replace(word, phonemes=f"{closed}.{word.phonemes[len(closed) :]}")
            break
    return found


def with_pause(sentence: Sentence, pause: float | None, speed: float) -> Sentence:
    """The sentence with a pause after it, unless markup asks for one there already."""
    if pause is None or not sentence or sentence[-1].pause is not None:
        return sentence
    return (*sentence[:-1], replace(sentence[-1], pause=pause / speed))
