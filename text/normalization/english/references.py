"""Rules for references: Fig. 3a, Eq. (2), § 5, Roe v. Wade, 410 U.S. 113, 1 Corinthians 13:4-7, Room 204; and for Roman
numerals after names and headings: Henry VIII, World War II, Chapter IV, the XIX century.
"""

from __future__ import annotations

import re

from text.normalization.draft import DASH, END, NUMBER_END, NUMBER_START, START, Draft
from text.normalization.number_words import cardinal, in_pairs, number, ordinal, roman_value, two_digits
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


_NUMERAL = r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_LONG_NUMERAL = r"(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})"

_RULERS = (
    "Albert|Alexander|Alfonso|Anne|Benedict|Boniface|Carl|Catherine|Charles|Christian|Clement|Constantine|Edward|"
    "Elizabeth|Ferdinand|Francis|Frederick|George|Gregory|Gustav|Harald|Harold|Henri|Henry|Innocent|Isabella|Ivan|James|"
    "John|John Paul|Juan Carlos|Julius|Justinian|Leo|Leopold|Louis|Margaret|Margrethe|Mary|Michael|Mehmed|"
    "Napoleon|Nicholas|Olav|Oscar|Otto|Paul|Peter|Philip|Philippe|Pius|Ramesses|Ramses|Richard|Robert|Rudolf|Sixtus|"
    "Stephen|Theodosius|Umberto|Urban|Victor|Victor Emmanuel|Wilhelm|William|Xerxes|Darius|Cyrus|Ptolemy|Cleopatra"
)
_MORE_FIRST_NAMES = "David|Thomas|Joseph|Daniel|Samuel|Andrew|Arthur|Walter|Harry|Frank|Howard|Martin|Walter"
_NUMBERED = (
    "World War|Chapter|Part|Volume|Vol\\.|Book|Act|Scene|Section|Article|Title|Phase|Type|Class|Level|Appendix|"
    "Episode|Super Bowl|"
    "Apollo|Saturn|Mark|Mk\\.?|Schedule|Table|Figure|Fig\\.|Stage|Grade|Tier|Vatican|Amendment|Division|Group|"
    "Category|Factor|Annex|Lesson|Unit|Module|Round|Day|Rocky|Rambo|Symphony|Sonata|No\\.|Psalm|Canto|Lecture|Quadrant|"
    "Final Fantasy|Grand Theft Auto|GTA|Civilization|Age of Empires|Star Wars"
)
_LOWER_PARTS = "chapter|part|volume|act|scene|section|article|phase|type|level|appendix|stage|grade|book|class|tier"
_LETTERS = frozenset(("Group X", "Unit X", "Type X", "Factor X", "Day X", "Class X"))
"""Phrases in which X names an unknown thing by its letter; X is not the number ten there."""

