"""English names of punctuation marks and other signs, for a client that wants to hear them."""

from __future__ import annotations

import re

NAMES = {
    "!": "exclamation mark",
    '"': "quote",
    "#": "number sign",
    "$": "dollar",
    "%": "percent",
    "&": "and",
    "'": "apostrophe",
    "(": "left paren",
    ")": "right paren",
    "*": "star",
    "+": "plus",
    ",": "comma",
    "-": "dash",
    ".": "dot",
    "/": "slash",
    ":": "colon",
    ";": "semicolon",
    "<": "less than",
    "=": "equals",
    ">": "greater than",
    "?": "question mark",
    "@": "at",
    "[": "left bracket",
    "\\": "backslash",
    "]": "right bracket",
    "^": "caret",
    "_": "underscore",
    "`": "backquote",
    "{": "left brace",
    "|": "bar",
    "}": "right brace",
    "~": "tilde",
    "…": "ellipsis",
    "–": "en dash",
    "—": "em dash",
    "“": "left quote",
    "”": "right quote",
}

LEVELS = {
    "none": "",
    "some": "#$%&*+/<=>@\\^_`|~",
    "most": '#$%&*+/<=>@\\^_`|~"()[]{}:;-–—“”',
    "all": "".join(NAMES),
}
"""Characters that are named at each of Speech Dispatcher's levels."""

_STOPS = frozenset(".!?…,;:")
"""Signs that stay after their names, because they also are pauses or melody."""

_CAPITAL = re.compile(r"(?<!\w)(?=[A-Z])")


def named(text: str, level: str, capitals: bool = False) -> str:
    """The text with the names of the level's signs.

    Args:
        level: a key of `LEVELS`.
        capitals: announce words that begin with a capital.
    """
    if capitals:
        text = _CAPITAL.sub("capital ", text)
    signs = LEVELS[level]
    if not signs:
        return text

    def name(sign: re.Match[str]) -> str:
        ends = sign.end() == len(text) or text[sign.end()].isspace()
        return f" {NAMES[sign[0]]}{sign[0] if sign[0] in _STOPS and ends else ' '}"

    return re.sub(f"[{re.escape(signs)}]", name, text)
