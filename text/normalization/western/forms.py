"""Spoken forms of single matches of the rules in `text.normalization.western.western`.

A function returns None for a match that is none of its kind, and so stays for later rules.
"""

from __future__ import annotations

import re

from text.normalization.number_words import roman_value
from text.normalization.western.words import Locale, agreeing, cardinal, counted, nth, spoken_number

_DE_BEFORE = frozenset(
    ("millones", "millón", "millions", "million", "milliards", "milliard", "milioni", "milione", "miliardi")
)
_MANY_DE = _DE_BEFORE | {"milhões", "milhão", "bilhões", "mil millones"}
_ONE = {"es": "un", "fr": "un", "it": "un", "pt_BR": "um"}
_DURATIONS = {
    "es": (("hora", "horas"), ("minuto", "minutos")),
    "it": (("ora", "ore"), ("minuto", "minuti")),
    "pt_BR": (("hora", "horas"), ("minuto", "minutos")),
}
_APOCOPES = {1: "primer", 3: "tercer"}
"""Spanish ordinals before a masculine noun, written 1.er and 3.er."""

_CENTURIES = {"s. ": "siglo ", "séc. ": "século ", "Séc. ": "Século "}
_FRACTIONS = {
    "es": {2: ("medio", "medios"), 3: ("tercio", "tercios"), 4: ("cuarto", "cuartos"), 5: ("quinto", "quintos")},
    "fr": {2: ("demi", "demis"), 3: ("tiers", "tiers"), 4: ("quart", "quarts"), 5: ("cinquième", "cinquièmes")},
    "it": {2: ("mezzo", "mezzi"), 3: ("terzo", "terzi"), 4: ("quarto", "quarti"), 5: ("quinto", "quinti")},
    "pt_BR": {2: ("meio", "meios"), 3: ("terço", "terços"), 4: ("quarto", "quartos"), 5: ("quinto", "quintos")},
}


def address(locale: Locale, written: str) -> str:
    """Words for a web or mail address; signs without a name in the language are left out."""
    parts = re.findall(r"[^\W_]+|[^\w\s]|_", written.rstrip("/"))
    return " ".join(locale.signs.get(part, part if part.isalnum() else "") for part in parts)


def phone(locale: Locale, written: str, named: bool) -> str | None:
    """Words for a telephone number; None under 7 digits, or if neither its form nor the sentence (`named`) shows it."""
    groups = re.findall(r"\d+", written)
    plain = not (named or written[0] == "+" or (written[0] == "0" and len(groups) >= 4))
    if plain or sum(map(len, groups)) < 7:
        return None
    said = [", ".join(filter(None, (_group(locale, group) for group in groups)))]
    return " ".join([locale.signs["+"], *said] if written[0] == "+" else said)


def _group(locale: Locale, digits: str) -> str:
    """Words for a group of digits: two digits as one number in languages that do so, others digit by digit."""
    if len(digits) == 2 and digits[0] != "0" and locale.numbers in ("fr", "es"):
        return cardinal(int(digits), locale.numbers)
    return " ".join(cardinal(int(digit), locale.numbers) for digit in digits)


def date(locale: Locale, day: str, month: str, year: str) -> str | None:
    """Words for a date, a two-digit year within 1970 to 2069; None if the day or month is out of range."""
    if not (1 <= int(day) <= 31 and 1 <= int(month) <= 12):
        return None
    full = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 70 else 1900)
    said = locale.first_day if int(day) == 1 else cardinal(int(day), locale.numbers)
    return locale.date.format(day=said, month=locale.months[int(month) - 1], year=cardinal(full, locale.numbers))


def time(locale: Locale, match: re.Match[str]) -> str | None:
    """Words for a time of day or, with minutes named, a duration; None for a time written with a full stop, which may
    be a decimal.
    """
    if match["sign"] == ".":
        return None
    if match["span"] and match["minutes"] and locale.numbers != "fr":
        return _duration(locale, match["hours"], match["minutes"])
    said = clock(locale, match)
    if match["alone"] and locale.numbers == "es":
        said += f" {_DURATIONS['es'][0][match['hours'] != '1']}"
    elif match["minutes"] and not int(match["minutes"]) and locale.numbers == "es":
        if match["hour"]:
            said += " horas"
        elif re.search(r"\bl?as? $", match.string[: match.start()]) and not match["noon"]:
            said += " en punto"
    if match["seconds"]:
        said += f", {cardinal(int(match['seconds']), locale.numbers)}"
    return f"{said} {_part_of_day(match)}" if match["noon"] else said


def clock(locale: Locale, match: re.Match[str]) -> str:
    hours, minutes = int(match["hours"]), match["minutes"]
    said = agreeing(
        locale, cardinal(hours, locale.numbers), "minuto" if locale.numbers == "it" and hours != 1 else "hora"
    )
    if locale.hours_first:
        said = "une" if hours == 1 and locale.numbers == "fr" else said
        said += f" {locale.hour[0 if hours <= 1 else 1]}"
    if minutes and int(minutes):
        said = " ".join(filter(None, (said, locale.time_joint, cardinal(int(minutes), locale.numbers))))
    return said


def noon(locale: Locale, match: re.Match[str]) -> str:
    return f"{agreeing(locale, cardinal(int(match['hours']), locale.numbers), 'hora')} {_part_of_day(match)}"


def _part_of_day(match: re.Match[str]) -> str:
    hours = int(match["hours"])
    if match["noon"] == "a":
        said = "de la noche" if hours == 12 else "de la mañana"
    elif hours == 12:
        said = "del mediodía"
    else:
        said = "de la noche" if 8 <= hours <= 11 else "de la tarde"
    return said + "." * (match.end() == len(match.string))


