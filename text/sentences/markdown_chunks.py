"""Splitting of Markdown into chunks that can be parsed alone: at blank lines, except those in fenced code."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
