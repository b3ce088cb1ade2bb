"""Pauses and endings of sentences that a text's layout calls for; rules by which a text without markup is inflected.

English questions that can be answered by yes or no rise from their last stress on, and so do statements that ask;
questions with a question word fall, and choices rise until "or" (Quirk et al., A Comprehensive Grammar of the English
Language, 1985, 11.5 to 11.23). Tags ("isn't it?") do either, and are left to the model. Items of a list rise until
the last one, asides are lower and faster (Kutik, Cooper and Boyce, Declination of fundamental frequency in speakers'
production of parenthetical and main clauses, 1983), and clauses such as "said Anna" are lower than what is quoted
(Wells, English Intonation, 2006). A heading is higher and slower (Wichmann, Intonation in Text and Discourse, 2000).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import msgspec

from shm.inflection import PLAIN, Inflection
from text.locales.tables import table, word_list
from text.markup.inflections import STRESSES
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
            found[place] = msgspec.structs.replace(word, phonemes=f"{closed}.{word.phonemes[len(closed) :]}")
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


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as the rules see it."""

    words: Sequence[Word]
    written: Sequence[str]
    """The user's spelling of each word; "" if the word before has it already."""
    layout: LayoutElement = LayoutElement.TEXT

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]

    def from_stress(self, end: int) -> Iterator[int]:
        """Places before `end` from the last stress on: of the last `_WEAK` words that sound, or the last one."""
        sounding = [at for at in range(end) if any(map(str.isalpha, self.words[at].phonemes))][-_WEAK:]
        if sounding:
            stressed = [at for at in sounding if "ˈ" in self.words[at].phonemes]
            yield from range((stressed or sounding)[-1], sounding[-1] + 1)


_WEAK = 3
"""Number of last words among which the last stress is looked for."""


def _question(sentence: ReadSentence) -> Iterator[int]:
    if any("?" in text for text in sentence.texts[-2:]) and rises(sentence.texts):
        yield from sentence.from_stress(len(sentence.words))


_OR = re.compile(r"or", re.I)


def _choice(sentence: ReadSentence) -> Iterator[int]:
    """The words before the "or" of a question."""
    texts = sentence.texts
    if "?" in "".join(texts[-2:]):
        for at, text in enumerate(texts[:-1]):
            if at and _OR.fullmatch(text) and not _LEFT_OUT.fullmatch(texts[at + 1]):
                yield from sentence.from_stress(at)


_LEFT_OUT = re.compile(r"(?:so|not|more|less|two|else|something|anything|anyone|someone)\W*", re.I)
"""After "or" they choose nothing."""

_ITEM_WORDS = 3
"""Most words of a list's item, apart from the first one's."""

_ITEM_END = re.compile(r"\w[\"'”’)]*,$")
_LAST_ITEM = frozenset(["and", "or", "nor"])


def _list(sentence: ReadSentence) -> Iterator[int]:
    """Items of "apples, green pears, and bread" but the last one; there are at least three."""
    texts = sentence.texts
    for place, text in enumerate(texts[:-1]):
        if text.lower() in _LAST_ITEM:
            ends = [place]
            while before := [at for at in range(ends[-1] - 1) if _ITEM_END.search(texts[at])][-1:]:
                if ends[-1] - before[0] - 1 > _ITEM_WORDS:
                    break
                ends.append(before[0] + 1)
            for end in ends if len(ends) > 1 else ():
                yield from sentence.from_stress(end)


_LINE_WORDS = 6
"""Most words of a bulleted item that rises."""


def _item(sentence: ReadSentence) -> Iterator[int]:
    """A short line of a list, without a mark at its end, after which another one comes."""
    is_short = sentence.layout is LayoutElement.ITEM and len(sentence.words) <= _LINE_WORDS
    if is_short and re.search(r"\w[\"'”’)]*$", sentence.texts[-1]):
        yield from sentence.from_stress(len(sentence.words))


_ASIDE = 12
"""Most words of an aside."""

_DASH = re.compile(r"[—–]|--?")


def _aside(sentence: ReadSentence) -> Iterator[int]:
    """Words between parentheses or between two dashes, in a sentence that has others around them."""
    texts = sentence.texts
    begun: int | None = None
    for at, text in enumerate(texts):
        if begun is None and text.startswith("(") and at:
            begun = at
        if begun is not None and re.search(r"\)[.,;:!?…\"”’]*$", text):
            if at - begun < _ASIDE:
                yield from range(begun, at + 1)
            begun = None
    dashes = [at for at, text in enumerate(texts) if _DASH.fullmatch(text)]
    if len(dashes) == 2 and dashes[0] > 0 and 1 < dashes[1] - dashes[0] <= _ASIDE + 1 and dashes[1] + 1 < len(texts):
        yield from range(dashes[0] + 1, dashes[1])


