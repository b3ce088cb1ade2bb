"""Numbers in words by num2words, without its commas, at which speakers don't pause; and addresses, for languages
that read their words as they are written and their signs by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from num2words import num2words

ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|(?:https?://|www\.)[\w./-]{3,200}(?<![.,/])", re.ASCII
)


def spoken_address(written: str, signs: Mapping[str, str], gap: str) -> str:
    """Address with the names of its signs, joined by `gap`, without its scheme, "www." and signs without a name."""
    bare = re.sub(r"(?i)^(?:https?://)?(?:www\.)?", "", written.rstrip("/"))
    parts = re.findall(r"[^\W_]+|[^\w\s]|_", bare)
    return gap.join(filter(None, (signs.get(part, part if part.isalnum() or not gap else "") for part in parts)))


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MAX_DIGITS = 15


@lru_cache(4096)
def cardinal(number: int, british: bool) -> str:
    """Cardinal in words: `one hundred five` in America, `one hundred and five` in Britain."""
    return _spoken(num2words(number), british)


@lru_cache(4096)
def ordinal(number: int, british: bool) -> str:
    return _spoken(num2words(number, to="ordinal"), british)


def _spoken(words: str, british: bool) -> str:
    words = words.replace(",", "")
    return words if british else words.replace(" and ", " ")


def digits(written: str) -> str:
    """Names of a text's digits; all other characters are left out."""
    return " ".join(_DIGITS[int(character)] for character in written if character.isdecimal())


def ungrouped(written: str) -> str:
    """Digits of a number without the signs that group them."""
    return re.sub("[,'’ ]", "", written)


def number(written: str, british: bool) -> str:
    """Words for a written number, with its sign, commas and point if it has them; leading zeros are said."""
    written = ungrouped(written)
    minus = "minus " if written[0] in "-−" else ""
    whole, _, fraction = written.lstrip("-−").partition(".")
    said = digits(whole) if (len(whole) > 1 and whole[0] == "0") or len(whole) > _MAX_DIGITS else ""
    if whole and not said:
        said = cardinal(int(whole), british)
    if fraction:
        said = f"{said} point {digits(fraction)}".strip()
    return minus + said


def fraction(above: int, below: int, british: bool) -> str:
    """Fraction in words: `one half`, `three quarters`, `five sixths`."""
    name = {2: "half", 4: "quarter"}.get(below) or ordinal(below, british)
    many = "halves" if below == 2 else f"{name}s"
    return f"{cardinal(above, british)} {name if above == 1 else many}"


@lru_cache(1024)
def year(number: int, british: bool) -> str:
    """Year in words: `nineteen oh five`, `two thousand five`, `twenty twenty-six`."""
    hundreds, rest = divmod(number, 100)
    if number < 1000 or (hundreds % 10 == 0 and rest < 10):
        return cardinal(number, british)
    if rest == 0:
        return f"{cardinal(hundreds, british)} hundred"
    return f"{cardinal(hundreds, british)} {two_digits(rest, british)}"


def two_digits(number: int, british: bool) -> str:
    """Words for the last two digits of a year, or for a time's minutes: `oh five`, `thirty`."""
    return f"oh {cardinal(number, british)}" if number < 10 else cardinal(number, british)


def in_pairs(written: str, british: bool) -> str:
    """Words for a house, room or flight number: `two oh four`, `sixteen hundred`, `twenty-four ninety`."""
    value = int(written)
    if len(written) < 3 or len(written) > 4 or written[0] == "0":
        return cardinal(value, british) if len(written) < 3 else digits(written)
    hundreds, rest = divmod(value, 100)
    if rest == 0:
        return f"{cardinal(hundreds, british)} hundred" if hundreds % 10 else cardinal(value, british)
    return f"{cardinal(hundreds, british)} {two_digits(rest, british)}"


def decade(tens: int) -> str:
    """Plural of a multiple of ten below a hundred: `nineties`, `tens`; `hundreds` for 0."""
    if tens == 0:
        return "hundreds"
    name = cardinal(tens, british=False)
    return name.removesuffix("y") + "ies" if name.endswith("y") else name + "s"


_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman_value(numeral: str) -> int:
    """Value of a well-formed Roman numeral in capitals."""
    values = [_VALUES[letter] for letter in numeral]
    return sum(-one if one < following else one for one, following in zip(values, [*values[1:], 0], strict=True))
