"""Punctuation marks of all languages as misaki's alphabet knows them, and character classes: part of a word, read
aloud, silent.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_MARKS = {
    ".": ".。．｡।॥۔",
    ",": ",，、､،",
    "!": "!！‼",
    "?": "?？⁇⁈⁉؟",
    ":": ":：",
    ";": ";；؛",
    "…": "…⋯",
    "—": "—–―‒～〜",
    "“": "“„«‹「『《〈【",
    "”": "”»›」』》〉】",
    "(": "([{（［｛",
    ")": ")]}）］｝",
}

MARKS = {written: mark for mark, all_written in _MARKS.items() for written in all_written}
"""Counterpart in misaki's alphabet for each punctuation mark. The straight quote is missing: its counterpart depends on
its position.
"""

APOSTROPHES = "'’‘ʼ＇"
HYPHENS = "-‐‑"

_READ_SIGNS = frozenset("%&@#§‰\\")
_MUTE_SYMBOLS = frozenset("|<>~^`´¨*")
_FIRST_PICTURE = 0x2190
_JOINERS = "\u200c\u200d"


@cache
def kind(character: str) -> str:
    """Class of a character within a word, as a single character.

    `a` is part of a word, `0` a digit, `'` an apostrophe, `-` a hyphen, `m` a mark with a counterpart in `MARKS`, `"`
    the straight quote, `$` a currency sign, `s` another sign that has a name, `x` silent (emoji and other pictures,
    controls, signs used for layout), and `.`, `,`, `:`, `/`, `_` are themselves.
    """
    category = unicodedata.category(character)
    if character in '.,:/_"':
        return character
    if character in APOSTROPHES:
        return "'"
    if character in HYPHENS:
        return "-"
    if character in MARKS:
        return "m"
    if character in _READ_SIGNS:
        return "s"
    if category[0] in "LM" or character in _JOINERS:
        # Variation selectors and enclosing marks only decorate emoji, so they are silent.
        return "x" if category == "Me" or 0xFE00 <= ord(character) <= 0xFE0F else "a"
    if category[0] == "N":
        return "0" if category == "Nd" else "s"
    if category == "Sc":
        return "$"
    if category == "Sm" or (category == "So" and (ord(character) < _FIRST_PICTURE or _is_abbreviation(character))):
        return "x" if character in _MUTE_SYMBOLS else "s"
    return "x"


def _is_abbreviation(character: str) -> bool:
    """True for a single character that abbreviates letters or digits (㎏, ㈱)."""
    return unicodedata.normalize("NFKC", character) != character


def kinds(text: str) -> str:
    """Classes (`kind`) of a text's characters, in a string as long as the text."""
    return "".join(map(kind, text))


_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SPOKEN_SIGNS = frozenset("%&@#§‰")
_SILENT_SYMBOLS = frozenset("|<>~^`´¨\ufffd")


def speakable(text: str) -> bool:
    """True if a text has a character that is read aloud: a letter, a digit, or a sign that has a name (€, +, %, 😀)."""
    return _LETTER_OR_DIGIT.search(text) is not None or any(map(is_spoken, set(text)))


@cache
def is_spoken(character: str) -> bool:
    if character.isalnum() or character in _SPOKEN_SIGNS:
        return True
    return unicodedata.category(character) in ("Sc", "Sm", "So") and character not in _SILENT_SYMBOLS


@cache
def is_phone(character: str) -> bool:
    """True if a phoneme character sounds by itself, unlike stress, length and tone marks, pauses and spaces."""
    return character.isalnum() and unicodedata.category(character) != "Lm"


@cache
def is_unpronounceable(character: str) -> bool:
    """True if a character without pronunciation must be reported: all but punctuation, spaces, accents and joiners."""
    category = unicodedata.category(character)
    return category[0] not in "PZM" and category != "Cf"
