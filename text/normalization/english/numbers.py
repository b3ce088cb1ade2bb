"""Rules for numbers that engines misread: -5, .5, 007, 10k, 1e6, #5, twenty digits, and for ordinals: 22nd."""

from __future__ import annotations

import re
import unicodedata

from text.normalization.draft import DASH, END, MASK, MINUS, NUMBER, NUMBER_END, NUMBER_START, START, Draft
from text.normalization.english.units import UNITS
from text.normalization.number_words import cardinal, digits, number, ordinal, ungrouped

_LARGE = {"k": "thousand", "K": "thousand", "M": "million", "bn": "billion", "B": "billion", "T": "trillion"}

_NAMED_K = frozenset(("1", "2", "4", "5", "8", "10"))
"""Numbers before k that name a screen or a run (4K, 10K)."""

_SCIENTIFIC = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<number>\d{{1,15}}(?:\.\d{{1,15}})?)[eE](?P<exponent>[-+−]?\d{{1,4}}){NUMBER_END}"
)
_HASH = re.compile(rf"(?<![\w&#/{MASK}])#(?P<number>\d{{1,9}}){END}")
_MAGNITUDE = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<number>{NUMBER})(?:[-–](?P<last>{NUMBER}))?(?P<large>k|K|M|bn|B|T)(?P<plus>\+(?!\w))?{END}(?!-?\d)"
)
_LONG = re.compile(rf"{NUMBER_START}\d{{16,}}+{END}(?![.,]\d)")
_ZEROS = re.compile(rf"{NUMBER_START}(?P<number>0\d{{1,14}}){NUMBER_END}")
_POINT = re.compile(rf"(?<![\w.{MASK}])(?P<minus>[-−])?(?P<number>\.\d{{1,15}}){END}(?!\.\d)")
_GROUPED = re.compile(
    rf"{NUMBER_START}(?<!\d )(?P<number>\d{{1,3}}(?:( )\d{{3}})(?:\2\d{{3}}){{1,3}}(?:\.\d{{1,6}})?){NUMBER_END}(?! \d)"
)
_OTHER_GROUPS = re.compile(
    rf"{NUMBER_START}(?P<number>\d{{1,3}}(?:['’]\d{{3}}){{1,4}}|\d{{1,2}}(?:,\d{{2}}){{1,5}},\d{{3}}){NUMBER_END}"
)
_POINT_ZERO = re.compile(rf"{NUMBER_START}(?P<number>\d{{1,6}}\.(?:0{{1,3}}|\d{{1,2}}0)){NUMBER_END}")
_NEGATIVE = re.compile(rf"{NUMBER_START}{MINUS}(?P<number>{NUMBER}){NUMBER_END}")


