"""Rule for ordinals: 1st, 22nd, 1,000th."""

from __future__ import annotations

import re

from text.normalization.draft.draft import Draft
from text.normalization.draft.patterns import DASH, END, START
from text.normalization.draft.words import ordinal

_ENDING = "(?:st|nd|rd|th|ST|ND|RD|TH|ˢᵗ|ⁿᵈ|ʳᵈ|ᵗʰ)"
_ORDINAL = re.compile(
    rf"{START}(?<!\d[.,])(?P<number>\d{{1,3}}(?:,\d{{3}}){{1,4}}|\d{{1,15}}){_ENDING}"
    rf"(?:{DASH}(?P<last>\d{{1,6}}){_ENDING})?{END}"
)


def apply(draft: Draft) -> None:
    draft.replace_numbers(_ORDINAL, lambda match: _said(match, draft.british))


def _said(match: re.Match[str], british: bool) -> str:
    said = ordinal(int(match["number"].replace(",", "")), british)
    return f"{said} to {ordinal(int(match['last']), british)}" if match["last"] else said
