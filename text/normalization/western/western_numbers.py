"""Numbers in Spanish, French, Italian and Portuguese words: cardinals, ordinals, and agreement with a noun."""

from __future__ import annotations

import re
from functools import lru_cache

from num2words import num2words

from text.locales.locale import Locale

_FEMININE = frozenset(
    (
        "libra",
        "libras",
        "hora",
        "horas",
        "ora",
        "ore",
        "livre",
        "livres",
        "heure",
        "heures",
        "sterlina",
        "sterline",
        "tonelada",
        "hectárea",
        "hectáreas",
        "minute",
        "minutes",
        "seconde",
        "secondes",
    )
)


@lru_cache(4096)
def cardinal(number: int, language: str) -> str:
    """Cardinal in words, without num2words' commas."""
    return str(num2words(number, lang=language)).replace(",", "")


@lru_cache(4096)
def ordinal(number: int, language: str) -> str:
    """Ordinal in words, in the masculine singular."""
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
    """Ordinal in words, masculine or feminine."""
    said = ordinal(number, locale.numbers)
    if not feminine:
        return said
    masculine, ending = locale.feminine
    if masculine == "o":
        return " ".join(re.sub("o$", ending, word) for word in said.split())
    return ending if said == masculine else said
