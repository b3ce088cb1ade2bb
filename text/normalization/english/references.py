"""Rules for references: Fig. 3a, Eq. (2), § 5, Roe v. Wade, 410 U.S. 113, 1 Corinthians 13:4-7, Room 204; and for Roman
numerals after names and headings: Henry VIII, World War II, Chapter IV, the XIX century.
"""

from __future__ import annotations

import re

from text.normalization.draft import DASH, END, NUMBER_START, START, Draft
from text.normalization.number_words import cardinal, number, ordinal, roman_value

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
