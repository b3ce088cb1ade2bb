"""Rules for initialisms that engines misread: AT&T, PhDs, JSON, A1."""

from __future__ import annotations

import re

from text.normalization.draft.draft import END, START, Draft
from text.normalization.draft.words import cardinal

_SAID = {
    "JSON": "Jason",
    "WWI": "World War one",
    "WWII": "World War two",
    "WW1": "World War one",
    "WW2": "World War two",
    "JPEG": "jay peg",
    "JPG": "jay peg",
    "SQL": "S.Q.L",
    "PhDs": "P.H.D's",
    "MSc": "M.S.C",
    "BSc": "B.S.C",
}
_KNOWN = re.compile(rf"{START}(?P<name>{'|'.join(_SAID)}){END}(?!\.\w|-\w)")
_KNOWN_WORDS = frozenset(_SAID)
_AND = re.compile(rf"{START}(?P<left>[A-Z]{{1,3}})&(?P<right>[A-Z]{{1,3}}){END}(?P<number> 500)?")
_PLURAL = re.compile(rf"{START}(?P<letters>(?=[A-Z]{{0,3}}[BCDFGHJKLMNPQRSTVWXZ])[A-Z]{{2,4}})s{END}(?!\.\w)")
_CELL = re.compile(rf"{START}(?P<letters>[A-GI-PR-Z]|MP|A|AA|AAA|HP|VW|BMW)(?P<number>\d){END}(?![.:/'’&-]\w|[²³])")
_READ_AS_WORDS = frozenset(("RAM", "ROM", "PIN", "SIM", "LAN", "GIF", "CEO", "VIP", "ID"))
"""Initialisms that are read as words, and initialisms whose plurals engines read well."""


def apply(draft: Draft) -> None:
    british = draft.british
    if draft.says(_KNOWN_WORDS):
        draft.replace(_KNOWN, lambda match: _SAID[match["name"]])
    if draft.has("&"):
        draft.replace(_AND, lambda match: _and(match, british))
    draft.replace(_PLURAL, _plural)
    draft.replace(_CELL, lambda match: f"{'.'.join(match['letters'])} {cardinal(int(match['number']), british)}")


def _and(match: re.Match[str], british: bool) -> str:
    said = f"{'.'.join(match['left'])} and {'.'.join(match['right'])}"
    return f"{said} {cardinal(500, british)}" if match["number"] else said


def _plural(match: re.Match[str]) -> str | None:
    letters = match["letters"]
    if not 2 <= len(letters) <= 4 or letters in _READ_AS_WORDS:
        return None
    return f"{'.'.join(letters)}'s"
