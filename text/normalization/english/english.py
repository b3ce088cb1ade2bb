"""English rules in their order: text with a form of its own (addresses, telephone numbers, dates, times), numbers with
a label, numbers between themselves, and words.
"""

from __future__ import annotations

import re

from text.normalization import emoji
from text.normalization.draft import END, MASK, NUMBER_START, START, Draft, Rule
from text.normalization.english import classes, maths, tex, units, web
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


_DIGIT = re.compile(r"\d")
_ANY = re.compile("")

RULES = (
    Rule("tex", tex.tex, re.compile(r"[$(=<>≤≥\\]")),
    Rule("music", maths.music, re.compile(r"[A-G][#♯♭♮bmM\dsad]|\d/\d")),
    emoji.OMITTED,
    Rule("web_addresses", web.web_addresses, web.NEEDED),
    Rule("code", web.code, re.compile(r"[-_(+]")),
    Rule("classes", classes.classes, _ANY),
    Rule("references", references, re.compile(r"\d")),
    Rule("chemistry", maths.chemistry, re.compile(r"[₀-₉⁰¹²³⁴-⁹⁺⁻]|[A-Z][a-z]?\)?[\d(A-Z]")),
    Rule("units", units.units, _DIGIT),
    Rule("initialisms", initialisms, re.compile(r"[A-Z][A-Z&\ds]|\w&\w")),
    Rule("math", maths.math, maths.NEEDED),
)