def _heading(sentence: ReadSentence) -> Iterable[int]:
    return range(len(sentence.words)) if sentence.layout is LayoutElement.HEADING else ()


_SAID = word_list(table("en", "word_classes")["said"])
_REPORT = 8
"""Most words of a clause that tells who speaks."""


def _report(sentence: ReadSentence) -> Iterator[int]:
    """The words outside a quotation that tell who speaks."""
    texts = sentence.texts
    quoted, outside = False, []
    for at, text in enumerate(texts):
        opens, closes = re.match(r"[(\[]*[“\"«]", text), re.search(r"[”\"»][.,;:!?…)]*$", text)
        quoted |= bool(opens)
        if not quoted:
            outside.append(at)
        quoted &= not closes
    bare = {texts[at].strip(",.:;!?—").lower() for at in outside}
    if 1 < len(outside) <= _REPORT and len(outside) < len(texts) and bare & _SAID:
        yield from outside


STRESS = STRESSES["+0.5"]
"""Twice as much, listeners rate as less natural (`python -m benchmarks.inflections marks`)."""

_MARKED_WORDS = 6
"""Most words that one pair of Markdown's marks stresses; neither a sentence nor a long part of one is."""

_OPENS = re.compile(r"[\"'“‘«(\[]*(\*{1,3})(?=[\w\"'“‘«(])")
_CLOSES = re.compile(r"[\w.,;:!?…\"'”’»)](\*{1,3})(?:[^\w*]*|['’]s)$")
_CAPITALS = re.compile(r"\W*([A-Z]+(?:['’][A-Z]+)?)\W*")
_SHOUTED = word_list(table("en", "word_classes")["shouted"])


def _marked(sentence: ReadSentence) -> Iterator[int]:
    """Words between two marks of Markdown, the last of which closes what the first one opens."""
    written = sentence.written
    begun: tuple[int, str] | None = None
    for at, each in enumerate(written if any("*" in each for each in written) else ()):
        if begun is None and (mark := _OPENS.match(each)):
            begun = at, mark[1]
        if begun and (mark := _CLOSES.search(each)) and mark[1] == begun[1]:
            # A number may be several words, of which the first has the spelling.
            end = next((later for later in range(at + 1, len(written)) if written[later]), len(written))
            around = any(re.search(r"\w", word) for word in (*written[: begun[0]], *written[end:]))
            if around and end - begun[0] <= _MARKED_WORDS:
                yield from range(begun[0], end)
            begun = None


def _shouted(sentence: ReadSentence) -> list[int]:
    """Words in capitals that are no acronyms, in a sentence that has others."""
    written = sentence.written
    if not any(map(str.isupper, written)):
        return []
    sounding = [at for at, each in enumerate(written) if re.search(r"[^\W\d_]", each)]
    found = [at for at in sounding if (bare := _CAPITALS.fullmatch(written[at])) and bare[1].lower() in _SHOUTED]
    small = sum(any(map(str.islower, written[at])) for at in sounding)
    return found if small > len(found) else []


@dataclass(frozen=True, slots=True)
class ExpressionRule:
    """A kind of words, and how they are said."""

    inflection: Inflection
    find: Callable[[ReadSentence], Iterable[int]]
    """Places of the words."""
    english: bool = True
    """For English alone."""


RULES = {
    "marked": ExpressionRule(STRESS, _marked, english=False),
    "shouted": ExpressionRule(STRESS, _shouted),
    "question": ExpressionRule(Inflection(rise=10.0), _question),
    "choice": ExpressionRule(Inflection(rise=5.0), _choice),
    "list": ExpressionRule(Inflection(rise=4.0), _list),
    "item": ExpressionRule(Inflection(rise=4.0), _item),
    "aside": ExpressionRule(Inflection(pitch=-1.5, stretch=0.96), _aside),
    "heading": ExpressionRule(Inflection(pitch=1.0, stretch=1.06, volume=1.0), _heading),
    "report": ExpressionRule(Inflection(pitch=-1.5, range=0.85, volume=-1.0), _report),
}


def expressed(sentence: ReadSentence, language: str, degree: float = 1.0) -> list[Word]:
    """The words, with the inflections of all rules that find some, to a degree; 0 leaves the words as they are."""
    words = list(sentence.words)
    for rule in RULES.values() if degree else ():
        if not rule.english or language.startswith("en"):
            inflection = rule.inflection.times(degree)
            for at in dict.fromkeys(rule.find(sentence)):
                word = words[at]
                words[at] = msgspec.structs.replace(word, inflection=inflection.within(word.inflection or PLAIN))
    return words