_AFTER_RULER = re.compile(
    rf"{START}(?:{_RULERS})(?P<more>(?: [A-Z][\w.]{{0,20}}){{0,2}}?) (?P<numeral>{_NUMERAL}){END}(?! [A-Z]\.)"
    r"(?P<first>(?=$|[.,;:!?)'’]| (?:of|was|is|and|in|died|reigned|ruled|became|who|whose|on|at|from|to|by|with|as|or|"
    r"fought|signed|ascended|founded|married)\b))?"
)
_AFTER_NAME = re.compile(rf"{START}(?:{_MORE_FIRST_NAMES})(?: [A-Z][\w.]{{0,20}}){{1,2}} (?P<numeral>II|III|IV){END}")
_AFTER_PART = re.compile(
    rf"{START}(?:{_NUMBERED}|{_LOWER_PARTS})s?[ -]"
    rf"(?P<numerals>(?P<numeral>{_NUMERAL})(?:(?P<dash>[-–]| and | to )(?P<last>{_NUMERAL}))?){END}(?!\.\w)"
)
_LOWER = re.compile(
    rf"{START}(?:[Ss]cene|[Aa]ct|[Cc]hapter|[Pp]art|[Vv]erse|[Pp]ages?|[Ii]tem|[Cc]lause|[Bb]ook|[Vv]olume"
    rf"|[Pp]reface,?) "
    rf"(?P<numerals>(?P<numeral>(?=[ivxl])(?:xl|l?x{{0,3}})(?:ix|iv|v?i{{0,3}}))(?:(?P<dash>[-–])(?P<last>(?=[ivxl])(?:xl|l?x{{0,3}})(?:ix|iv|v?i{{0,3}})))?){END}(?!['’.]\w)"
)
_PAGES = re.compile(
    rf"{START}(?P<said>(?P<pages>pp?)\. (?P<numeral>(?=[ivxl])(?:xl|l?x{{0,3}})(?:ix|iv"
    rf"|v?i{{0,3}}))(?:[-–](?P<last>(?=[ivxl])(?:xl|l?x{{0,3}})(?:ix|iv|v?i{{0,3}})))?){END}"
)
_LETTERED = re.compile(
    rf"{START}(?:Section|Article|Part|Chapter|Title|Sec\."
    rf"|Art\.) (?P<said>(?P<numeral>{_NUMERAL})[.-](?P<letter>[a-zA-Z])){END}(?!\.\w)"
)
_CENTURY = re.compile(rf"{START}(?P<numeral>{_NUMERAL})(?:th|st|nd|rd)?(?=(?: |-)[Cc]entur(?:y|ies)\b)")
_AFTER_CAPITAL = re.compile(rf"\b[A-Z][a-z]{{2,20}} (?P<numeral>{_LONG_NUMERAL}){END}(?![.&-]\w)")
_ALL_NUMERALS = [
    f"{tens}{ones}"
    for tens in ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX")
    for ones in ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
]
_NUMERALS = frozenset(
    form
    for numeral in _ALL_NUMERALS
    for form in (numeral, numeral.lower(), *(numeral + ending for ending in ("th", "st", "nd", "rd")))
    if len(form) > 1
)
_LETTER_NUMERALS = frozenset("IVXLivxl")
"""Numerals that are words or names of letters as well; they need one of the words before numbers in the sentence."""
_BEFORE_NUMERALS = frozenset(
    form
    for word in re.findall(
        r"\w+",
        f"{_RULERS} {_NUMBERED} {_LOWER_PARTS} century Century centuries Centuries verse Verse page Page item Item "
        "clause Clause volume preface Preface p pp Sec Art",
    )
    for form in (word, f"{word}s")
)


def roman_numerals(draft: Draft) -> None:
    if not (draft.says(_NUMERALS) or (draft.says(_LETTER_NUMERALS) and draft.says(_BEFORE_NUMERALS))):
        return
    british = draft.british

    def nth(match: re.Match[str]) -> str | None:
        if match["numeral"] == "I" and (match["more"] or match["first"] is None):
            return None
        return the_nth(match)

    def the_nth(match: re.Match[str]) -> str:
        return f"the {ordinal(roman_value(match['numeral']), british)}"

    def count(match: re.Match[str]) -> str | None:
        if match[0] in _LETTERS:
            return None
        said = cardinal(roman_value(match["numeral"]), british)
        if match["last"]:
            said += (" to " if match["dash"] in "-–" else match["dash"]) + cardinal(roman_value(match["last"]), british)
        return said

    def lower(match: re.Match[str]) -> str:
        said = cardinal(roman_value(match["numeral"].upper()), british)
        return f"{said} to {cardinal(roman_value(match['last'].upper()), british)}" if match["last"] else said

    def pages(match: re.Match[str]) -> str:
        return f"{'pages' if match['pages'] == 'pp' else 'page'} {lower(match)}"

    draft.replace(
        _LETTERED, lambda match: f"{cardinal(roman_value(match['numeral']), british)} {match['letter'].upper()}", "said"
    )
    draft.replace(_LOWER, lower, "numerals")
    draft.replace(_PAGES, pages)
    draft.replace(_AFTER_PART, count, "numerals")
    draft.replace(_AFTER_RULER, nth, "numeral")
    draft.replace(_AFTER_NAME, the_nth, "numeral")
    draft.replace(_CENTURY, lambda match: ordinal(roman_value(match["numeral"]), british))
    draft.replace(_AFTER_CAPITAL, lambda match: cardinal(roman_value(match["numeral"]), british), "numeral")
