"""Rules for references: Fig. 3a, Eq. (2), § 5, Roe v. Wade, 410 U.S. 113, 1 Corinthians 13:4-7, Room 204."""

from __future__ import annotations

import re

from text.normalization.draft import DASH, END, NUMBER_END, NUMBER_START, START, Draft
from text.normalization.number_words import cardinal, in_pairs, number, two_digits
from text.sentences.abbreviations import BOOKS, PARTS, PLACES

_PARTS = (
    {f"{name}.": full for name, full in PARTS.items()}
    | {
        name: name
        for name in ("Figure", "Figures", "Equation", "Equations", "Table", "Tables", "Section", "Step", "Appendix")
    }
    | {
        name: name
        for name in ("Exit", "Gate", "Apartment", "Apt", "Seat", "Flat", "Unit", "Lemma", "Theorem", "Example")
    }
)
_PLACES = {f"{name}.": full for name, full in PLACES.items()} | {
    name: name
    for name in (
        *("Room", "Suite", "Route", "Highway", "Bus", "Platform", "Row", "Terminal", "Building", "Floor", "Bay", "Box"),
        *("Locker", "Zone", "Block", "Lot", "Line", "Lane", "Stand", "Booth", "Pier", "Dock", "Ward", "Class", "Form"),
        *("Hall", "Door", "House", "Track", "Desk", "Aisle", "Channel", "Chapter", "Item", "Question", "Exhibit"),
        *("Part", "Group", "Level", "Grade", "Annex", "Clause", "Article", "Exercise", "Schedule", "Page"),
    )
}
"""Labels whose numbers are also counted in units with small letters: the door 2m away."""
_ABBREVIATED = frozenset(("fig.", "figs.", "eq.", "sec.", "apt."))
"""Labels that the rule of abbreviations reads in full if a plain number follows."""

_PART = "|".join(re.escape(name) for name in sorted(_PARTS, key=len, reverse=True))
_PLACE = "|".join(re.escape(name) for name in sorted(_PLACES, key=len, reverse=True))
_LABELLED = re.compile(
    rf"{START}(?P<part>(?i:{_PART}))(?P<labels> (?:\(?(?:\d{{1,4}}[a-z]?|\d{{1,3}}[A-Z]|[A-Z]\d{{1,3}})\)?)"
    rf"(?:(?:, | and |{DASH})\(?\d{{1,4}}[a-zA-Z]?\)?){{0,3}}){END}(?![.:]\d)"
)
_PLACED = re.compile(
    rf"{START}(?P<part>(?i:{_PLACE}))(?P<labels> (?:\d{{1,4}}[A-Za-f]|[A-Z]\d{{1,4}})"
    rf"(?:(?:, | and |{DASH})\d{{1,4}}[A-Za-f]?){{0,3}}){END}(?![.:]\d)"
)
_LABEL = re.compile(r"\(?([A-Z])?(\d{1,4})([a-zA-Z])?\)?")
_NUMERO = re.compile(rf"{START}[Nn][°º]\.? ?(?=\d)")
_ROOM = re.compile(
    rf"{START}(?P<place>[Rr]oom|[Ss]uite|[Rr]oute|[Hh]ighway|[Ff]light(?: [A-Z]{{2}})?|US"
    rf"|[Bb]us) (?P<number>\d{{3,4}}){END}(?![.,:-]\d)"
)
_SECTIONS = re.compile(
    rf"(?P<signs>§§?) ?(?P<first>\d{{1,5}})(?P<inner>(?:\(\w{{1,3}}\))*)(?:(?P<joint>{DASH}"
    rf"| and )(?P<last>\d{{1,5}}))?{END}"
)
_VERSUS = re.compile(r"(?<=[\w.,)] )(?P<said>v\.)(?= [A-Z])")
_REPORT = re.compile(
    rf"{NUMBER_START}(?P<volume>\d{{1,4}}) (?P<report>U\.S\.C?\.?|F\.[23]d|S\. Ct\.)(?: (?=§)"
    rf"| (?P<page>\d{{1,5}})(?!\d))"
)
_FULL_BOOKS = (
    "Genesis|Exodus|Leviticus|Numbers|Deuteronomy|Joshua|Judges|Ruth|Samuel|Kings|Chronicles|Ezra|Nehemiah|Esther|Job|"
    "Psalms?|Proverbs|Ecclesiastes|Isaiah|Jeremiah|Lamentations|Ezekiel|Daniel|Hosea|Joel|Amos|Jonah|Micah|Matthew|Mark|"
    "Luke|John|Acts|Romans|Corinthians|Galatians|Ephesians|Philippians|Colossians|Thessalonians|Timothy|Titus|Hebrews|"
    "James|Peter|Jude|Revelation"
)
_SEVERAL = (
    r"(?P<nth>1|2|3|I|II|III) (?P<numbered>Samuel|Kings|Chronicles|Corinthians|Thessalonians|Timothy|Peter|John"
    r"|Sam\.|Kgs\.|Chron\.|Cor\.|Thess\.|Tim\.|Pet\.)"
)
_VERSE = re.compile(
    rf"{START}(?:{_SEVERAL}|(?P<book>{_FULL_BOOKS}|(?:{'|'.join(BOOKS)})\.))"
    rf" (?P<chapter>\d{{1,3}})(?::(?P<first>\d{{1,3}})(?:{DASH}(?P<last>\d{{1,3}}))?)?{NUMBER_END}"
)
_NTH = {"1": "First", "I": "First", "2": "Second", "II": "Second", "3": "Third", "III": "Third"}

