"""Normalisation rules for Hindi. Numbers stay digits, which espeak-ng reads by lakh and crore."""

from __future__ import annotations

import re

from text.locales.tables import table
from text.normalization.draft import DASH, END, MASK, Draft, Rule
from text.normalization.number_words import ADDRESS, spoken_address

_WORDS = table("hi", "words")
_MONTHS: list[str] = _WORDS["months"]
_NUMBER = r"(?:\d{1,3}(?:,\d{2,3})+|\d{1,15})(?:\.\d{1,6})?"
_EDGE = rf"(?<![\w{MASK}.,/:-])"
_DATE = re.compile(rf"{_EDGE}(?P<day>\d{{1,2}})[/.-](?P<month>\d{{1,2}})[/.-](?P<year>\d{{4}}){END}(?![/-])")
_ISO = re.compile(rf"{_EDGE}(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d){END}")
_DAY = re.compile(rf"{_EDGE}(?P<day>\d{{1,2}})/(?P<month>\d{{1,2}})(?= (?:को|से|तक|का|की|के|पर)(?!\w))")
"""A date without a year, which only the word after it tells from a fraction."""

_CLOCK = re.compile(rf"{_EDGE}(?P<hours>\d{{1,2}}):(?P<minutes>[0-5]\d){END}(?! ?:)(?: ?बजे)?")
_MONEY = re.compile(
    rf"(?P<sign>[₹$€£]|Rs\.? ?|रु\.? ?) ?(?P<number>{_NUMBER})(?P<big>(?: (?:लाख|करोड़|हज़ार|हजार|अरब))+)?"
)
_UPTO = rf"(?:(?P<first>\d{{1,4}}){DASH})?"
_PERCENT = re.compile(rf"{_EDGE}{_UPTO}(?P<minus>[-−])?(?P<number>{_NUMBER}) ?%")
_RANGE = re.compile(rf"{_EDGE}(?P<first>\d{{1,4}}){DASH}(?P<last>\d{{1,4}}){END}(?![-/.,]\d)")
_GROUPED = re.compile(rf"{_EDGE}(?P<number>\d{{1,3}}(?:,\d{{2,3}})+)(?P<fraction>\.\d{{1,6}})?(?![\d,])")
_DECIMAL = re.compile(rf"{_EDGE}(?P<whole>\d{{1,15}})\.(?P<fraction>\d{{1,6}})(?![\d.])")
_CURRENCIES: dict[str, str] = _WORDS["currencies"]
_UNITS: dict[str, str] = _WORDS["units"]
_MEASURE = re.compile(
    rf"{_EDGE}{_UPTO}(?P<minus>[-−])?(?P<number>{_NUMBER}) ?"
    rf"(?P<unit>{'|'.join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))})(?![\w/²³])"
)
_PHONE = re.compile(
    rf"{_EDGE}(?P<plus>\+\d{{1,3}}[ -])?(?:[6-9]\d{{4}}[ -]?\d{{5}}|0\d{{2,4}}[ -]\d{{6,8}}){END}(?![.,/-]?\d)"
)
_CODE = re.compile(rf"(?:पिन(?: कोड)?|PIN):? (?P<code>\d{{6}}|\d{{3}} \d{{3}}){END}")
_FRACTION = re.compile(rf"{_EDGE}(?P<fraction>[1-3]/[2-4]){END}(?!/)")
_FRACTIONS: dict[str, str] = _WORDS["fractions"]
_POWER = re.compile(r"(?<=\d)[²³](?![\w²³])")
_POWERS: dict[str, str] = _WORDS["powers"]
_ABBREVIATIONS: dict[str, str] = _WORDS["abbreviations"]
_LONGEST_FIRST = sorted(_ABBREVIATIONS, key=len, reverse=True)
_SHORT = re.compile(rf"(?<![\w{MASK}])(?P<name>{'|'.join(map(re.escape, _LONGEST_FIRST))})(?= )")
_SIGNS: dict[str, str] = _WORDS["signs"]
_OPERATION = re.compile(rf"(?<=[\d{MASK}]) ?(?P<sign>[+=×÷]) ?(?=\d)")
_OPERATIONS: dict[str, str] = _WORDS["operations"]


