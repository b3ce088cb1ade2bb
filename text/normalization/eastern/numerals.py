"""Words of Japanese and Mandarin, and their numbers in ideographs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from unicodedata import normalize

import msgspec
from num2words import num2words

from text.locales.tables import table
from text.normalization.number_words import roman_value, spoken_address

MEASURE_WORDS = "|".join(table("cmn", "eastern")["measure_words"].split())
"""Pattern of Mandarin measure words, before which two is 两."""

_DIGITS = "〇一二三四五六七八九"
_SMALL = ("千", "百", "十", "")


@dataclass(frozen=True, slots=True)
class EasternWords:
    japanese: bool
    """True for Japanese, False for Mandarin, where their grammar differs."""
    zero: str
    point: str
    minus: str
    large: tuple[str, ...]
    """Names of the powers of 10,000."""
    percent: str
    """Format of a percentage, with `{}` for the number."""
    currencies: Mapping[str, str]
    units: Mapping[str, str]
    clock: str
    half_past: str
    to: str
    fraction: str
    signs: Mapping[str, str]
    of_whole: str
    """Format of a part of a whole: 92/100点, 3/10层."""
    tens: str
    """Format of a number that a power of ten multiplies."""
    phone_digit: tuple[str, str]
    """Digit that telephone numbers say another way, and how."""
    plus: str
    versus: str
    """Word between the numbers of a score or a ratio."""
    numbered: str
    """Signs before numbers with a hyphen that count no range: 图3-1; any ideograph in Japanese."""
    chain: str
    """Word between the numbers of an address or a figure."""
    per: str
    per_unit: str
    rate: str
    """Format of what comes before a count: 3次/天, with rates of their own by unit."""
    rates: Mapping[str, str]
    code_words: str
    """Patterns of words before numbers that are read digit by digit."""
    score_cues: str
    """Words of a sentence in which a dash or a colon may be a score's."""
    counters: str
    """Signs after a number that make it no score."""
    magnitudes: Mapping[str, int]
    """Letters after a number, and what they multiply it by."""
    names: Mapping[str, str]
    """Words for what the forms' groups `x` match."""
    forms: Mapping[str, Mapping[str, str]]
    """Expressions by rule, each with what is said, and the numbers of its groups, read as by `Numerals.readers`."""


@cache
def eastern_words(language: str) -> EasternWords:
    words = msgspec.convert(table(language, "eastern"), EasternWords)
    return replace(words, units={**words.units, **{unit.replace("μ", "µ"): said for unit, said in words.units.items()}})


class Numerals:
    """Numbers of one language. Digits are given in ASCII."""

    def __init__(self, words: EasternWords) -> None:
        self._words = words
        self.readers: Mapping[str, Callable[[str], str]] = {
            "n": self.number,
            "c": self.counted,
            "d": self.groups,
            "y": self.year,
            "z": self.two_digits,
            "r": lambda numeral: self.number(str(roman_value(normalize("NFKC", numeral).upper()))),
            "t": str,
            "a": lambda code: re.sub(r"\d", lambda digit: self.digits(digit[0]), code),
            "w": lambda address: spoken_address(address, words.signs, gap=""),
            "s": words.currencies.__getitem__,
            "q": lambda unit: words.units.get(unit, unit).replace("{}", ""),
            "u": lambda sign: words.to,
            "x": lambda name: words.names.get(name, words.names.get(name.lower(), name)),
        }
        """Reading of a form's group, by the first letter of its name."""

    def number(self, written: str) -> str:
        """Number in ideographs: 千二百五十 in Japanese, 一千二百五十 in Mandarin."""
        whole, _, fraction = written.replace(",", "").replace("，", "").partition(".")
        said = self._ideographs(int(whole or 0))
        return f"{said}{self._words.point}{self.digits(fraction)}" if fraction else said

    def counted(self, written: str) -> str:
        """Number before what it counts: 两 in place of 二 in Mandarin."""
        number = self.number(written)
        return "两" if number == "二" and not self._words.japanese else number

    def digits(self, written: str) -> str:
        return "".join(self._words.zero if digit == "0" else _DIGITS[int(digit)] for digit in written)

    def groups(self, written: str) -> str:
        """Groups of digits, such as those of a telephone number, digit by digit with a pause after each group."""
        groups = re.findall(r"\d+", written)
        return "、".join(self.digits(group).replace(*self._words.phone_digit) for group in groups)

    def year(self, written: str) -> str:
        """Year, which Japanese reads as a number and Mandarin digit by digit."""
        return self.number(written) if self._words.japanese else self.digits(written)

    def two_digits(self, written: str) -> str:
        """Minutes or seconds; Mandarin says the zero of 8:05."""
        said = self.number(written)
        zero = not self._words.japanese and written[0] == "0" and int(written)
        return self._words.zero + said if zero else said

    def _ideographs(self, number: int) -> str:
        """Number up to 10^16; Mandarin says 零 for gaps, and 两 for two thousand and two ten thousands."""
        zero = self._words.zero
        if self._words.japanese or not number:
            return str(num2words(number, lang="ja")) if number else zero
        said = ""
        for place in range((len(str(number)) - 1) // 4, -1, -1):
            group = f"{number // 10_000**place % 10_000:04}"
            digits = "".join(
                _DIGITS[int(digit)] + name * (digit != "0") for digit, name in zip(group, _SMALL, strict=True)
            )
            digits = "〇两" if group == "0002" and place else digits.rstrip("〇")
            said += digits + self._words.large[place] if digits else "〇"
        said = re.sub("〇+", zero, said).strip(zero).replace("二千", "两千")
        return said.removeprefix("一") if said.startswith("一十") else said
