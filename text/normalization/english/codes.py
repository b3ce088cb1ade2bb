"""Rules for numbers that identify rather than count: ZIP and post codes, ISBN, PINs, orders and accounts."""

from __future__ import annotations

import re

from text.normalization.draft.draft import END, START, Draft
from text.normalization.draft.words import cardinal, digits, ohs

_ZIP = re.compile(
    rf"{START}(?P<name>[Zz][Ii][Pp](?P<code> [Cc]ode)?)(?P<joint>:? (?:is )?)(?P<zip>\d{{5}})"
    rf"(?:-(?P<plus>\d{{4}}))?{END}"
)
_BOOK = re.compile(
    rf"{START}(?P<name>ISBN"
    rf"|ISSN)(?:-(?P<kind>1[03]))?(?P<joint>:? )(?P<number>\d(?:[-– ]?\d){{6,12}}(?:[-– ]?[\dXx])?){END}"
)
_NAMED = re.compile(
    rf"{START}(?P<name>(?:[Mm]y |[Tt]he |[Yy]our )?(?:PIN|[Pp]asscode|[Cc]ode|[Oo]rder|[Ii]nvoice|[Aa]ccount"
    rf"|[Tt]icket|[Cc]ase|[Ss]erial)"
    r"(?: (?P<no>[Nn]umber|[Nn]o\.))?)(?P<joint>:? (?:is |#)?)(?P<digits>\d{4,14})(?![\w%]|[.,:/-]\d)"
)
_ENDING = re.compile(r"\b(?:ending|ends?|ended) (?:in|with) (?P<digits>\d{4})(?![\w%.,:/-]|\.\d)")
_FLIGHT = re.compile(rf"\b(?:[Ff]lights?) (?P<carrier>[A-Z]{{2}}|[A-Z]\d|\d[A-Z]) ?(?P<digits>\d{{2,4}}){END}")
_POSTCODE = re.compile(rf"{START}(?P<out>[A-Z]{{1,2}}\d{{1,2}}[A-Z]?) (?P<inner>\d)(?P<unit>[A-Z]{{2}}){END}")

_BOOK_NUMBERS = frozenset(("ISBN", "ISSN"))
_ENDS = frozenset(("ending", "end", "ends", "ended"))
_FLIGHTS = frozenset(("flight", "flights", "Flight", "Flights"))


def apply(draft: Draft) -> None:
    british = draft.british
    draft.replace(_ZIP, _zip)
    if draft.says(_BOOK_NUMBERS):
        draft.replace(_BOOK, lambda match: _book(match, british))
    draft.replace(_NAMED, _named)
    if draft.says(_ENDS):
        draft.replace(_ENDING, lambda match: digits(match["digits"]), "digits")
    if draft.says(_FLIGHTS):
        draft.replace(_FLIGHT, _flight)
    draft.replace(_POSTCODE, _postcode)


def _zip(match: re.Match[str]) -> str:
    said = f"zip{(match['code'] or '').lower()}{match['joint']}{ohs(match['zip'])}"
    return f"{said}, {ohs(match['plus'])}" if match["plus"] else said


def _book(match: re.Match[str], british: bool) -> str:
    groups = re.split("[-– ]", match["number"])
    kind = f" {cardinal(int(match['kind']), british)}" if match["kind"] else ""
    said = ", ".join(" ".join(filter(None, (digits(group), "X" if group[-1] in "Xx" else ""))) for group in groups)
    return f"{match['name']}{kind}{match['joint']}{said}"


def _named(match: re.Match[str]) -> str:
    name = match["name"].replace("no.", "number").replace("No.", "number")
    return f"{name}{match['joint'].replace('#', '')}{digits(match['digits'])}"


def _flight(match: re.Match[str]) -> str:
    before = match.string[match.start() : match.start("carrier")]
    return f"{before}{'.'.join(match['carrier'])} {digits(match['digits'])}"


def _postcode(match: re.Match[str]) -> str:
    parts = re.findall(r"[A-Z]+|\d+", match["out"])
    said = " ".join(".".join(part) if part.isalpha() else cardinal(int(part), british=False) for part in parts)
    return f"{said}, {cardinal(int(match['inner']), british=False)} {'.'.join(match['unit'])}"
