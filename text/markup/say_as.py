"""Words for the text of SSML's `say-as`, from num2words and the rules that normalise English."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable

from num2words import num2words

from text.locales.english import ADDRESS_SIGNS, MONTH_NAMES, SIGNS, month_name
from text.normalization.draft import Draft
from text.normalization.english import english
from text.normalization.number_words import digits, number, ordinal, year

_NUMBER = re.compile(r"[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_INTEGER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:st|nd|rd|th)?", re.IGNORECASE)
_PART = re.compile(r"\d+|[^\W\d_]+")
_DURATION = re.compile(r"\d{1,3}(?:[:'′]\d{1,2}){1,2}[\"″]?")
_ENDING = re.compile(r"(?<=\d)(?:st|nd|rd|th)", re.IGNORECASE)

_NUM2WORDS = {"es": "es", "fr-fr": "fr", "it": "it", "ja": "ja", "pt-br": "pt_BR"}
"""num2words' language by language code, besides English."""

_DATE_PARTS = frozenset("ymd")

_LONE_A = "eh"
"""Text that sounds like the letter's name; a lone A is read as the article."""

_HALF_DAY = re.compile(r"\b([ap])\.m\.")


def said_as(written: str, kind: str, form: str, language: str) -> str:
    """Words for a text that is read as `kind`; the text itself if it isn't of that kind.

    English has all kinds; other languages cardinals, ordinals and characters.

    Args:
        kind: `interpret-as`: characters, spell-out, verbatim, digits, cardinal, number, ordinal, date, time,
            telephone, expletive; any other is ignored, as W3C's note on say-as requires.
        form: `format` of a date: some of y, m and d, in the order of the text.
    """
    text = written.strip()
    kind = kind.strip().lower()
    if language.partition("-")[0] == "en":
        rule = _ENGLISH.get(kind)
        return (rule(text, form.strip().lower(), language) if rule else None) or written
    if kind in ("cardinal", "number", "ordinal"):
        return _foreign_number(text, kind, language) or written
    if kind in ("characters", "spell-out", "verbatim"):
        return " ".join(text) if text else written
    return written


def _characters(text: str, _form: str, _language: str) -> str:
    """Names of the characters; letters in a row become one abbreviation, so that none of them is taken for a word."""
    said: list[str] = []
    letters: list[str] = []
    for character in [*text.upper(), ""]:
        if character.isalpha() and unicodedata.category(character) != "Lm":
            letters.append(character)
            continue
        if letters:
            said.append(_LONE_A if letters == ["A"] else ".".join(letters))
            letters = []
        if character.isdecimal():
            said.append(digits(character))
        elif name := ADDRESS_SIGNS.get(character) or SIGNS.get(character):
            said.append(name)
        elif not character.isspace():
            said.append(character)
    return " ".join(filter(None, said))


def _digits(text: str, _form: str, _language: str) -> str | None:
    return digits(text) if any(map(str.isdecimal, text)) else None


def _cardinal(text: str, _form: str, language: str) -> str | None:
    return number(text, language == "en-gb") if text.isascii() and _NUMBER.fullmatch(text) else None


def _ordinal(text: str, _form: str, language: str) -> str | None:
    if not text.isascii() or not _INTEGER.fullmatch(text):
        return None
    return ordinal(int(text.lower().rstrip("stndrh").replace(",", "")), language == "en-gb")


def _date(text: str, form: str, language: str) -> str | None:
    parts = _PART.findall(_ENDING.sub("", text))
    if not form or set(form) - _DATE_PARTS or len(set(form)) != len(form) or len(parts) != len(form):
        return _by_rule("dates", text, language)
    values: dict[str, int] = {}
    for letter, part in zip(form, parts, strict=True):
        value = _month(part) if letter == "m" else int(part) if part.isdecimal() and len(part) <= 4 else None
        if value is None:
            return None
        values[letter] = value
    if "y" in values and values["y"] < 100 and len(parts[form.index("y")]) < 3:
        values["y"] += 2000 if values["y"] < 70 else 1900
    try:
        datetime.date(max(1, values.get("y", 2000)), values.get("m", 1), values.get("d", 1))
    except ValueError:
        return None
    return _date_in_words(values, language == "en-gb")


def _month(part: str) -> int | None:
    if part.isdecimal():
        return int(part) if len(part) <= 2 else None
    name = MONTH_NAMES.get(part.capitalize())
    return next((place for place in range(1, 13) if month_name(place) == name), None)


def _date_in_words(values: dict[str, int], british: bool) -> str:
    month = month_name(values["m"]) if "m" in values else ""
    day = ordinal(values["d"], british) if "d" in values else ""
    if month and day:
        said = f"the {day} of {month}" if british else f"{month} {day}"
    else:
        said = f"the {day}" if day else month
    if "y" not in values:
        return said
    separator = ", " if day else " "
    return f"{said}{separator}{year(values['y'], british)}".strip()


def _lasting(text: str, _form: str, language: str) -> str | None:
    """A duration such as 1'21" or 01:18:30."""
    values = [int(part) for part in _PART.findall(text)] if _DURATION.fullmatch(text) else []
    units = ("hour", "minute", "second")[3 - len(values) :]
    said = [
        f"{number(str(value), language == 'en-gb')} {unit}{'s' * (value != 1)}"
        for value, unit in zip(values, units, strict=True)
        if value
    ]
    return ", ".join(said) or None


def _time(text: str, _form: str, language: str) -> str | None:
    if "'" in text and (lasting := _lasting(text, "", language)):
        return lasting
    # The full stops of "p.m." could end a sentence.
    return _HALF_DAY.sub(lambda half: f"{half[1].upper()}M", _by_rule("times", text, language))


def _telephone(text: str, _form: str, _language: str) -> str | None:
    """Telephone number digit by digit, with a pause between groups; a vanity number's letters are read as a word."""
    groups = [digits(group) if group.isdecimal() else group for group in _PART.findall(text)]
    if not any(map(str.isdecimal, text)):
        return None
    return ("plus " if text.startswith("+") else "") + ", ".join(groups)


def _by_rule(name: str, text: str, language: str) -> str:
    draft = Draft(text, language, frozenset((name,)))
    english.CLASSES.rewrite(draft)
    return draft.rewritten().text


def _foreign_number(text: str, kind: str, language: str) -> str | None:
    code = _NUM2WORDS.get(language)
    if code is None or not text.isascii() or not text.lstrip("-").isdecimal() or len(text) > 15:
        return None
    try:
        said: str = num2words(int(text), lang=code, to="ordinal" if kind == "ordinal" else "cardinal")
    except (NotImplementedError, OverflowError, TypeError, IndexError, KeyError):
        return None
    return said


_ENGLISH: dict[str, Callable[[str, str, str], str | None]] = {
    "characters": _characters,
    "spell-out": _characters,
    "verbatim": _characters,
    "digits": _digits,
    "number_digit": _digits,
    "duration": _lasting,
    "fraction": lambda text, *_: text.replace("+", " and "),
    "expletive": lambda *_: "bleep",
    "bleep": lambda *_: "bleep",
    "cardinal": _cardinal,
    "number": _cardinal,
    "ordinal": _ordinal,
    "date": _date,
    "time": _time,
    "telephone": _telephone,
}
