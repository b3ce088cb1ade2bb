"""Text that is still being written: finds the sentences in it that no later word can change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from text.sentences import abbreviations
from text.sentences.sentences import FENCE, LIST_MARKER, sentence_ends
from text.words.sanitize import sanitize

LONGEST = 1000
"""Characters without a sentence's end after which the text is cut at a clause or a word: an endless sentence is spoken
before its end."""

_VIEWS = (LONGEST // 2, 2 * LONGEST)
"""Characters from the held text's start in which a sentence's end is looked for, before all of the text is: the time
for a text that is given in one piece grows with its length, not with the square of it."""

_UNWRITTEN = "\ue000"
"""A private character in place of the text to come: it keeps the white space before it from being stripped."""

_ANY_WORD = " Xylem Xylem"
"""Words that could follow any sentence. No abbreviation, title or list of sentence starters has them."""

_HEADING = re.compile(r"#{1,6} ")
_BLOCK = re.compile(rf"(?:#{{1,6}} |{LIST_MARKER.pattern})")
"""Start of a line that begins a new sentence whatever the line before it ends with."""

_LINE_END = re.compile(r"[\n\r]")

_NUMBER = re.compile(r"\d\.$")
_CLAUSE = re.compile(r".*(?:[,;:–—](?= )|[、，；：])", re.DOTALL)
_SPANS = ("`", "**", "__", "~~")
_BLOCKS = (("<table", "</table"), ("{|", "|}"), ('{"', "}"))
"""Signs between which cells or values belong together."""
_EMPHASIS = re.compile(r"(?<=\S)\*|\*(?=\S)")
_LINK = re.compile(r"\[[^\]\n]*$|\]\([^)\n]*$")


@dataclass(frozen=True, slots=True)
class WholeSentences:
    """Sentences that no later text can change."""

    text: str
    paragraph: bool = False
    """True if a paragraph ends after the piece."""


class Growth:
    """The part of a growing text that isn't complete yet. Call `add` with more text, then `take` until it gives None.

    Sentences end where `text.sentences.sentences` ends them in the whole text. A sentence is complete once the next
    one has begun, so "3." may still become 3.5, and "Dr." never ends one. Paragraphs and list items are complete at
    their ends. Markup that is open (a fence, emphasis, code, a link, a table, JSON) is never cut.
    """

    def __init__(self, language: str, whole: bool = False) -> None:
        """
        Args:
            language: a language code, as `text.words.language.language_of` returns it.
            whole: nothing is complete before `take_rest`: the text is a document of markup.
        """
        self._language = language.partition("-")[0]
        self._whole = whole
        self.text = ""
        """The text that isn't complete."""
        self._fence = ""
        """The sign of the fence that a long text begins with, while the fence is open."""
        self._line = 0
        """Start of the line that may close it: the last one that has begun."""
        self._looked = 0
        """Place up to which the ends of lines are known."""

    def __len__(self) -> int:
        return len(self.text)

    def add(self, text: str) -> None:
        """Append text, in pieces of any size."""
        self.text += text

    def take(self) -> WholeSentences | None:
        """Remove the next complete piece; None if no sentence is complete."""
        if self._whole or not self.text.strip() or not self._may_be_closed():
            return None
        for length in _VIEWS:
            if len(self.text) <= length:
                break
            end = self.text.rfind(" ", 0, length) + 1 or length
            if piece := self._first(self.text[:end], self.text[end:]):
                return piece
        if piece := self._first(self.text, ""):
            return piece
        if len(self.text) > _VIEWS[-1]:
            self._wait_for_fence()
        return None

    def take_all(self) -> str:
        """Remove all complete pieces, with the white space after them: what is taken and `text` are all of it."""
        self.text = before = sanitize(self.text + _UNWRITTEN).removesuffix(_UNWRITTEN)
        while self.take():
            pass
        return before[: len(before) - len(self.text)]

    def _first(self, text: str, rest: str) -> WholeSentences | None:
        """Remove the first piece that is complete in `text`, whatever follows it. `rest`: the held text after it."""
        clean = sanitize(text + _UNWRITTEN).removesuffix(_UNWRITTEN)
        fence = FENCE.search(clean)
        if fence and fence.start() == 0:
            closed = _closing(clean, fence)
            return self._cut(clean, rest, closed, paragraph=True) if closed else None
        open_end = len(clean) if fence is None else fence.start()
        if fence and clean[:open_end].strip():
            return self._cut(clean, rest, self._first_end(clean[:open_end]) or open_end, paragraph=False)
        blank = clean.find("\n\n")
        if blank >= 0:
            end = self._first_end(clean[:blank])
            return self._cut(clean, rest, end or blank, paragraph=not end)
        end = self._first_end(clean)
        if not end and len(clean) > LONGEST:
            clause = _CLAUSE.match(clean[:LONGEST])
            end = clause.end() if clause else clean.rfind(" ", 0, LONGEST) + 1 or LONGEST
        return self._cut(clean, rest, end, paragraph=False) if end else None

    def _wait_for_fence(self) -> None:
        """Look at new lines alone, until one closes the fence that the text begins with."""
        if fence := FENCE.search(sanitize(self.text[: _VIEWS[-1]])):
            self._fence = fence["fence"]
            self._line = self._looked = max(self.text.rfind("\n"), self.text.rfind("\r")) + 1

    def _may_be_closed(self) -> bool:
        """False while the text begins with a long fence that no line closes. Each character is looked at once."""
        if not self._fence:
            return True
        while end := _LINE_END.search(self.text, self._looked):
            line = self.text[self._line : end.start()]
            self._line = self._looked = end.end()
            if (fence := FENCE.match(sanitize(line))) and _closes(fence, self._fence):
                self._fence = ""
                return True
        self._looked = len(self.text)
        return False

    def take_ended(self) -> WholeSentences | None:
        """Remove all of the text if it looks like whole sentences: it ends as one ends, and not with a number."""
        bare = self.text.strip()
        if self._whole or not bare or _NUMBER.search(bare) or _is_open(bare):
            return None
        if FENCE.search(bare):
            return None
        line = sanitize(bare).replace("\n", " ")
        if len(line) not in sentence_ends(line + _ANY_WORD, self._language):
            return None
        return self.take_rest()

    def take_rest(self) -> WholeSentences | None:
        """Remove all of the text, whatever it ends with; None if it is blank."""
        rest, self.text, self._fence = self.text, "", ""
        return WholeSentences(rest) if rest.strip() else None

    def _first_end(self, block: str) -> int:
        """The end of the block's first sentence that more text can't move; 0 if there is none."""
        if block.startswith(("|", "+-", "{|")):
            return 0  # a table's rows are read with its head
        end = _line_end(block)
        line = block[: end or None].replace("\n", " ")
        # The word after the sentence may be half written: the end holds if it holds for a longer word, too.
        for found in sentence_ends(line, self._language):
            if found in sentence_ends(line + "x", self._language) and not _is_open(line[:found]):
                return found
        return end

    def _cut(self, clean: str, rest: str, end: int, paragraph: bool) -> WholeSentences:
        self.text = (clean[end:] + rest).lstrip("\n" if paragraph else " \n")
        return WholeSentences(clean[:end], paragraph)


