"""Rules for references to reports of law: 410 U.S. 113, N° 5."""

from __future__ import annotations

import re

from text.normalization.draft import MASK, NUMBER_START, START, Draft
from text.normalization.number_words import cardinal

_NUMERO = re.compile(rf"{START}[Nn][°º]\.? ?(?=\d)")
_REPORT = re.compile(
    rf"{NUMBER_START}(?P<volume>\d{{1,4}}) (?P<report>U\.S\.C?\.?|C\.F\.R\.|F\.[23]d|S\. Ct\.)(?: (?=[§{MASK}])"
    rf"| (?P<page>\d{{1,5}})(?!\d))"
)


def references(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(_REPORT, lambda match: _report(match, british))
    if draft.has("°º"):
        draft.replace(_NUMERO, lambda match: "number ")


def _report(match: re.Match[str], british: bool) -> str:
    said = f"{cardinal(int(match['volume']), british)} {match['report'].removesuffix('.')}"
    return f"{said} {cardinal(int(match['page']), british)}" if match["page"] else f"{said} "