def _plain(written: str) -> str:
    """Number without the signs that group its digits; decimals are said digit by digit after दशमलव."""
    whole, _, fraction = written.replace(",", "").partition(".")
    return f"{whole} दशमलव {' '.join(fraction)}" if fraction else whole


def _date(match: re.Match[str]) -> str | None:
    if (said := _day(match)) is None:
        return None
    return f"{said} {int(match['year'])}"


def _day(match: re.Match[str]) -> str | None:
    if not (1 <= int(match["day"]) <= 31 and 1 <= int(match["month"]) <= 12):
        return None
    return f"{int(match['day'])} {_MONTHS[int(match['month']) - 1]}"


def _time(match: re.Match[str]) -> str:
    hours, minutes = int(match["hours"]), int(match["minutes"])
    return f"{hours} बजकर {minutes} मिनट" if minutes else f"{hours} बजे"


def _amount(match: re.Match[str]) -> str:
    whole, _, fraction = match["number"].replace(",", "").partition(".")
    currency = _CURRENCIES.get(match["sign"], "रुपये")
    if currency == "रुपये" and len(fraction) == 2 and not match["big"]:
        paise = f" {int(fraction)} पैसे" if int(fraction) else ""
        return f"{whole} {'रुपया' if whole == '1' and not paise else currency}{paise}"
    if (whole, fraction, match["big"], currency) == ("1", "", None, "रुपये"):
        return "1 रुपया"
    return f"{_plain(match['number'])}{match['big'] or ''} {currency}"


def _measure(match: re.Match[str]) -> str:
    return f"{_quantity(match)} {_UNITS[match['unit']]}"


def _quantity(match: re.Match[str]) -> str:
    upto = f"{match['first']} से " if match["first"] else ""
    minus = "माइनस " if match["minus"] else ""
    return f"{upto}{minus}{_plain(match['number'])}"


def _phone(match: re.Match[str]) -> str:
    said = ", ".join(" ".join(digits) for digits in re.findall(r"\d+", match[0]))
    return f"प्लस {said}" if match["plus"] else said


def _dates(draft: Draft) -> None:
    draft.replace(_ISO, _date)
    draft.replace(_DATE, _date)
    draft.replace(_DAY, _day)


def _units(draft: Draft) -> None:
    draft.replace(_PERCENT, lambda match: f"{_quantity(match)} प्रतिशत")
    draft.replace(_MEASURE, _measure)


def _math(draft: Draft) -> None:
    draft.replace(_POWER, lambda match: _POWERS[match[0]])
    draft.replace(_OPERATION, lambda match: f" {_OPERATIONS[match['sign']]} ")


def _numbers(draft: Draft) -> None:
    draft.replace(_GROUPED, lambda match: _plain(match[0]))
    draft.replace(_DECIMAL, lambda match: _plain(match[0]))


_DIGIT = re.compile(r"\d")

RULES: tuple[Rule, ...] = (
    Rule(
        "web_addresses",
        lambda draft: draft.replace(ADDRESS, lambda match: spoken_address(match[0], _SIGNS, gap=" ")),
        re.compile(r"@|://|www\."),
    ),
    Rule(
        "codes",
        lambda draft: draft.replace(_CODE, lambda match: " ".join(match["code"].replace(" ", "")), "code"),
        _DIGIT,
    ),
    Rule("phones", lambda draft: draft.replace(_PHONE, _phone), _DIGIT),
    Rule("dates", _dates, _DIGIT),
    Rule("times", lambda draft: draft.replace(_CLOCK, _time), _DIGIT),
    Rule("money", lambda draft: draft.replace(_MONEY, _amount), _DIGIT),
    Rule("units", _units, _DIGIT),
    Rule(
        "fractions",
        lambda draft: draft.replace(_FRACTION, lambda match: _FRACTIONS.get(match[0])),
        re.compile(r"\d/\d"),
    ),
    Rule("ranges", lambda draft: draft.replace(_RANGE, lambda match: f"{match['first']} से {match['last']}"), _DIGIT),
    Rule("math", _math, _DIGIT),
    Rule("numbers", _numbers, _DIGIT),
    Rule(
        "abbreviations",
        lambda draft: draft.replace(_SHORT, lambda match: _ABBREVIATIONS[match["name"]]),
        re.compile(r"\."),
    ),
)
