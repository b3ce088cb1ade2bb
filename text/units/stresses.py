"""Stresses that a plain text writes: Markdown's `*emphasis*` and `**strong**`, and English words in capitals.

They are gentle, and only what stands out in its sentence gets one: neither a sentence nor a long part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from text.locales.tables import table, word_list
from text.markup.inflections import STRESSES

STRESS = STRESSES["+0.5"]
"""Twice as much, listeners rate as less natural (`python -m benchmarks.inflections marks`)."""

LONGEST = 6
"""Most words that one pair of marks stresses."""

_OPENS = re.compile(r"[\"'“‘«(\[]*(\*{1,3})(?=[\w\"'“‘«(])")
_CLOSES = re.compile(r"[\w.,;:!?…\"'”’»)](\*{1,3})(?:[^\w*]*|['’]s)$")
_CAPITALS = re.compile(r"\W*([A-Z]+(?:['’][A-Z]+)?)\W*")
_SHOUTED = word_list(table("en", "word_classes")["shouted"])


def marked(written: Sequence[str]) -> Iterator[int]:
    """Places of the words between two marks of Markdown, the last of which closes what the first one opens."""
    begun: tuple[int, str] | None = None
    for at, each in enumerate(written if any("*" in each for each in written) else ()):
        if begun is None and (mark := _OPENS.match(each)):
            begun = at, mark[1]
        if begun and (mark := _CLOSES.search(each)) and mark[1] == begun[1]:
            # A number may be several words, of which the first has the spelling.
            end = next((later for later in range(at + 1, len(written)) if written[later]), len(written))
            around = any(re.search(r"\w", word) for word in (*written[: begun[0]], *written[end:]))
            if around and end - begun[0] <= LONGEST:
                yield from range(begun[0], end)
            begun = None


def shouted(written: Sequence[str]) -> list[int]:
    """Words in capitals that are no acronyms, in a sentence that has others."""
    if not any(map(str.isupper, written)):
        return []
    sounding = [at for at, each in enumerate(written) if re.search(r"[^\W\d_]", each)]
    found = [at for at in sounding if (bare := _CAPITALS.fullmatch(written[at])) and bare[1].lower() in _SHOUTED]
    small = sum(any(map(str.islower, written[at])) for at in sounding)
    return found if small > len(found) else []
