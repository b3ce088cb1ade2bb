"""Fields of numbers, dates, codes and names, each written in many forms, and the words that a reader may say for them.

A form is one choice on each of its class's axes (order, separator, case, gap). `held_out` keeps a quarter of the forms,
and the classes of `HELD_OUT_CLASSES`, apart: `benchmarks.reading` prints their share only, never a line of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple
from zlib import crc32

from num2words import num2words

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Written(NamedTuple):
    """One written form of sampled fields."""

    family: str
    form: str
    """Choices that made the form, for a report."""
    text: str
    accepted: tuple[str, ...]
    """Words of which one must be said, without hyphens, commas and "and"."""


HELD_OUT_CLASSES = frozenset(("odds", "coordinate", "grid"))


def held_out(family: str, form: str) -> bool:
    return family in HELD_OUT_CLASSES or crc32(f"{family} {form}".encode()) % 4 == 0


class _Form:
    """Draws a value on each axis and remembers what it drew."""

    def __init__(self, drawn: random.Random) -> None:
        self._drawn = drawn
        self.choices: list[str] = []

    def pick(self, *values: str) -> str:
        value = self._drawn.choice(values)
        self.choices.append(value)
        return value


def _n(value: int | float) -> str:
    return str(num2words(value))


def _th(value: int) -> str:
    return str(num2words(value, to="ordinal"))


def _suffix(value: int) -> str:
    return "th" if 10 <= value % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _year(value: int) -> str:
    return num2words(value, to="year") if value < 2000 or value > 2009 else _n(value)


def _digits(written: str) -> str:
    return " ".join(_DIGITS[int(each)] for each in written if each.isdecimal())


def _cased(form: _Form, text: str) -> str:
    case = form.pick("as it is", "lower", "UPPER")
    return text.lower() if case == "lower" else text.upper() if case == "UPPER" else text


def _date(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    year, month, day = drawn.randint(1950, 2029), drawn.randint(1, 12), drawn.randint(1, 28)
    name = _MONTHS[month - 1]
    style = form.pick("full", "short", "short.", "number")
    said = [f"{name} {_th(day)} {_year(year)}", f"the {_th(day)} of {name} {_year(year)}"]
    said += [each.replace(_year(year), f"twenty {_n(year % 100)}") for each in said if year >= 2010]
    if style == "number":
        sign = form.pick("-", "/", ".")
        return f"{year}{sign}{month:02}{sign}{day:02}", said
    shown = {"full": name, "short": name[:3], "short.": name[:3] + "." * (name != "May")}[style]
    shown = _cased(form, shown)
    nth = form.pick("", "th")
    number = f"{day}{_suffix(day)}" if nth else str(day)
    order, sign = form.pick("mdy", "dmy"), form.pick(" ", "-", "/")
    if sign != " ":
        return sign.join(
            [shown.rstrip("."), number, str(year)] if order == "mdy" else [number, shown.rstrip("."), str(year)]
        ), said
    comma = form.pick(",", "")
    return (f"{shown} {number}{comma} {year}" if order == "mdy" else f"{number} {shown}{comma} {year}"), said


def _clock(drawn: random.Random, form: _Form) -> tuple[str, str]:
    hours, minutes = drawn.randint(1, 12), drawn.choice((0, 5, 15, 30, 45, 59))
    half = form.pick("am", "pm", "AM", "PM", "a.m.", "p.m.", "Pm")
    sign, gap = form.pick(":", "."), form.pick("", " ")
    shown = f"{hours}{sign}{minutes:02}" if minutes else str(hours)
    said = f"{_n(hours)} {'oh ' * (minutes < 10) + _n(minutes) if minutes else ''}".strip()
    return f"{shown}{gap}{half}", f"{said} {half[0].lower()} m"


def _time(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    text, said = _clock(drawn, form)
    return text, [said]


def _span(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    (first, said), (last, said_last) = _clock(drawn, form), _clock(drawn, form)
    return first + form.pick("-", "–", " - ", " – ", " to ") + last, [f"{said} to {said_last}"]


def _duration(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    hours, minutes = drawn.randint(2, 23), drawn.randint(2, 59)
    hour, minute = form.pick("h", "hr", "hrs", "H"), form.pick("m", "min", "mins", "M")
    gap, joint = form.pick("", " "), form.pick("", " ")
    return f"{hours}{gap}{hour}{joint}{minutes}{gap}{minute}", [f"{_n(hours)} hours {_n(minutes)} minutes"]


def _money(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    signs = {"$": "dollars", "£": "pounds", "€": "euros", "USD": "US dollars", "EUR": "euros", "GBP": "pounds"}
    sign = form.pick(*signs)
    magnitude = form.pick("", "k", "M", "m", "bn", " million", " billion", " bn", "mn", "K")
    side = form.pick("before", "after")
    amount = drawn.randint(2, 90) if magnitude else drawn.choice((5, 20, 99, 1250, 48000))
    big = {"k": " thousand", "K": " thousand", "M": " million", "m": " million", "mn": " million", "bn": " billion"}
    said = f"{_n(amount)}{big.get(magnitude.strip(), magnitude)} {signs[sign]}"
    number = f"{amount:,}{magnitude}"
    if sign.isalpha():
        sign = _cased(form, sign)
        return (f"{sign} {number}" if side == "before" else f"{number} {sign}"), [said, said.replace("US ", "")]
    return (f"{sign}{number}" if side == "before" else f"{number} {sign}"), [said]


def _measure(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    units = {"km": "kilometers", "kg": "kilograms", "cm": "centimeters", "lbs": "pounds", "oz": "ounces", "ft": "feet"}
    units |= {"mph": "miles per hour", "km/h": "kilometers per hour", "ml": "milliliters", "GB": "gigabytes"}
    unit = form.pick(*units)
    value = drawn.choice((2, 5, 12, 40, 350, 2.5))
    return f"{value}{form.pick('', ' ', '-')}{_cased(form, unit)}", [
        f"{_n(value)} {units[unit]}",
        f"{_n(value)} {units[unit].replace('feet', 'foot').replace('miles', 'mile').replace('s', '')}",
        f"{_n(value)} {units[unit].removesuffix('s')}",
    ]


def _range(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    first = drawn.randint(2, 40)
    last = first + drawn.randint(1, 40)
    unit = form.pick("", "%", "kg", " km", " years", "°C")
    said = {"%": " percent", "kg": " kilograms", " km": " kilometers", "°C": " degrees Celsius"}.get(unit, unit)
    return f"{first}{form.pick('-', '–', ' – ', ' - ', '‑')}{last}{unit}", [f"{_n(first)} to {_n(last)}{said}"]


def _ordinal(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    value = drawn.choice((1, 2, 3, 11, 21, 42, 103, 1000))
    return f"{value}{_cased(form, _suffix(value))}", [_th(value)]


def _fraction(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    above, below = drawn.choice(((1, 2), (3, 4), (2, 3), (5, 8), (1, 8)))
    name = {2: "half", 4: "quarter"}.get(below, _th(below)) + "s" * (above > 1)
    whole = form.pick("", "2 ", "2-")
    unit = form.pick("", " cups", " miles", "-in.", " IN.", " inch")
    said = {"-in.": " inches", " IN.": " inches", " inch": " inches"}.get(unit, unit)
    if not whole:
        one = (said or " ").rstrip("es") if "inch" in said else said.rstrip("s")
        article = "an" if one.strip()[:1] == "i" else "a"
        accepted = [
            f"{_n(above)} {name}{one and f' of {article}{one}'}",
            f"{_n(above)} {name}{one}",
            f"{_n(above)} {name}{said}",
        ]
        return f"{above}/{below}{unit}", [*accepted, f"{name} {article}{one}"]
    part = f"{'a' if above == 1 and below != 8 else 'an' if above == 1 else _n(above)} {name}"
    return f"{whole}{above}/{below}{unit}", [f"two {part}{said}", f"two {part}{said.replace('inches', 'inch')}"]


def _score(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    first, last = drawn.randint(2, 6), drawn.randint(0, 5)
    word = form.pick("won", "lost", "beat them", "a draw,", "final score:", "WON")
    said = f"{_n(first)} {{}}{_n(last)}"
    return f"{word} {first}{form.pick('-', '–', ' - ', ':')}{last}", [
        f"{word} {said.format(joint)}".rstrip() for joint in ("to ", "")
    ]


def _ratio(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    first, last = drawn.choice(((3, 1), (16, 9), (1, 100), (4, 3), (2, 15)))
    word = form.pick("a ratio of", "scale", "diluted", "Ratio:", "RATIO")
    return f"{word} {first}{form.pick(':', ' : ')}{last}", [f"{word} {_n(first)} to {_n(last)}"]


def _odds(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    first, last = drawn.choice(((9, 2), (5, 1), (11, 4), (100, 1)))
    word = form.pick("odds of", "at odds of", "priced at", "Odds:", "ODDS")
    return f"{word} {first}{form.pick('/', '-', ':')}{last}", [f"{word} {_n(first)} to {_n(last)}"]


def _verse(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    chapter, verse = drawn.randint(1, 20), drawn.randint(1, 25)
    book = form.pick("John", "Genesis", "Psalm", "Qur'an", "Matthew", "Mark")
    oh = _n(verse) if verse > 9 else f"oh {_n(verse)}"
    return f"{_cased(form, book)} {chapter}{form.pick(':', '.')}{verse}", [
        f"{book} {_n(chapter)} {each}" for each in (_n(verse), oh)
    ]


def _identifier(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    code = "".join(drawn.choice("123456789") for _ in range(6))
    cue = form.pick("OTP", "PIN", "order", "Order number", "order #", "tracking number", "account no.", "case number:")
    cue = _cased(form, cue)
    gap = "" if cue[-1] == "#" else form.pick(" ", ": ", " is ")
    named = cue.replace("#", "").replace("no.", "number").replace("NO.", "number").strip(": ")
    return f"{cue}{gap}{code}", [f"{named} {'is ' * ('is' in gap)}{_digits(code)}".replace("  ", " ")]


def _phone(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    groups = [f"{drawn.randint(2, 9)}{drawn.randint(10, 99)}", "555", f"{drawn.randint(1000, 9999)}"]
    country = form.pick("", "+1 ", "1-", "+1-", "001 ")
    if form.pick("brackets", "plain") == "brackets":
        groups[0] = f"({groups[0]})"
    sign = form.pick("-", ".", " ")
    if sign == " " and "(" not in groups[0] and not country:
        sign = "-"
    text = country + sign.join(groups)
    return text, [("plus " if "+" in text else "") + _digits(text)]


def _version(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    parts = [drawn.randint(1, 20) for _ in range(drawn.choice((2, 3)))]
    name = form.pick("version ", "v", "Python ", "Node ", "V", "ver. ", "Version ", "release ")
    said = name if len(name) > 5 else "version " if name[0] in "vV" else name
    said = "version " if name == "ver. " else said
    return name + ".".join(map(str, parts)), [said + joint.join(map(_n, parts)) for joint in (" point ", " dot ")]


def _label(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    label = form.pick("Room", "Gate", "Seat", "Exit", "Rm.", "Fig.", "Apt.", "Figure", "Platform", "Section")
    number, letter = drawn.randint(11, 99), drawn.choice("ABCD")
    written = f"{number}{letter}" if form.pick("12B", "B12") == "12B" else f"{letter}{number}"
    full = {"Rm.": "Room", "Fig.": "Figure", "Apt.": "Apartment"}.get(label, label)
    said = f"{_n(number)} {letter}" if written[0].isdecimal() else f"{letter} {_n(number)}"
    return f"{_cased(form, label)} {written}", [f"{full} {said}"]


def _roman(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    value = drawn.choice((2, 3, 4, 6, 8, 9, 14))
    numeral = {2: "II", 3: "III", 4: "IV", 6: "VI", 8: "VIII", 9: "IX", 14: "XIV"}[value]
    name = form.pick("Henry", "Chapter", "Part", "World War", "Louis", "Act", "Volume", "Pope Pius")
    said = (
        [f"{name} {_n(value)}"]
        if name in ("Chapter", "Part", "World War", "Act", "Volume")
        else [f"{name} the {_th(value)}"]
    )
    return _cased(form, f"{name} {numeral}"), said


def _percent(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    value = drawn.choice((5, 12.5, 0.5, 99, 100))
    return f"{form.pick('', '-', '−', '+', '~')}{value}{form.pick('', ' ')}%", [
        f"{sign}{_n(value)} percent" for sign in ("", "minus ", "plus ", "about ")
    ]


def _height(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    feet, inches = drawn.randint(4, 6), drawn.randint(2, 11)
    foot, inch = form.pick("'", "’", "′", "ft ", " ft ", "ft", "FT "), form.pick('"', "”", "″", "in", " in")
    if foot in "'’′" and "i" in inch:
        inch = '"'
    if "f" in foot.lower() and "i" not in inch:
        inch = "in"
    said = f"{_n(feet)} {{}} {_n(inches)}"
    return f"{feet}{foot}{inches}{inch}", [
        said.format("foot"),
        said.format("feet"),
        said.format("feet") + " inches",
        said.format("foot") + " inches",
    ]


def _coordinate(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    degrees, minutes = drawn.randint(2, 89), drawn.randint(2, 59)
    ways = {"N": "north", "S": "south", "E": "east", "W": "west"}
    way = form.pick(*ways)
    gap = form.pick("", " ")
    return f"{degrees}°{gap}{minutes}{form.pick('′', chr(39), '’')}{gap}{way}", [
        f"{_n(degrees)} degrees {_n(minutes)} minutes {ways[way]}"
    ]


def _grid(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    first, last = drawn.randint(2, 12), drawn.randint(2, 12)
    unit = form.pick("", "ft", " cm", "m", " in.")
    names = {"ft": " feet", "cm": " centimeters", "m": " meters", "in.": " inches", "": ""}
    joint = form.pick("x", " x ", "×", " × ", "X", " X ")
    said = names[unit.strip()]
    return f"{first}{joint}{last}{unit}", [
        f"{_n(first)} by {_n(last)}{said}",
        f"{_n(first)} by {_n(last)}{said.replace('feet', 'foot').rstrip('s')}",
    ]


def _cardinal(drawn: random.Random, form: _Form) -> tuple[str, list[str]]:
    value = drawn.choice((1234567, 12345, 48000, 2500000))
    sign = form.pick(",", "_", "'", " ", "’")
    return f"{value:,}".replace(",", sign), [_n(value), f"{value:,}", str(value)]


_CLASSES: dict[str, Callable[[random.Random, _Form], tuple[str, list[str]]]] = {
    "cardinal": _cardinal, "ordinal": _ordinal, "date": _date, "time": _time, "time span": _span,
    "duration": _duration, "money": _money, "measure": _measure, "range": _range, "fraction": _fraction,
    "score": _score, "ratio": _ratio, "odds": _odds, "verse": _verse, "identifier": _identifier, "phone": _phone,
    "version": _version, "label": _label, "roman": _roman, "percent": _percent, "height": _height,
    "coordinate": _coordinate, "grid": _grid,
}  # fmt: skip
_FRAMES = (
    "It says {} here.",
    "({})",
    "{}",
    "“{}” is right.",
    "**{}** is it.",
    "We saw {}.",
    "It was {}, I think.",
    "so—{}—yes",
)


def written(seed: int, each: int) -> Iterator[Written]:
    """Forms of every class, `each` of every class."""
    drawn = random.Random(seed)
    for family, sample in _CLASSES.items():
        for _ in range(each):
            form = _Form(drawn)
            text, said = sample(drawn, form)
            frame = drawn.choice(_FRAMES)
            accepted = tuple(dict.fromkeys(frame.format(words) for words in said))
            yield Written(family, " ".join(form.choices), frame.format(text), accepted)
