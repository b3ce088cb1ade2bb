"""Rules for dates: 2026-11-21, 11/21/2026 (American) or 21/11/2026 (British), Nov 21, 2026, 21 Nov, Mon-Fri, Jan-Mar
2026.
"""

from __future__ import annotations

import datetime
import re

from text.locales.english import DAY, DAY_NAMES, MONTH, MONTH_NAMES, month_name
from text.normalization.draft import DASH, END, MASK, NUMBER_END, NUMBER_START, START, Draft
from text.normalization.english.times import clock
from text.normalization.number_words import cardinal, decade, ordinal, two_digits, year

_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_TO_NTH = rf"(?:{DASH}(?P<to>\d{{1,2}})(?:st|nd|rd|th)?)?"
_YEAR = r"(?:,? (?P<year>[12]\d{3})(?![\w-]|,\d|\.\d))?"

_ISO = re.compile(
    rf"{NUMBER_START}(?P<year>[12]\d{{3}})(?P<sign>[-/])(?P<month>\d{{2}})(?P=sign)(?P<day>\d{{2}})"
    r"(?:[T ](?P<time>\d\d:\d\d)(?::\d\d(?:[.,]\d{1,9})?)?(?P<utc>Z|[+-]00:?00)?)?"
    rf"{NUMBER_END}"
)
_NUMERIC = re.compile(
    rf"{NUMBER_START}(?P<first>\d{{1,2}})(?P<sign>[/.-])(?P<second>\d{{1,2}})(?P=sign)(?P<year>[12]\d{{3}}|\d{{2}}){NUMBER_END}"
    r"(?!/)"
)
_SHORT = re.compile(
    rf"\b(?:[Oo]n|[Bb]y|[Ss]ince|[Uu]ntil|[Dd]ated|[Dd]ue)(?: \w{{3,9}}day,?)? "
    rf"(?P<date>(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})){NUMBER_END}(?!/)"
)
_PADDED = re.compile(rf"{NUMBER_START}(?P<first>0\d|1[0-2]|[12]\d|3[01])/(?P<second>0\d|[12]\d|3[01]){NUMBER_END}(?!/)")
_DATED = re.compile(
    r"\b(?:[Dd]ate:?|DOB:?|[Ff]rom|[Tt]o|[Tt]ill|[Bb]efore|[Aa]fter|[Cc]losed?|[Oo]pen(?:ed|s)?|[Ee]ve|Mon|Tue"
    r"|Wed|Thu|Fri|Sat|Sun)\.?,? $"
)
_MONTH_DAY = re.compile(rf"{START}(?P<month>{MONTH})\.? {_NTH}{_TO_NTH}{NUMBER_END}(?![%°]){_YEAR}")
_DAY_MONTH = re.compile(
    rf"(?P<the>\b[Tt]he )?{NUMBER_START}{_NTH}{_TO_NTH}(?: of)? (?P<month>{MONTH}){END}(?:\.(?=,? [\da-z]))?{_YEAR}"
)
_DAY_NAME = re.compile(rf"{START}(?P<day>{DAY}){END}(?:\.?(?P<comma>,?)(?= (?:the )?(?:[\d{MASK}]|{MONTH}\b)))")
_DAYS = re.compile(rf"{START}(?P<day>{DAY})\.?(?:{DASH}| - | to )(?P<last>{DAY}){END}")
_MONTHS = re.compile(rf"{START}(?P<month>{MONTH})\.?(?P<to>{DASH}| - )(?P<last>{MONTH}){END}{_YEAR}")
_MONTH_YEAR = re.compile(
    rf"{START}(?P<month>{MONTH})(?:\.(?= [12]\d{{3}}))?,? (?P<year>1[1-9]\d\d|20\d\d)(?![\w-]|,\d|\.\d)"
)
_NUMERIC_MONTH = re.compile(rf"{NUMBER_START}(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d\d){NUMBER_END}(?!/)")

_DAY_NAMES, _MONTH_NAMES = frozenset(DAY_NAMES), frozenset(MONTH_NAMES)


