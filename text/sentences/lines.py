"""Line breaks that end a sentence: breaks of paragraphs, list lines and short lines do, breaks that wrap prose to a
width do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

LIST_MARKER = re.compile(
    r"(?:(?:[•⁃‣] ?)?\d{1,3}\.?\)|[•⁃‣] ?\d{1,3}\.|[a-h]\.(?= [A-Z])"
    r"|[-*+•⁃‣◦▪·–—]|\(?(?:\d{1,3}(?:\.\d{1,3})*[.)]|\d{1,3}(?:\.\d{1,3})+|[A-Za-z]\)|[ivxIVX]{2,4}\))) "
)
"""Pattern of a marker that begins a list line or a numbered heading."""

_NARROW = 40
"""Line length in characters under which lines are not wrapped prose: a paragraph of shorter lines is a list, a poem or
an address.
"""

_CARRIES_ON = (",", "،", "、", "，")


def stretches(text: str) -> Iterator[str]:
    """Stretches of a sanitised text between the newlines that end a sentence, each stretch on one line.

    The iterator is lazy by paragraph.
    """
    start = 0
    while start < len(text):
        end = text.find("\n\n", start)
        end = len(text) if end < 0 else end
        yield from _unwrapped(text[start:end].split("\n"))
        start = end + 2


def _unwrapped(lines: list[str]) -> Iterator[str]:
    """Join a paragraph's wrapped lines.

    Wrapping fills lines: a newline was typed by hand if the next line's first word would still have fitted. The longest
    line always looks full, so among several lines it proves wrapping only if a second line is full too.
    """
    lines = [line for line in lines if line]
    longest = max(map(len, lines), default=0)
    full = [
        len(line) + 1 + len(following.partition(" ")[0]) > max(longest, _NARROW) for line, following in pairwise(lines)
    ]
    is_wrapped = sum(full) > 1 or len(full) == 1
    is_list = any(map(LIST_MARKER.match, lines))
    joined = lines[:1]
    for is_full, (previous, line) in zip(full, pairwise(lines), strict=True):
        wrapped = is_full and is_wrapped
        goes_on = previous.endswith(_CARRIES_ON) or (line[0].islower() and (is_list or longest >= _NARROW))
        if LIST_MARKER.match(line) or not (wrapped or goes_on):
            yield " ".join(joined)
            joined = []
        joined.append(line)
    if joined:
        yield " ".join(joined)
