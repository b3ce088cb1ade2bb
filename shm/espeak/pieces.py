"""Splitting of text into pieces that espeak-ng 1.52 speaks completely: some texts crash it, and it drops the end of a
long clause.

Experiments in separate processes, with random texts in every language, found these crashes: a hyphen between a sign and
a letter where scripts change (")-ह", "---ह"), words of over 130 characters ("s's's'..."), and clauses from which it
makes too many words or sounds ("a.a.a.", 160 characters and more). Shorter clauses lose all phonemes after the first
1,000: 200 Chinese characters or 50 pictures without a comma reach that.

Other causes may exist; such a text costs the espeak-ng helper process that speaks it. An ordinary text is one piece
and, except for a hyphen next to a bracket, unchanged: pieces are cut only inside clauses that are too long for
espeak-ng.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_MAX_WORD = 40
"""Longest word in characters: espeak-ng takes 160 bytes of UTF-8, and no character takes more than four."""

_MAX_CLAUSE = 400
"""Largest weight of a clause, as counted by `_WEIGHTS`: about 300 letters in words of usual length."""

_WEIGHTS = {" ": 1, "a": 1, "w": 3, "C": 15, "c": 6, "0": 4, ".": 4, "$": 15}
"""Approximate number of phonemes that espeak-ng needs to name a character, by kind of character; `w` is a word's first
letter.

`C` is a capital inside a word: espeak-ng begins a new word there, and many of them may crash it ("aBcDeF...").
"""

_FIRST_IDEOGRAPH = 0x2E80
"""First code point of the East Asian scripts, in which espeak-ng makes a word of each character."""

_HYPHENS = re.compile("-+")

# espeak-ng always ends a clause at these marks. After a full stop it looks at the next character: "e.g. this", "J. S.
# Bach".
_CLAUSE_END = re.compile(r"[,;:!?…](?=\s)|(?<=\w\w\w)\.(?=\s+[^\W\da-z])|[。，、；：！？।॥]")


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of text that espeak-ng speaks at once."""

    text: str
    places: tuple[int, ...]
    """Place in the script of each character of `text`, rising; characters that stand for one place together share it.
    """


def pieces(script: str) -> list[TextPiece]:
    """Pieces to speak one after another; together they are the script, without characters that have no sound.

    Control characters and lone surrogates become spaces: NUL would end the text, and others begin espeak-ng's embedded
    commands. Words over `_MAX_WORD` characters get spaces. Takes linear time.
    """
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in script)
    text, places = _joined(_harmless_hyphens(plain))
    text, shortened = _joined(_shorter_words(text))
    found: list[TextPiece] = []
    start = 0
    for part in _cut(text):
        end = start + len(part)
        found.append(TextPiece(part, tuple(places[place] for place in shortened[start:end])))
        start = end
    return found


def _joined(parts: Iterator[tuple[str, list[int]]]) -> tuple[str, list[int]]:
    texts: list[str] = []
    places: list[int] = []
    for text, where in parts:
        texts.append(text)
        places += where
    return "".join(texts), places


def _harmless_hyphens(text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield parts of the text, with crashing hyphens replaced, and their characters' places in the text."""
    done = 0
    for hyphens in _HYPHENS.finditer(text):
        start, end = hyphens.span()
        yield text[done:start], list(range(done, start))
        instead = _harmless(hyphens)
        yield instead, [min(start + i, end - 1) for i in range(len(instead))]
        done = end
    yield text[done:], list(range(done, len(text)))


def _harmless(hyphens: re.Match[str]) -> str:
    text, length = hyphens.string, len(hyphens[0])
    before, after = text[hyphens.start() - 1 : hyphens.start()], text[hyphens.end() : hyphens.end() + 1]
    if not after or after.isspace() or (after.isascii() and not after.isalpha()):
        return hyphens[0]
    if length > 2:
        return " - "  # a spoken pause, as the row of hyphens would be
    joins = not before or before.isspace() or _kind(before) in "ac" or (before.isascii() and before.isdigit())
    return " " if _belongs_to_former(after) or (length == 1 and not joins) else hyphens[0]


def _shorter_words(text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield parts of the text, with spaces inside words that are too long, and their characters' places in the text."""
    length = 0
    for place, character in enumerate(text):
        length = length + 1 if _kind(character) in "a0" or character in "'’" else 0
        if length > _MAX_WORD and not _belongs_to_former(character):
            yield " ", [place]
            length = 1
        yield character, [place]


def _cut(text: str) -> list[str]:
    """Parts of a text, cut where a clause gets too heavy: after its last space, else after its last sign, else right
    there."""
    ends = {match.end() for match in _CLAUSE_END.finditer(text)}
    found: list[str] = []
    start = weight = space = sign = 0
    former = " "
    place = 0
    while place < len(text):
        if place in ends:
            weight = space = sign = 0
        kind = _kind(text[place])
        if kind != "a":
            weight += _WEIGHTS[kind]
        elif former != "a":
            weight += _WEIGHTS["w"]
        else:
            weight += _WEIGHTS["C" if text[place].isupper() and text[place - 1].islower() else "a"]
        if weight > _MAX_CLAUSE and not _belongs_to_former(text[place]):
            end = space or sign or place
            found.append(text[start:end])
            start = place = end
            weight = space = sign = 0
            former = " "
            continue
        place += 1
        former = kind
        if weight > _MAX_CLAUSE // 2:
            if kind == " ":
                space = place
            elif kind != "a":
                sign = place
    found.append(text[start:])
    return found


@cache
def _kind(character: str) -> str:
    """Kind of a character: `a` a letter or part of one, `c` an East Asian character, `0` a digit, `$` a symbol, `.`
    other signs."""
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category[0] == "M" or category == "Cf":
        return "a"
    if category[0] == "L":
        return "a" if ord(character) < _FIRST_IDEOGRAPH else "c"
    if category[0] == "N":
        return "0"
    return "." if category[0] == "P" else "$"


def _belongs_to_former(character: str) -> bool:
    """True if the character attaches to the one before it, such as a combining mark or a joiner."""
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
