"""Rules for years and decades, which the words around a number must show."""

from __future__ import annotations

import re

from text.locales.locale import MONTH
from text.normalization.draft.draft import DASH, END, NUMBER_END, NUMBER_START, START, Draft
from text.normalization.draft.words import cardinal, decade, two_digits, year

_YEAR = r"(?:1\d|20)\d\d"
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
_YEARS = re.compile(rf"{NUMBER_START}(?P<first>{_YEAR})(?P<dash>{DASH}| - )(?P<last>{_YEAR}|\d{{2}}){NUMBER_END}(?!-)")
_CONTEXT = re.compile(
    rf"(?P<before>(?<![\w-])(?:{_BEFORE})[ -]){NUMBER_START}(?P<year>{_YEAR})(?P<s>['’]s)?{NUMBER_END}"
    r"(?! (?:people|men|women|years|days|hours|minutes|seconds|times|words|characters|tokens|more|other"
    r"|(?!(?:this|thus|perhaps|always|across|towards|besides|does|unless)\b)[a-z]{3,20}s)\b)"
)
_QUARTER = re.compile(rf"(?:\b(?:Q[1-4]|H[12]|FY)|©) ?(?P<year>{_YEAR}){NUMBER_END}")
_FISCAL = re.compile(rf"{START}FY ?(?:(?P<short>\d\d)|(?P<year>{_YEAR})){END}")
_BRACKETED = re.compile(rf"(?<=[(\[]){NUMBER_START}(?P<year>{_YEAR})(?=[)\],;])")
_ERA = re.compile(rf"{NUMBER_START}(?P<year>{_ANY_YEAR})(?P<era> (?:AD|BC|BCE|CE)){END}")
_APOSTROPHE = re.compile(rf"(?<![\w\d])['’](?P<year>\d\d){END}(?!['’\"])")


def apply(draft: Draft) -> None:
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
