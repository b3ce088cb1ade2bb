"""Rules for initialisms that engines misread: AT&T, PDFs, B2."""

from __future__ import annotations

import re

from text.normalization.draft import END, START, Draft
from text.normalization.number_words import cardinal

_AND = re.compile(
    rf"{START}(?P<left>[A-Z]{{1,3}}|[a-z]{{1,2}}|[A-Z][a-z])&(?P<right>[A-Z]{{1,3}}|[a-z]){END}(?P<number> 500)?"
)
_PLURAL = re.compile(rf"{START}(?P<letters>(?=[A-Z]{{0,3}}[BCDFGHJKLMNPQRSTVWXZ])[A-Z]{{2,4}})s{END}(?!\.\w)")
_CELL = re.compile(rf"{START}(?P<letters>[A-GI-PR-Z]|MP|A|AA|AAA|HP|VW|BMW)(?P<number>\d){END}(?![.:/'’&-]\w|[²³])")
_READ_AS_WORDS = frozenset(("RAM", "ROM", "PIN", "SIM", "LAN", "GIF", "CEO", "VIP", "ID"))
"""Initialisms that are read as words, and initialisms whose plurals engines read well."""


def initialisms(draft: Draft) -> None:
    british = draft.british
    if draft.has("&"):
        draft.replace(_AND, lambda match: _and(match, british))
    draft.replace(_PLURAL, _plural)
    draft.replace(_CELL, lambda match: f"{'.'.join(match['letters'])} {cardinal(int(match['number']), british)}")


def _and(match: re.Match[str], british: bool) -> str:
    said = f"{'.'.join(match['left'].upper())} and {'.'.join(match['right'].upper())}"
    return f"{said} {cardinal(500, british)}" if match["number"] else said


def _plural(match: re.Match[str]) -> str | None:
    letters = match["letters"]
    if not 2 <= len(letters) <= 4 or letters in _READ_AS_WORDS:
        return None
    return f"{'.'.join(letters)}'s"