_VERSE_WORDS = frozenset(("Psalm", *re.findall(r"[A-Z][a-z]+", _FULL_BOOKS + _SEVERAL), *BOOKS))
_ROOM_WORDS = frozenset(
    ("room", "suite", "route", "highway", "flight", "bus", "Room", "Suite", "Route", "Highway", "Flight", "Bus", "US")
)
_FULL = {name.lower(): full for name, full in (_PARTS | _PLACES).items()}
_PART_WORDS, _PLACE_WORDS = (frozenset(name.rstrip(".").lower() for name in names) for names in (_PARTS, _PLACES))
"""Words without which a sentence has no verse, room or labelled part."""


def references(draft: Draft) -> None:
    british = draft.british
    if draft.says(_VERSE_WORDS):
        draft.replace(_VERSE, lambda match: _verse(match, british))
    draft.replace_numbers(_REPORT, lambda match: _report(match, british))
    if draft.has("§"):
        draft.replace(_SECTIONS, lambda match: _sections(match, british))
    if "v." in draft.sentence:
        draft.replace(_VERSUS, lambda match: "versus", "said")
    if draft.says(_ROOM_WORDS):
        draft.replace(_ROOM, lambda match: f"{_spelled(match['place'])} {in_pairs(match['number'], british)}")
    if draft.has("°º"):
        draft.replace(_NUMERO, lambda match: "number ")
    if draft.says_folded(_PART_WORDS):
        draft.replace(_LABELLED, lambda match: _labelled(match, british))
    if draft.says_folded(_PLACE_WORDS):
        draft.replace(_PLACED, lambda match: _labelled(match, british))


def _spelled(place: str) -> str:
    word, _, code = place.partition(" ")
    return f"{word} {'.'.join(code)}" if code else place


def _labelled(match: re.Match[str], british: bool) -> str | None:
    part, labels = match["part"], match["labels"]
    full = _FULL[part.lower()]
    full = part if full.lower() == part.lower() else full.lower() if part.islower() else full
    plain = re.fullmatch(r" \d+", labels) is not None
    if plain:
        return None if full == part or part.lower() in _ABBREVIATED else f"{full}{labels}"
    ends = re.split(DASH, labels)
    return full + " to ".join(_LABEL.sub(lambda label: _label(label, british), end) for end in ends)


def _label(match: re.Match[str], british: bool) -> str:
    said = in_pairs(match[2], british) if match[1] or match[3] else cardinal(int(match[2]), british)
    return " ".join(filter(None, (match[1], said, (match[3] or "").upper())))


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


def _verse(match: re.Match[str], british: bool) -> str | None:
    book = (match["numbered"] or match["book"]).rstrip(".")
    if match["first"] is None and not match["nth"]:
        return None
    said = BOOKS.get(book, book)
    if match["nth"]:
        said = f"{_NTH[match['nth']]} {said}"
    said += f" {cardinal(int(match['chapter']), british)}"
    if match["first"]:
        said += f", {_number(match['first'], british)}"
        if match["last"]:
            said += f" to {_number(match['last'], british)}"
    return said


def _number(written: str, british: bool) -> str:
    hundreds, rest = divmod(int(written), 100)
    return (
        f"{cardinal(hundreds, british)} {two_digits(rest, british)}"
        if hundreds and rest
        else cardinal(int(written), british)
    )