def numbers(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(_GROUPED, lambda match: number(match["number"], british))
    draft.replace_numbers(_OTHER_GROUPS, lambda match: number(match["number"], british))
    draft.replace_numbers(_POINT_ZERO, lambda match: number(match["number"], british))
    draft.replace_numbers(_SCIENTIFIC, lambda match: _scientific(match, british))
    if draft.has("#"):
        draft.replace(_HASH, lambda match: f"number {cardinal(int(match['number']), british)}")
    draft.replace_numbers(_MAGNITUDE, lambda match: _magnitude(match, british))
    draft.replace_numbers(_LONG, lambda match: digits(match[0]))
    draft.replace_numbers(_ZEROS, lambda match: digits(match["number"]))
    draft.replace_numbers(_POINT, lambda match: ("minus " if match["minus"] else "") + number(match["number"], british))
    draft.replace_numbers(_NEGATIVE, lambda match: f"minus {number(match['number'], british)}")


def _scientific(match: re.Match[str], british: bool) -> str:
    minus = "minus " if match["minus"] else ""
    exponent = number(str(int(match["exponent"].replace("−", "-"))), british)
    return f"{minus}{number(match['number'], british)} times ten to the {exponent}"


def _magnitude(match: re.Match[str], british: bool) -> str | None:
    if match["large"] == "K" and not match["last"] and match["number"] in _NAMED_K:
        return None
    said = ("minus " if match["minus"] else "") + number(match["number"], british)
    if match["last"]:
        said += f" to {number(match['last'], british)}"
    return f"{said} {_LARGE[match['large']]}" + (" plus" if match["plus"] else "")


_ENDING = "(?:st|nd|rd|th|ST|ND|RD|TH|ˢᵗ|ⁿᵈ|ʳᵈ|ᵗʰ)"
_ORDINAL = re.compile(
    rf"{START}(?<!\d[.,])(?P<number>\d{{1,3}}(?:,\d{{3}}){{1,4}}|\d{{1,15}}){_ENDING}"
    rf"(?:{DASH}(?P<last>\d{{1,6}}){_ENDING})?{END}"
)


def ordinals(draft: Draft) -> None:
    draft.replace_numbers(_ORDINAL, lambda match: _said_ordinal(match, draft.british))


def _said_ordinal(match: re.Match[str], british: bool) -> str:
    said = ordinal(int(match["number"].replace(",", "")), british)
    return f"{said} to {ordinal(int(match['last']), british)}" if match["last"] else said


_SIGNS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
_MEASURES = (
    "cup|teaspoon|tablespoon|pint|mile|hour|inch|foot|pound|ounce|liter|litre|gallon|acre|meter|metre|kilo|day|year"
)
_SYMBOLS = "tsp|tbsp|oz|lbs|lb|ft|mi|gal|kg|km|hr"
_MEASURED = rf"(?: ?(?P<symbol>{_SYMBOLS})\b(?:\.(?= [a-z]))?| (?P<measure>{_MEASURES})\b)?"
_SIGN = re.compile(rf"(?<![.,/\w{MASK}])(?:(?P<whole>\d{{1,6}}) ?)?(?P<sign>[{_SIGNS}])(?P<hyphen>-(?=\w))?{_MEASURED}")
_MIXED = re.compile(
    rf"{NUMBER_START}(?P<whole>\d{{1,4}})[ -](?P<above>\d{{1,2}})[/⁄](?P<below>\d{{1,2}}){END}(?![/.]\d){_MEASURED}"
)
_PLAIN = re.compile(
    rf"{NUMBER_START}(?P<above>\d{{1,4}})(?: ?⁄ ?|/)(?P<below>\d{{1,4}}){NUMBER_END}(?!/)"
    rf"(?P<stars> stars?\b)?{_MEASURED}"
)
_PAIRS = {"24/7": "twenty-four seven", "9/11": "nine eleven", "7/7": "seven seven"}
_SAID_AS_PAIR = frozenset((20, 50, 60, 80))
_LARGEST = 100


def fractions(draft: Draft) -> None:
    british = draft.british
    if draft.has(_SIGNS):
        draft.replace(_SIGN, lambda match: _sign(match, british))
    if draft.has("/⁄"):
        draft.replace_numbers(_MIXED, lambda match: _mixed(match, british))
        draft.replace_numbers(_PLAIN, lambda match: _plain(match, british))


def fraction(above: int, below: int, british: bool) -> str:
    if below == 2:
        name = "half" if above == 1 else "halves"
    elif below == 4:
        name = "quarter" if above == 1 else "quarters"
    else:
        name = ordinal(below, british) + ("" if above == 1 else "s")
    return f"{cardinal(above, british)} {name}"


def _and(whole: str | None, above: int, below: int, british: bool) -> str:
    if not whole:
        return fraction(above, below, british)
    part = fraction(above, below, british)
    if above == 1:
        part = f"{'an' if below in (8, 11, 18, 80) else 'a'} {part.partition(' ')[2]}"
    return f"{cardinal(int(whole), british)} and {part}"


def _measured(said: str, match: re.Match[str], mixed: bool) -> str:
    """Fraction before a measured thing: `half a cup`, `three quarters of a teaspoon`, `two and a half ounces`."""
    one, many = UNITS[match["symbol"]] if match["symbol"] in UNITS else (match["measure"], match["measure"])
    if one is None:
        return said
    if mixed:
        return f"{said} {many}"
    article = "an" if one[0] in "aeiou" or one == "hour" else "a"
    return f"half {article} {one}" if said == "one half" else f"{said} of {article} {one}"


def _sign(match: re.Match[str], british: bool) -> str:
    above, _, below = unicodedata.normalize("NFKC", match["sign"]).partition("⁄")
    said = _and(match["whole"], int(above), int(below), british) + (" " if match["hyphen"] else "")
    return _measured(said, match, bool(match["whole"]))


def _mixed(match: re.Match[str], british: bool) -> str | None:
    above, below = int(match["above"]), int(match["below"])
    return _measured(_and(match["whole"], above, below, british), match, True) if 0 < above < below else None


def _plain(match: re.Match[str], british: bool) -> str | None:
    written = f"{match['above']}/{match['below']}"
    above, below = int(match["above"]), int(match["below"])
    first, second = cardinal(above, british), cardinal(below, british)
    stars = match["stars"] or ""
    if match["symbol"] or match["measure"]:
        return _measured(fraction(above, below, british), match, False) if below > 1 else None
    if written in _PAIRS:
        return _PAIRS[written] + stars
    if stars or (below == 10 and above > 1) or (below == 100 and above > 10):
        return f"{first} out of {second}{stars}"
    if above in _SAID_AS_PAIR and below in (*_SAID_AS_PAIR, 40):
        return f"{first} {second}"
    if 0 < above < below <= _LARGEST or (below in (2, 3, 4, 8) and 0 < above < 10):
        return fraction(above, below, british)
    return f"{first} over {second}" if below else f"{first} slash {second}"


_RANGE = re.compile(
    rf"{NUMBER_START}(?P<minus>{MINUS})?(?P<first>{NUMBER})(?P<dash>{DASH})(?P<minus2>[-−])?(?P<last>{NUMBER})"
    rf"(?![\w{MASK}]|[.,:/^]\d|[-–]\d)"
)
_DIFFERENCE = re.compile(rf"{NUMBER_START}(?P<first>{NUMBER})[-−–](?P<last>{NUMBER})(?= ?=)")


def ranges(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(
        _DIFFERENCE, lambda match: f"{number(match['first'], british)} minus {number(match['last'], british)}"
    )
    draft.replace_numbers(_RANGE, lambda match: _range(match, british))


def _range(match: re.Match[str], british: bool) -> str | None:
    first, last = match["first"], match["last"]
    value, last_value = float(ungrouped(first)), float(ungrouped(last))
    if match["dash"] == "-" and value >= 100 and last_value < value and len(first) == len(last):
        return None  # Boeing 747-400
    lower, upper = number(first, british), number(last, british)
    lower = f"minus {lower}" if match["minus"] else lower
    upper = f"minus {upper}" if match["minus2"] else upper
    return f"{lower} {upper}" if first == last else f"{lower} to {upper}"
