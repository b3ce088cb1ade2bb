"""Pauses and sentence endings that a text's layout calls for: after headings, list items and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from text.locales.tables import table
from text.sentences.sentences import LIST_MARKER
from text.units.segmentation import pronounceable
from text.words.segment import Cut, Notation, Sentence, Word

_QUESTION_END = re.compile(r"\?[!?]*[\"'”’)\]»*_]*$")
_CLAUSE = re.compile(r"[,;:—–…)\"”]+$|\.{3}$")
_WORDS = {kind: frozenset(words) for kind, words in table("en", "questions").items()}


def rises(words: Sequence[str]) -> bool:
    """True if the words, in order and with their punctuation, are an English question that rises.

    >>> rises("Are you coming ?".split()), rises("Where are you going?".split()), rises("Tea or coffee?".split())
    (True, False, False)
    """
    written = [word for word in words if re.search(r"\w|\?", word)]
    if not written or not _QUESTION_END.search(written[-1]):
        return False
    clauses = _clauses(written)
    if any(_WORDS["choice"].intersection(clause) for clause in clauses):
        return False
    kinds = [_kind(clause) for clause in clauses]
    if len(clauses) > 1 and kinds[-1] == "auxiliary" and _is_tag(clauses[-1]):
        return False
    last = max((place for place, kind in enumerate(kinds) if kind), default=None)
    if last is None:
        return clauses[-1][-1] not in _WORDS["question_words"]
    if kinds[last] == "question word":
        # "Did you know that, when it freezes, it grows?" asks with its first clause.
        return last + 1 < len(kinds) and "auxiliary" in kinds[:last]
    return True


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """The clauses as words in lower case, without punctuation and without what opens a clause; none is empty."""
    found: list[list[str]] = [[]]
    for word in words:
        bare = re.sub(r"^\W+|\W+$", "", word.replace("’", "'")).lower()
        if bare and (found[-1] or bare not in _WORDS["openers"]):
            found[-1].append(bare)
        if _CLAUSE.search(word):
            found.append([])
    return [clause for clause in found if clause] or [["yes"]]


def _kind(clause: Sequence[str]) -> str:
    """`question word`, `auxiliary`, or nothing, by how a clause begins."""
    first = clause[1] if clause[0] in _WORDS["prepositions"] and len(clause) > 1 else clause[0]
    if first.partition("'")[0] in _WORDS["question_words"]:
        return "question word"
    return "auxiliary" if clause[0] in _WORDS["auxiliaries"] or clause[0].endswith("n't") else ""


def _is_tag(clause: Sequence[str]) -> bool:
    return len(clause) == 2 and clause[1] in _WORDS["pronouns"]


_HEADING = re.compile(r"#{1,6} |<h[1-6][ >]", re.IGNORECASE)
_UNDERLINE = re.compile(r"\n(?:={3,}|-{3,}) *(?:\n|$)")
_QUOTED = re.compile(r"(?:> ?)+")
_REST = re.compile(r"[^\w\n]*(?:</\w{1,10}>[^\w\n]*)*(?=\n|$)")
_ENDS = tuple(".!?…:;,。！？、，；：।")
_LINE_END = re.compile(r"\n[ \t]*(?:> ?)*")
_OPENING = ("“", "«", "„", "「", '"')
_CLOSING = ("”", "»", "」", '"')
_LONGEST_TITLE = 60
"""Most characters of a line without a full stop, between blank lines, that counts as a heading."""


class LayoutElement(StrEnum):
    """Layout element that a sentence ends: a heading, an item of a list, its last item, or running text."""

    HEADING = "heading"
    ITEM = "item"
    LAST_ITEM = "last item"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses after layout elements and at marks inside sentences, in seconds at speed 1.

    None leaves the pause after a layout element to the stream's joins, and the pause at a
    mark to the model.
    """

    heading: float | None = 0.9
    item: float | None = 0.5
    paragraph: float | None = None
    dash: float | None = None
    ellipsis: float | None = None
    parenthesis: float | None = None
    quotation: float | None = None

    def after(self, place: LayoutElement, cut: Cut) -> float | None:
        """Pause in seconds after a sentence; None if the layout sets none."""
        if place is LayoutElement.HEADING:
            return self.heading
        if place in (LayoutElement.ITEM, LayoutElement.LAST_ITEM) and cut is not Cut.PARAGRAPH:
            return self.item
        return self.paragraph if cut is Cut.PARAGRAPH else None

    def between(self, text: str, following: str) -> float | None:
        """Pause in seconds between two units of one sentence; None if no mark there has a pause of its own.

        Args:
            text, following: the units' texts.
        """
        bare = text.rstrip("\"'”’»*_")
        if following.lstrip("\"'“‘«*_").startswith(("(", "（", "[")) or bare.endswith((")", "）", "]")):
            return self.parenthesis
        if bare.endswith(("…", "..")):
            return self.ellipsis
        if bare.endswith(("—", "–", "--", " -")):
            return self.dash
        opens = following.startswith(_OPENING)
        return self.quotation if opens or (text.endswith(_CLOSING) and len(text) > 1) else None


def place_of(text: str, start: int, end: int) -> LayoutElement:
    """Layout element that ends with the sentence in `text[start:end]` of a sanitised text. The time is linear in the
    length of its lines.
    """
    rest = _REST.match(text, end)
    if rest is None:
        return LayoutElement.TEXT
    first = text.rfind("\n", 0, start) + 1
    line = text[first : rest.end()]
    quoted = _QUOTED.match(line)
    bare = line[quoted.end() :] if quoted else line
    if _HEADING.match(bare) or ("\n" not in line and _UNDERLINE.match(text, rest.end())):
        return LayoutElement.HEADING
    if LIST_MARKER.match(bare):
        goes_on = (line_end := _LINE_END.match(text, rest.end())) and LIST_MARKER.match(text, line_end.end())
        return LayoutElement.ITEM if goes_on else LayoutElement.LAST_ITEM
    alone = (first == 0 or text.startswith("\n\n", first - 2)) and text.startswith("\n\n", rest.end())
    short = len(bare) <= _LONGEST_TITLE and "\n" not in bare and not bare.rstrip("\"'”’»)*_").endswith(_ENDS)
    return LayoutElement.HEADING if alone and short and not quoted else LayoutElement.TEXT


def with_full_stop(words: Sequence[Word], notation: Notation) -> list[Word]:
    """Words of a line, with a full stop added if it ends without a mark: its intonation then falls, as a sentence's
    does.
    """
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


def with_inner_pauses(sentence: Sentence, pauses: Pauses, speed: float) -> Sentence:
    """The sentence with the settings' pauses at dashes, ellipses, parentheses and quotations, unless markup sets one
    there already.
    """
    if not any((pauses.dash, pauses.ellipsis, pauses.parenthesis, pauses.quotation)):
        return sentence
    units = list(sentence)
    for place, (unit, following) in enumerate(pairwise(sentence)):
        pause = pauses.between(unit.text, following.text)
        if pause and unit.pause is None:
            units[place] = replace(unit, pause=pause / speed)
    return tuple(units)
