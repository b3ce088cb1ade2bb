"""Numbers in Spanish, French, Italian and Portuguese words: cardinals, ordinals, and agreement with a noun."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import msgspec
from num2words import num2words

from text.locales.tables import table, word_list

_FEMININE = word_list(
    "libra libras hora horas ora ore livre livres heure heures sterlina sterline "
    "tonelada hectárea hectáreas minute minutes seconde secondes"
)


@lru_cache(4096)
def cardinal(number: int, language: str) -> str:
    """Cardinal in words, without num2words' commas."""
    return str(num2words(number, lang=language)).replace(",", "")


@lru_cache(4096)
def ordinal(number: int, language: str) -> str:
    return str(num2words(number, lang=language, to="ordinal")).replace(",", "")


def spoken_number(locale: Locale, written: str) -> str:
    """Number in words; the decimals are a number of their own, as all four languages read them."""
    written = re.sub(r"[.\u202f\u00a0 ]", "", written)
    whole, _, fraction = written.partition(",")
    said = cardinal(int(whole), locale.numbers)
    if not fraction:
        return said
    zeros = len(fraction) - len(fraction.lstrip("0"))
    rest = [cardinal(0, locale.numbers)] * zeros
    if fraction.strip("0"):
        rest.append(cardinal(int(fraction), locale.numbers))
    return f"{said} {locale.point} {' '.join(rest)}"


def counted(locale: Locale, written: str, forms: tuple[str, str]) -> str:
    """Number in words with its unit: `un euro`, `veintiún kilómetros`, `une heure`."""
    said = spoken_number(locale, written)
    whole = re.sub(r"[^\d,]", "", written)
    one = whole == "1" or (locale.numbers in ("fr", "pt_BR") and whole.partition(",")[0] in ("0", "1"))
    form = forms[0] if one else forms[1]
    if "," not in written:
        said = agreeing(locale, said, form)
    return f"{said} {form}"


def agreeing(locale: Locale, said: str, noun: str) -> str:
    """Cardinal whose last word agrees with the gender of a noun."""
    feminine = noun.split()[0] in _FEMININE
    for ending, short in locale.one.items():
        if said.endswith(ending):
            if locale.numbers == "it" and said != ending:
                return said
            return said.removesuffix(ending) + ("una" if ending == "uno" and feminine else short)
    if feminine and locale.numbers in ("es", "pt_BR"):
        said = re.sub(r"entos\b", "entas", said)
        said = re.sub(r"\bdois$", "duas", said)
    if feminine and locale.numbers in ("fr", "pt_BR") and re.search(r"\bum?n?$", said):
        return re.sub(r"\b(un|um)$", lambda one: "une" if one[0] == "un" else "uma", said)
    return said


def nth(locale: Locale, number: int, feminine: bool) -> str:
    said = ordinal(number, locale.numbers)
    if not feminine:
        return said
    masculine, ending = locale.feminine
    if masculine == "o":
        return " ".join(re.sub("o$", ending, word) for word in said.split())
    return ending if said == masculine else said


@dataclass(frozen=True, slots=True)
class Labels:
    """Words of one language that explain a number next to them."""

    parts: str
    """Pattern of a text's parts, before Roman numerals."""
    parts_ordinal: bool
    """True if a part's number is an ordinal ("capitolo quarto")."""
    masculine: str
    """Pattern of masculine nouns after a Roman numeral that is an ordinal ("XX Congreso")."""
    feminine: str
    """Pattern of such feminine nouns ("II Guerra Mundial")."""
    before_dates: str
    """Pattern of the words before a date without a year."""
    postcode: str
    """Pattern of the words before a postcode."""
    square: str
    cube: str
    centuries: str
    """Pattern of the plural of "century" with the word between two Roman numerals, which come around it; `{numeral}`
    stands for the first."""
    thousand: str
    million: str
    """Format of millions of a currency, with `{}` for the currency."""


@dataclass(frozen=True, slots=True)
class Locale:
    """Words, patterns and conventions of one language."""

    numbers: str
    """Language name in num2words."""
    point: str
    """Spoken word for the decimal separator."""
    months: tuple[str, ...]
    date: str
    """Format of a spoken date, with `{day}`, `{month}` and `{year}`."""
    first_day: str
    """Spoken form of the first day of a month."""
    hour: tuple[str, str]
    """Word for "hour" in a time of day: singular, plural."""
    hours_first: bool
    """True if a time names its hours ("14 heures 30"), False if it doesn't ("las 14 y 30")."""
    time_joint: str
    """Word between hours and minutes."""
    percent: str
    per: str
    to: str
    """Word between a range's ends."""
    joint: str
    """Word between units of money and hundredths."""
    signs: Mapping[str, str]
    """Spoken words for single signs in formulas and addresses."""
    currencies: Mapping[str, tuple[str, str]]
    hundredths: tuple[str, str]
    units: Mapping[str, tuple[str, str]]
    abbreviations: Mapping[str, str]
    one: Mapping[str, str]
    """Endings of cardinals before a masculine noun: uno → un."""
    ordinals: str
    """Pattern of ordinals' endings; the group `feminine` matches feminine endings."""
    century: str
    """Pattern of the words before or after a century's Roman numeral; `{numeral}` stands for the numeral."""
    century_ordinal: bool
    """True if centuries are counted with ordinals (XXIe siècle), False for cardinals (siglo XXI)."""
    rulers: str
    """Pattern of rulers' names, after which a Roman numeral is a ruler's number."""
    rulers_ordinal: bool
    feminine: tuple[str, str]
    """Ending of a masculine ordinal, and its replacement in the feminine."""
    labels: Labels


@cache
def locale_of(language: str) -> Locale | None:
    """The locale of a language code's first part; None for other languages."""
    read = table(language, "locale")
    return msgspec.convert(read, Locale) if read else None