def _duration(locale: Locale, hours: str, minutes: str) -> str:
    hour, minute = _DURATIONS[locale.numbers]
    said = [counted(locale, hours.lstrip("0") or "0", hour)]
    if int(minutes):
        said.append(counted(locale, minutes.lstrip("0"), minute))
    return " y ".join(said) if locale.numbers == "es" else " e ".join(said)


def amount(locale: Locale, match: re.Match[str]) -> str:
    """Words for an amount of money or a range of amounts, with hundredths, and with the unit that the price is for."""
    said = _upto(locale, match) if "first" in match.groupdict() else ""
    return said + _amount(locale, match) + _per(locale, match["per"])


def _upto(locale: Locale, match: re.Match[str]) -> str:
    """Words for a range's first number and the word after it; empty if there is no range."""
    return f"{spoken_number(locale, match['first'])} {locale.to} " if match["first"] else ""


def _per(locale: Locale, written: str | None) -> str:
    return f" {locale.per} {locale.units[written[1:]][0]}" if written else ""


def _amount(locale: Locale, match: re.Match[str]) -> str:
    forms, written, big = locale.currencies[match["sign"]], match["number"], match["big"]
    if big:
        de = ("d'" if forms[1][0] in "aeiou" else "de ") if locale.numbers == "fr" else "de "
        de = "di " if locale.numbers == "it" else de
        return f"{spoken_number(locale, written)} {big} {de if big in _MANY_DE else ''}{forms[1]}"
    whole, _, fraction = written.partition(",")
    if len(fraction) != 2 or not int(fraction):
        return counted(locale, whole if fraction and not int(fraction) else written, forms)
    if re.sub(r"\D", "", whole) == "0":
        return counted(locale, fraction.lstrip("0"), locale.hundredths)
    cents = locale.hundredths
    return f"{counted(locale, whole, forms)} {locale.joint} {counted(locale, fraction.lstrip('0'), cents)}"


def measure(locale: Locale, match: re.Match[str]) -> str | None:
    """Words for a number with a unit; None for s, h, V, L and l without a space, and for the degree sign in Italian."""
    if match["unit"] in ("s", "h", "g", "W", "V", "L", "l") and not match["gap"] and match["unit"] not in "gW":
        return None
    if match["unit"] == "°" and locale.numbers == "it":
        return None
    said = counted(locale, match["number"], locale.units[match["unit"]])
    return _upto(locale, match) + (f"{locale.signs['−']} {said}" if match["minus"] else said)


def percentage(locale: Locale, match: re.Match[str]) -> str:
    said = f"{spoken_number(locale, match['number'])} {locale.percent}"
    return _upto(locale, match) + (f"{locale.signs['−']} {said}" if match["minus"] else said)


def ordinal_number(locale: Locale, match: re.Match[str]) -> str:
    number, written = int(match["number"]), match[0]
    if locale.numbers == "es" and written.endswith("er") and number in _APOCOPES:
        return _APOCOPES[number]
    if locale.numbers == "fr" and number == 2 and "nd" in written:
        return f"second{'e' if 'nde' in written else ''}{'s' * written.endswith('s')}"
    return nth(locale, number, match["feminine"] is not None)


def roman_ordinal(locale: Locale, match: re.Match[str]) -> str | None:
    """Ordinal for a Roman numeral with an ending. French I counts only as Ier and Ire, which count only for I:
    "Vers" is a word.
    """
    number = roman_value(match["numeral"])
    if locale.numbers == "fr" and (number == 1) != match["ending"].startswith(("er", "re")):
        return None
    return nth(locale, number, match["feminine"] is not None)


def century(locale: Locale, match: re.Match[str]) -> str:
    """Words for a century's Roman numeral, after the text that precedes it in the match."""
    numeral = match["numeral"] or match["other"]
    number = roman_value(numeral)
    said = nth(locale, number, False) if locale.century_ordinal else cardinal(number, locale.numbers)
    start = match.start("numeral") if match["numeral"] else match.start("other")
    before = _CENTURIES.get(match.string[match.start() : start], match.string[match.start() : start])
    return f"{before}{said}"


def ruler(locale: Locale, match: re.Match[str]) -> str:
    number = roman_value(match["numeral"])
    if number == 1:
        return nth(locale, 1, False)
    if locale.rulers_ordinal and (number <= 10 or locale.numbers == "it"):
        return nth(locale, number, False)
    return cardinal(number, locale.numbers)


def fraction(locale: Locale, match: re.Match[str]) -> str | None:
    """Words for a proper fraction; None for other fractions and for denominators without a name."""
    above, below = int(match["above"]), int(match["below"])
    names = _FRACTIONS[locale.numbers]
    if below not in names or not 0 < above < below:
        return None
    one, many = names[below]
    return f"{_ONE[locale.numbers]} {one}" if above == 1 else f"{cardinal(above, locale.numbers)} {many}"


def number_range(locale: Locale, match: re.Match[str]) -> str | None:
    """Words for a range of numbers, or for a score; None if the numbers do not rise and are too large for a score."""
    if int(match["first"]) >= int(match["last"]) and len(match["first"]) > 2:
        return None
    return f"{spoken_number(locale, match['first'])} {locale.to} {spoken_number(locale, match['last'])}"


def abbreviation(locale: Locale, match: re.Match[str]) -> str:
    """Full form of an abbreviation, with its full stop if that ends the sentence."""
    said = locale.abbreviations[match["name"]]
    if match["last"] is not None and match["name"].endswith("."):
        return f"{said}.{match['last']}"
    return said