def dates(draft: Draft) -> None:
    british = draft.british
    draft.replace_numbers(_ISO, lambda match: _iso(match, british))
    draft.replace_numbers(_NUMERIC, lambda match: _numeric(match, british))
    if draft.has("/"):
        draft.replace_numbers(
            _NUMERIC_MONTH, lambda match: f"{month_name(int(match['month']))} {year(int(match['year']), british)}"
        )
        draft.replace(_SHORT, lambda match: _short(match, british), "date")
        draft.replace_numbers(_PADDED, lambda match: _padded(match, british))
    # Weekday and month names come first: a later rule would hide the date that they depend on.
    if draft.says(_DAY_NAMES):
        draft.replace(_DAYS, lambda match: f"{DAY_NAMES[match['day']]} to {DAY_NAMES[match['last']]}")
        draft.replace(_DAY_NAME, lambda match: DAY_NAMES[match["day"]] + (match["comma"] or ""))
    if draft.says(_MONTH_NAMES):
        draft.replace(_MONTH_DAY, lambda match: _written(match, british))
        draft.replace(_DAY_MONTH, lambda match: _written(match, british))
        draft.replace(_MONTHS, lambda match: _months(match, british))
        draft.replace(_MONTH_YEAR, lambda match: f"{MONTH_NAMES[match['month']]} {year(int(match['year']), british)}")


def _date(number: int, month: int, day: int, british: bool) -> str | None:
    try:
        datetime.date(number, month, day)
    except ValueError:
        return None
    said = (
        f"the {ordinal(day, british)} of {month_name(month)}"
        if british
        else f"{month_name(month)} {ordinal(day, british)}"
    )
    return f"{said}, {year(number, british)}"


def _iso(match: re.Match[str], british: bool) -> str | None:
    said = _date(int(match["year"]), int(match["month"]), int(match["day"]), british)
    if said is None or match["time"] is None:
        return said
    hours, minutes = map(int, match["time"].split(":"))
    if hours > 23 or minutes > 59:
        return None
    return f"{said}, {clock(hours, minutes, british)}" + (" UTC" if match["utc"] else "")


def _numeric(match: re.Match[str], british: bool) -> str | None:
    if len(match["year"]) == 2 and match["sign"] != "/":
        return None
    number = int(match["year"])
    if number < 100:
        number += 2000 if number < 70 else 1900
    first, second = int(match["first"]), int(match["second"])
    day_first = british or match["sign"] == "."
    day, month = (first, second) if day_first else (second, first)
    return _date(number, month, day, british) or _date(number, day, month, british)


def _short(match: re.Match[str], british: bool) -> str | None:
    first, second = int(match["first"]), int(match["second"])
    day, month = (first, second) if british else (second, first)
    said = _date(2000, month, day, british)
    return said.partition(",")[0] if said else None


def _padded(match: re.Match[str], british: bool) -> str | None:
    """Date of a form such as `12/25`, if it stands alone, after a word that announces dates, or with a zero that no
    fraction has.
    """
    alone = match.string.strip(" .!?") == match[0]
    zero = match["first"][0] == "0" or match["second"][0] == "0"
    return _short(match, british) if alone or zero or _DATED.search(match.string[: match.start()]) else None


def _written(match: re.Match[str], british: bool) -> str | None:
    day, to, month = int(match["day"]), int(match["to"] or 0), MONTH_NAMES[match["month"]]
    if not 1 <= day <= 31 or to > 31:
        return None
    nth = ordinal(day, british) + (f" to {ordinal(to, british)}" if to else "")
    said = f"{month} {nth}" if match.re is _MONTH_DAY else f"{match['the'] or 'the '}{nth} of {month}"
    return said + (f", {year(int(match['year']), british)}" if match["year"] else "")


def _months(match: re.Match[str], british: bool) -> str:
    said = f"{MONTH_NAMES[match['month']]} to {MONTH_NAMES[match['last']]}"
    return said + (f" {year(int(match['year']), british)}" if match["year"] else "")


_A_YEAR = r"(?:1\d|20)\d\d"
_ANY_YEAR = r"\d{3,4}"
_BEFORE = (
    r"[Ii]n|[Ss]ince|[Uu]ntil|[Tt]ill|[Bb]y|[Bb]efore|[Aa]fter|[Dd]uring|[Ff]rom|[Tt]o|[Oo]f|[Aa]nd|[Yy]ear|[Bb]orn|b\.|d\."
    r"|[Dd]ied|[Cc]irca|c\.|ca\.|[Ee]arly|[Ll]ate|[Mm]id|[Ss]pring|[Ss]ummer|[Aa]utumn|[Ff]all|[Ww]inter|AD"
    rf"|[Ee]lection|[Cc]opyright|[Cc]lass of|{MONTH}"
)

