"""The opening of a sentence that is still being written: its first words, which no later text can change.

A word is settled if it is a plain one (letters, an apostrophe or a hyphen inside, a comma after it), and the two words
after it are there whole and plain as well. Numbers, abbreviations, capitals, links, quotations and all signs may be
changed by the next token, and so may be the words beside them: an opening ends before them. English only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from text.sentences import abbreviations

HELD = 2
"""Words after a settled one that must be there: they decide how it is pronounced ("the end", "used to"), and give it
the melody of a sentence that goes on."""

SHORTEST = 3
"""Fewest words that are spoken before their sentence is whole, unless a comma ends them."""

LONGEST = 200
"""Characters of a sentence after which no opening is looked for: the sentence is cut at a clause soon."""

_PLAIN = re.compile(r"(?:I|A|[A-Za-z]?[a-z]+)(?:['’](?:s|t|re|ve|ll|d|m))?(?:-[a-z]+)*,? ")
_SHORTENED = frozenset((*abbreviations.TITLES, *abbreviations.STREETS, *abbreviations.ANYWHERE, *abbreviations.LABELS))
_MAY_BE_LOWER = frozenset(each.lower() for each in _SHORTENED if len(each) > 2)


class SettledWords(NamedTuple):
    """The beginning of a sentence."""

    text: str
    """All plain words that are there, without white space at the ends."""
    words: int
    """Number of them that are settled."""


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
    if not language.startswith("en"):
        return None
    place = begin = len(text) - len(text.lstrip(" "))
    words: list[str] = []
    while (found := _PLAIN.match(text, place, LONGEST)) and not _is_shortened(found[0].rstrip(" ,")):
        words.append(found[0].rstrip(" "))
        place = found.end()
    settled = len(words) - HELD
    if clauses:
        settled = max((at + 1 for at, word in enumerate(words[: max(settled, 0)]) if word.endswith(",")), default=0)
    elif settled < SHORTEST:
        return None
    return SettledWords(text[begin:place].rstrip(" "), settled) if settled > 0 else None


def _is_shortened(word: str) -> bool:
    return word in _SHORTENED or word in _MAY_BE_LOWER
