"""A user's own cut marks: signs, or a regular expression between slashes, after which segments end.

Expressions are RE2's, which takes time linear in the text for each of them. To find all marks takes a search for each
mark, and a search may read on to the text's end; so each sees no more than twice `LONGEST_MARK` characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

MOST_SIGNS = 32
MOST_CHARACTERS = 200
"""The longest expression, with its slashes."""

LONGEST_MARK = 50
"""Characters of the longest mark that an expression finds."""

_MEMORY = 1 << 20
"""Bytes that RE2 may take for one expression."""


def wrong_delimiters(delimiters: str) -> str:
    """Reason why a user's cut marks can't be used; empty if they can."""
    expression = _expression(delimiters)
    if expression is None:
        if len(delimiters) > MOST_SIGNS:
            return f"at most {MOST_SIGNS} signs are taken, not {len(delimiters)}"
        bad = next((sign for sign in delimiters if sign.isalnum() or (sign.isspace() and sign != "\n")), None)
        hint = "name signs such as ;| or a line's end, or a regular expression between slashes"
        return f"{bad!r} is no sign; {hint}" if bad else ""
    if len(delimiters) > MOST_CHARACTERS:
        return f"an expression has at most {MOST_CHARACTERS} characters, not {len(delimiters)}"
    try:
        matches_nothing = _compiled(expression).search("") is not None
    except ValueError as error:
        return f"{expression!r} is no regular expression of RE2's, which has no look-around: {error}"
    return f"{expression!r} matches where there is nothing" if matches_nothing else ""


def ends_of_marks(delimiters: str, text: str) -> Iterator[int]:
    """The places of a text after its marks, in order; marks in a row are one. The delimiters aren't wrong."""
    expression = _expression(delimiters)
    marks = _signs(frozenset(delimiters), text) if expression is None else _matches(expression, text)
    last = -1
    for begin, end in marks:
        if begin > last >= 0:
            yield last
        last = end
    if last >= 0:
        yield last


def _expression(delimiters: str) -> str | None:
    return delimiters[1:-1] if len(delimiters) > 2 and delimiters[0] == delimiters[-1] == "/" else None


def _signs(signs: frozenset[str], text: str) -> Iterator[tuple[int, int]]:
    return ((at, at + 1) for at, sign in enumerate(text) if sign in signs)


@lru_cache(maxsize=32)
def _compiled(expression: str) -> Any:
    """
    Raises:
        ValueError: RE2 doesn't take it; the message is RE2's.
    """
    import re2  # not above: most servers use none

    options = re2.Options()
    options.max_mem, options.log_errors = _MEMORY, False
    options.never_capture = True  # groups would be sought by a slower automaton
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        (said,) = error.args
        raise ValueError(said.decode(errors="replace") if isinstance(said, bytes) else str(said)) from error


def _matches(expression: str, text: str) -> Iterator[tuple[int, int]]:
    compiled, at = _compiled(expression), 0
    while at < len(text):
        shown = max(at - 1, 0)  # what stands before decides about ^ and \b
        found = compiled.search(text[shown : at + 2 * LONGEST_MARK], at - shown)
        if found is None:
            at += LONGEST_MARK
            continue
        begin, end = shown + found.start(), shown + found.end()
        if begin - at >= LONGEST_MARK:
            at = begin  # its end may be out of sight
        elif begin == end or end - begin > LONGEST_MARK:
            at = begin + 1
        else:
            yield begin, end
            at = end