_FOUR_DIGITS = re.compile(r"[12]\d\d\d")
_TENS = re.compile(r"0['’]?s")
_UPTO = rf"(?:(?P<dash>{DASH}| to | and | or )['’‘]?(?P<last_century>1[1-9]|20)?(?P<last>\d)0['’]?s)?{END}"
_DECADE = re.compile(rf"{START}(?P<century>1[1-9]|20)(?P<tens>\d)0['’]?s{_UPTO}")
_MARKED_DECADE = re.compile(rf"(?<!\w)['’‘](?P<tens>[1-9])0['’]?s{_UPTO}")
_SHORT_DECADE = re.compile(
    rf"\b(?:[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Mm]y|[Yy]our|[Oo]ur|[Ii]n|[Mm]id|[Ee]arly|[Ll]ate|and)[ -]"
    rf"(?P<decade>(?P<tens>[1-9])0['’]?s{_UPTO})"
)
_YEARS = re.compile(
    rf"{NUMBER_START}(?P<first>{_A_YEAR})(?P<dash>{DASH}| - )(?P<last>{_A_YEAR}|\d{{2}}){NUMBER_END}(?!-)"
)
_CONTEXT = re.compile(
    rf"(?P<before>(?<![\w-])(?:{_BEFORE})[ -]){NUMBER_START}(?P<year>{_A_YEAR})(?P<s>['’]s)?{NUMBER_END}"
    r"(?! (?:people|men|women|years|days|hours|minutes|seconds|times|words|characters|tokens|more|other"
    r"|(?!(?:this|thus|perhaps|always|across|towards|besides|does|unless)\b)[a-z]{3,20}s)\b)"
)
_QUARTER = re.compile(rf"(?:\b(?:Q[1-4]|H[12]|FY)|©) ?(?P<year>{_A_YEAR}){NUMBER_END}")
_FISCAL = re.compile(rf"{START}FY ?(?:(?P<short>\d\d)|(?P<year>{_A_YEAR})){END}")
_BRACKETED = re.compile(rf"(?<=[(\[]){NUMBER_START}(?P<year>{_A_YEAR})(?=[)\],;])")
_ERA = re.compile(rf"{NUMBER_START}(?P<year>{_ANY_YEAR})(?P<era> (?:AD|BC|BCE|CE)){END}")
_APOSTROPHE = re.compile(rf"(?<![\w\d])['’](?P<year>\d\d){END}(?!['’\"])")


def years(draft: Draft) -> None:
    british = draft.british
    four_digits = _FOUR_DIGITS.search(draft.sentence) is not None
    draft.replace_numbers(_DECADE, _decades)
    if _TENS.search(draft.sentence):
        draft.replace(_MARKED_DECADE, _decades)
        draft.replace(_SHORT_DECADE, _decades, "decade")
    draft.replace_numbers(_YEARS, lambda match: _years(match, british))
    if four_digits:
        draft.replace(_CONTEXT, lambda match: year(int(match["year"]), british), "year")
    if "FY" in draft.sentence:
        draft.replace(_FISCAL, lambda match: f"fiscal year {_fiscal(match, british)}")
    if four_digits:
        draft.replace(_QUARTER, lambda match: year(int(match["year"]), british), "year")
    draft.replace_numbers(_BRACKETED, lambda match: year(int(match["year"]), british))
    draft.replace_numbers(_ERA, lambda match: year(int(match["year"]), british) + match["era"])
    if draft.has("'’"):
        draft.replace(_APOSTROPHE, lambda match: two_digits(int(match["year"]), british))


def _decades(match: re.Match[str]) -> str:
    said = _decade(match.groupdict().get("century"), match["tens"])
    if match["last"] is None:
        return said
    joint = match["dash"] if match["dash"].strip().isalpha() else " to "
    return f"{said}{joint}{_decade(match['last_century'], match['last'])}"


def _decade(century: str | None, tens: str) -> str:
    if century is None:
        return decade(10 * int(tens))
    if century + tens == "200":
        return "two thousands"
    return f"{cardinal(int(century), british=False)} {decade(10 * int(tens))}"


def _fiscal(match: re.Match[str], british: bool) -> str:
    return year(int(match["year"]), british) if match["year"] else two_digits(int(match["short"]), british)


def _years(match: re.Match[str], british: bool) -> str | None:
    first, last = int(match["first"]), int(match["last"])
    if last < 100:
        if last <= first % 100 or (match["dash"] == "-" and last <= 12):
            return None
        return f"{year(first, british)} to {two_digits(last, british)}"
    if last <= first:
        return None
    return f"{year(first, british)} to {year(last, british)}"
