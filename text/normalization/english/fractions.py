"""Rules for fractions (1/2, 2 1/2, ½, 2½), and for pairs that are none (24/7, 8/10, 50/50)."""

from __future__ import annotations

import re
import unicodedata

from text.normalization.draft.draft import END, MASK, NUMBER_END, NUMBER_START, Draft
from text.normalization.draft.words import cardinal, ordinal
from text.normalization.english.unit_names import UNITS

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


def apply(draft: Draft) -> None:
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