def _line_end(block: str) -> int:
    """The end of the first line after which a new sentence begins: a heading's, or that before a list's next item."""
    start = 0
    while (end := block.find("\n", start)) >= 0:
        if _BLOCK.match(block, end + 1) or (start == 0 and _HEADING.match(block) and len(block) > end + 1):
            return end
        start = end + 1
    return 0


def _closing(clean: str, opening: re.Match[str]) -> int:
    """The end of the line that closes a fence; 0 if it isn't there whole."""
    sign = opening["fence"]
    for fence in FENCE.finditer(clean, opening.end()):
        if _closes(fence, sign) and fence.end() < len(clean):
            return fence.end()
    return 0


def _closes(fence: re.Match[str], sign: str) -> bool:
    """True if the fence closes one that was opened by that sign."""
    return fence["fence"].startswith(sign) and not fence["info"].strip()


def _is_open(text: str) -> bool:
    """True if inline markup that began in the text hasn't ended in it."""
    if any(text.count(begin) > text.count(end) for begin, end in _BLOCKS):
        return True
    bare = text
    for sign in _SPANS:
        if bare.count(sign) % 2:
            return True
        bare = bare.replace(sign, "")
    return len(_EMPHASIS.findall(bare)) % 2 == 1 or _LINK.search(bare) is not None


