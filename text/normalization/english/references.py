"""Rules for references: Fig. 3a, Eq. (2), § 5, Roe v. Wade, 410 U.S. 113, 1 Corinthians 13:4-7, Room 204; and for Roman
numerals after names and headings: Henry VIII, World War II, Chapter IV, the XIX century.
"""

from __future__ import annotations

import re

from text.normalization.draft import DASH, END, NUMBER_START, START, Draft
from text.normalization.number_words import cardinal, number

_NUMERO = re.compile(rf"{START}[Nn][°º]\.? ?(?=\d)")
_SECTIONS = re.compile(
    rf"(?P<signs>§§?) ?(?P<first>\d{{1,5}})(?P<inner>(?:\(\w{{1,3}}\))*)(?:(?P<joint>{DASH}"
    rf"| and )(?P<last>\d{{1,5}}))?{END}"
)
_VERSUS = re.compile(r"(?<=[\w.,)] )(?P<said>v\.)(?= [A-Z])")
_REPORT = re.compile(
    rf"{NUMBER_START}(?P<volume>\d{{1,4}}) (?P<report>U\.S\.C?\.?|F\.[23]d|S\. Ct\.)(?: (?=§)"
    rf"| (?P<page>\d{{1,5}})(?!\d))"
)


def references(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(_REPORT, lambda match: _report(match, british))
    if draft.has("§"):
        draft.replace(_SECTIONS, lambda match: _sections(match, british))
    if "v." in draft.sentence:
        draft.replace(_VERSUS, lambda match: "versus", "said")
    if draft.has("°º"):
        draft.replace(_NUMERO, lambda match: "number ")


def _sections(match: re.Match[str], british: bool) -> str:
    said = f"section{'s' if match['signs'] == '§§' else ''} {number(match['first'], british)}"
    for inner in re.findall(r"\w+", match["inner"]):
        said += f", {number(inner, british) if inner.isdecimal() else inner.upper()}"
    if match["last"]:
        said += (" and " if "and" in match["joint"] else " to ") + number(match["last"], british)
    return said


def _report(match: re.Match[str], british: bool) -> str:
    said = f"{cardinal(int(match['volume']), british)} {match['report'].removesuffix('.')}"
    return f"{said} {cardinal(int(match['page']), british)}" if match["page"] else f"{said} "
