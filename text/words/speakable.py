"""Character classes: characters that are read aloud, and characters that only shape others."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_READ_SIGNS = frozenset("%&@#§‰")
_MUTE_SYMBOLS = frozenset("|<>~^`´¨\ufffd")


def speakable(text: str) -> bool:
    """True if a text has a character that is read aloud: a letter, a digit, or a sign that has a name (€, +, %, 😀)."""
    return _LETTER_OR_DIGIT.search(text) is not None or any(map(is_spoken, set(text)))


@cache
def is_spoken(character: str) -> bool:
    if character.isalnum() or character in _READ_SIGNS:
        return True
    return unicodedata.category(character) in ("Sc", "Sm", "So") and character not in _MUTE_SYMBOLS


@cache
def is_phone(character: str) -> bool:
    """True if a phoneme character sounds by itself, unlike stress, length and tone marks, pauses and spaces."""
    return character.isalnum() and unicodedata.category(character) != "Lm"


@cache
def is_unpronounceable(character: str) -> bool:
    """True if a character without pronunciation must be reported: all but punctuation, spaces, accents and joiners."""
    category = unicodedata.category(character)
    return category[0] not in "PZM" and category != "Cf"
