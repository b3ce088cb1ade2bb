"""Normalisation rules of Spanish, French, Italian and Portuguese for numbers that a word next to them explains.

Examples: "Capítulo IV", "la II guerra mondiale", "le 14/07", "CEP 01310-100", "2³", "5 k€".
"""

from __future__ import annotations

import re

from text.locales.locale import Locale
from text.normalization.draft.draft import END, MASK, START, Draft
from text.normalization.draft.roman import value
from text.normalization.western.western_numbers import cardinal, nth, spoken_number

ROMAN = r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXL])"
_DAY = rf"(?P<day>[0-2]?\d|3[01])/(?P<month>0?[1-9]|1[0-2]){END}(?![/.,-]\d)"


_POWER = re.compile(r"(?<=\d)[²³](?![\w²³])")
_FIRST_OF_TWO = re.compile(rf"\b(?P<numeral>{ROMAN})(?= (?:e|o) (?:il |lo )?{ROMAN} secol[oi]\b)")


class Labelled:
    """Rules of one language; each takes the draft that it rewrites."""

    def __init__(self, locale: Locale) -> None:
        self._locale = locale
        self._words = words = locale.labels
        self._part = re.compile(rf"{START}(?:{words.parts}) (?P<numeral>{ROMAN}){END}(?!\.\w)")
        self._event = re.compile(
            rf"{START}(?P<numeral>{ROMAN}) (?=(?:(?P<masculine>{words.masculine})|(?P<feminine>{words.feminine}))\b)"
        )
        self._date = re.compile(rf"{START}(?:{words.before_dates}) (?P<date>{_DAY})")
        self._postcode = re.compile(rf"{START}(?:{words.postcode}):? (?P<code>\d{{5}}(?:-\d{{3}})?){END}")
        self._second = re.compile(rf"{words.centuries.replace('{numeral}', ROMAN)}(?P<numeral>{ROMAN}){END}")
        self._short_money = re.compile(rf"(?<![\w{MASK}.,])(?P<number>\d{{1,3}}(?:,\d{{1,2}})?) ?(?P<scale>[kM])€{END}")

    def romans(self, draft: Draft) -> None:
        """Roman numerals of chapters, events and second centuries."""
        draft.replace(self._part, lambda match: self._numeral(match, self._words.parts_ordinal), "numeral")
        draft.replace(
            self._event, lambda match: f"{nth(self._locale, value(match['numeral']), match['feminine'] is not None)} "
        )
        draft.replace(self._second, lambda match: self._numeral(match, self._locale.century_ordinal), "numeral")
        if self._locale.numbers == "it":
            draft.replace(_FIRST_OF_TWO, lambda match: self._numeral(match, True), "numeral")

    def _numeral(self, match: re.Match[str], ordinal: bool) -> str:
        number = value(match["numeral"])
        return nth(self._locale, number, False) if ordinal else cardinal(number, self._locale.numbers)

    def dates(self, draft: Draft) -> None:
        """Dates without a year, which only an article or a preposition tells from fractions."""
        draft.replace(self._date, self._day_and_month, "date")

    def _day_and_month(self, match: re.Match[str]) -> str | None:
        day, month = int(match["day"]), int(match["month"])
        if day == 0:
            return None
        said = self._locale.first_day if day == 1 else cardinal(day, self._locale.numbers)
        joint = " de " if self._locale.numbers in ("es", "pt_BR") else " "
        return f"{said}{joint}{self._locale.months[month - 1]}"

    def codes(self, draft: Draft) -> None:
        """Postcodes, digit by digit."""
        draft.replace(self._postcode, lambda match: ", ".join(map(self._digits, match["code"].split("-"))), "code")

    def _digits(self, written: str) -> str:
        return " ".join(cardinal(int(digit), self._locale.numbers) for digit in written)

    def money(self, draft: Draft) -> None:
        """Thousands and millions of euros in short: 5 k€, 3 M€."""
        draft.replace(self._short_money, self._thousands)

    def _thousands(self, match: re.Match[str]) -> str:
        euros = self._locale.currencies["€"][1]
        said = spoken_number(self._locale, match["number"])
        if match["scale"] == "k":
            joint = "" if self._words.thousand == "mila" else " "
            return f"{said}{joint}{self._words.thousand} {euros}"
        return f"{said} {self._words.million.format(euros)}"

    def powers(self, draft: Draft) -> None:
        """Squares and cubes of numbers."""
        draft.replace(_POWER, lambda match: f" {self._words.square if match[0] == '²' else self._words.cube}")
