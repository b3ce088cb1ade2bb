"""Line breaks that end a sentence: breaks of paragraphs, list lines and short lines do, breaks that wrap prose to a
width do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

FENCE = re.compile(r"^(?>(?:>++ ?|[-*+] |\d{1,3}[.)] )*)(?P<fence>`{3,}+|~{3,}+)(?P<info>[^`\n]*)$", re.MULTILINE)


def chunks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a sanitised text between blank lines; a closed fence and the text around it are in one span.

    An opening fence that is never closed is ignored: it must not turn the rest of a text into code.
    """
    blocks = _closed_fences(text)
    block = next(blocks, None)
    start = 0
    while start < len(text):
        end = text.find("\n\n", start)
        while block is not None and block[0] < (end if end >= 0 else len(text)):
            if block[1] > end >= 0:
                end = text.find("\n\n", block[1])
            block = next(blocks, None)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 2


def _closed_fences(text: str) -> Iterator[tuple[int, int]]:
    fences = list(FENCE.finditer(text)) if "```" in text or "~~~" in text else []
    never_closed: dict[str, int] = {}
    place = 0
    while place < len(fences):
        opening = fences[place]["fence"]
        sign, length = opening[0], len(opening)
        if length < never_closed.get(sign, length + 1):
            for later in range(place + 1, len(fences)):
                fence = fences[later]
                if fence["fence"][0] == sign and len(fence["fence"]) >= length and not fence["info"].strip():
                    yield fences[place].start(), fence.end()
                    place = later
                    break
            else:
                never_closed[sign] = length
        place += 1


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