# The opening of a sentence that is still being written: its first words, which no later text can change.
#
# A word is settled if it is a plain one (letters, an apostrophe or a hyphen inside, a comma after it), and the two
# words after it are there whole and plain as well. Numbers, abbreviations, capitals, links, quotations and all signs
# may be changed by the next token, and so may be the words beside them: an opening ends before them.

HELD = 2
"""Words after a settled one that must be there: they decide how it is pronounced ("the end", "used to"), and give it
the melody of a sentence that goes on."""

SHORTEST = 3
"""Fewest words that are spoken before their sentence is whole, unless a comma ends them."""

_LONGER = {"hi": (3, 5)}
"""Both numbers for languages whose pitch is too far off with fewer words (docs/decisions/growing-text.md)."""

UNSPACED = {"ja": (3, 7), "cmn": (4, 8)}
"""Both numbers for languages without white space between words. Only their readers know their words, so the places of
their openings are characters."""

CLAUSE_ENDS = ",、，"

AHEAD = 6
"""Characters after a settled word of such a language that must be there: its readings look as far
(`text.east_asian.by_neighbours`)."""

_LEAST_UNSPACED = 18
"""Characters of such a language that seldom have fewer words than both numbers together."""

LONGEST_BEGUN = 200
"""Characters of a sentence after which no opening is looked for: the sentence is cut at a clause soon."""

_LOWER = "[a-zà-öø-ÿœ]"
_LATIN = re.compile(rf"(?:[A-ZÀ-ÖØ-Þ]?{_LOWER}*['’])?[A-ZÀ-ÖØ-Þa-zà-öø-ÿœ]{_LOWER}*(?:-{_LOWER}+)*,? ")
_PLAIN = {
    "en": re.compile(r"(?:I|A|[A-Za-z]?[a-z]+)(?:['’](?:s|t|re|ve|ll|d|m))?(?:-[a-z]+)*,? "),
    **dict.fromkeys(("es", "fr", "it", "pt"), _LATIN),
    "hi": re.compile("[\u0900-\u0963\u0970-\u097f]+,? "),
    "ja": re.compile("[\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff、，]"),
    "cmn": re.compile("[\u4e00-\u9fff、，]"),
}
"""A plain word of each language whose openings are spoken, with the white space after it; a character, where words have
none between them."""

_SHORTENED = frozenset((*abbreviations.TITLES, *abbreviations.STREETS, *abbreviations.ANYWHERE, *abbreviations.LABELS))
_MAY_BE_LOWER = frozenset(each.lower() for each in _SHORTENED if len(each) > 2)


class SettledWords(NamedTuple):
    """The beginning of a sentence."""

    text: str
    """All plain words that are there, without white space at the ends."""
    words: int
    """Number of them that are settled; in `UNSPACED` languages the number of characters, inside the last of which a
    word may be."""


def opening_of(text: str, language: str, *, clauses: bool = False) -> SettledWords | None:
    """The opening of a text that begins with a sentence which isn't whole; None if nothing of it can be spoken yet.

    Args:
        language: a language code, as `text.words.language.language_of` returns it.
        clauses: the settled words end with a clause.

    >>> opening_of("Well, the short answer is th", "en-us")
    SettledWords(text='Well, the short answer is', words=3)
    >>> opening_of("Well, the short answer is th", "en-us", clauses=True)
    SettledWords(text='Well, the short answer is', words=1)
    >>> opening_of("It costs 3", "en-us")
    """
    spoken = language.partition("-")[0]
    if (plain := _PLAIN.get(spoken)) is None:
        return None
    held, shortest = _LONGER.get(spoken, (HELD, SHORTEST))
    if spoken in UNSPACED:
        held, shortest = AHEAD, _LEAST_UNSPACED - AHEAD
    place = begin = len(text) - len(text.lstrip(" "))
    words: list[str] = []
    while (found := plain.match(text, place, LONGEST_BEGUN)) and not _is_shortened(found[0].rstrip(" ,")):
        words.append(found[0].rstrip(" "))
        place = found.end()
    settled = len(words) - held
    if clauses:
        settled = max(
            (at + 1 for at, word in enumerate(words[: max(settled, 0)]) if word[-1] in CLAUSE_ENDS), default=0
        )
    elif settled < shortest:
        return None
    return SettledWords(text[begin:place].rstrip(" "), settled) if settled > 0 else None


def _is_shortened(word: str) -> bool:
    return word in _SHORTENED or word in _MAY_BE_LOWER
