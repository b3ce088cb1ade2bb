"""English words for the fields of each class."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import repeat

from text.locales.english import day_name, month_name
from text.locales.tables import table
from text.normalization.classes import fields
from text.normalization.classes.addresses import Address, State
from text.normalization.classes.codes import Version
from text.normalization.classes.cover import InWords
from text.normalization.classes.numbers import Written
from text.normalization.classes.references import WAYS, Labelled, Score, Sections, Verse
from text.normalization.classes.roman import Numeral
from text.normalization.classes.telephones import Identifier, Vanity
from text.normalization.english.maths import SPOKEN_PER, UNITS, powered, spelled
from text.normalization.number_words import cardinal, decade, digits, in_pairs, number, ordinal, two_digits, year
from text.normalization.number_words import fraction as fraction_words

_TABLE = table("en", "currencies")
_CURRENCIES: dict[str, list[str]] = _TABLE["currencies"]
_DOLLARS_OF: dict[str, str] = _TABLE["dollars_of"]
_PERIODS: dict[str, str] = _TABLE["periods"]
_BOOKS: dict[str, str] = table("en", "abbreviations")["books"]
_TIMES: dict[str, int] = table("en", "calendar")["times"]
_HUNDREDS = re.compile(r"[1-9][1-9]00")
_FREE = re.compile("^one, eight zero zero, ")
_PORTIONED = frozenset(("g", "kg", "mg", "ml", "mL", "cl", "l", "L", "oz", "lb", "lbs", "cm³"))


def said(item: object, british: bool) -> str:
    if say := _SAID.get(type(item)):
        return say(item, british)
    match item:
        case InWords():
            return item.said
        case Address():
            street = (ordinal(int(name), british) if name.isdecimal() else name for name in item.names)
            return " ".join(filter(None, (in_pairs(item.house, british), item.flat, *street)))
        case State():
            codes = (_one_by_one(code, True) for code in (item.code, item.more) if code)
            return f"{item.name} {', '.join(codes)}".strip()
        case Identifier():
            groups = item.joint.join(_one_by_one(group, item.ohs) for group in item.groups)
            return f"{item.name} {'plus ' * item.plus}{_FREE.sub('one eight hundred, ', groups)}".strip()
        case Vanity():
            return _vanity(item)
        case fields.TimeSpan():
            shared = bool(item.first.half or item.last.half)
            ends = ((end, shared or end.form == "bare" == item.first.form) for end in (item.first, item.last))
            return " to ".join(_clock(end, british, bare) for end, bare in ends)
        case fields.MilitaryTime():
            hour = "oh " * (item.hours < 10) + cardinal(item.hours, british) if item.hours else "zero zero"
            return f"{hour} {two_digits(item.minutes, british) if item.minutes else 'hundred'} {item.zone}".rstrip()
        case fields.Both():
            return f"{said(item.first, british)} {item.joint} {said(item.last, british)}"
        case fields.Weekday():
            return ", ".join(map(day_name, (item.day, *item.others)))
        case fields.Year():
            first = two_digits(item.year, british) if item.year < 100 else year(item.year, british)
            last = two_digits(item.last, british) if item.last < 100 else year(item.last, british)
            return f"{item.before} {first}".strip() + (f" to {last}" if item.last else "")
        case fields.Decades():
            if 0 < item.first < 100:
                return decade(item.first)
            two_thousands = item.first in (0, 2000)
            return (
                "two thousands" if two_thousands else f"{cardinal(item.first // 100, False)} {decade(item.first % 100)}"
            )
        case fields.Ratio():
            point = f" point {digits(item.decimals)}" if item.decimals else ""
            last = two_digits(item.last, british) if item.timed else f"to {cardinal(item.last, british)}"
            return f"{cardinal(item.first, british)} {last}{point}"
        case Sections():
            parts = "".join(f", {number(p, british) if p.isdecimal() else p.upper()}" for p in item.parts)
            both = (year(int(n), british) if len(n) < 5 else number(n, british) for n in (item.first, item.last) if n)
            return f"section{'s' * item.several} {f'{parts} {item.joint} '.join(both)}" + parts * (not item.last)
        case Score():
            first, last = (
                "nil" if british and goals == "0" else number(goals, british) for goals in (item.first, item.last)
            )
            return f"{first} {last}" if british or first == last else f"{first} to {last}"
        case fields.Height():
            inches = number(item.inches.removesuffix(".5"), british) + " and a half" * item.inches.endswith(".5")
            tall = f"{number(item.feet, british)} foot {inches}"
            return tall if int(item.feet) < 16 else f"{tall.replace(' foot ', ' feet ')} inches"
        case fields.Ordinal():
            return ordinal(item.number, british)
        case fields.Pair():
            if item.joint[:1] == "=":
                return item.joint[1:]
            if not item.joint and len(item.first) == len(item.last) == 4 and max(item.first, item.last) < "2100":
                return f"{year(int(item.first), british)}, {year(int(item.last), british)}"
            if not item.joint and item.first[:2] in ("19", "20") and len(item.first) == 4:  # 2016/679
                return f"{year(int(item.first), british)}, {number(item.last, british)}"
            return " ".join(filter(None, (number(item.first, british), item.joint, number(item.last, british))))
        case fields.Span():
            words = number(item.first, british), item.joint, number(item.last, british)
            return " ".join(filter(None, (item.before, *words, item.magnitude)))
        case Version():
            stage = number(str(int(item.stage_number)), british) if item.stage_number else ""
            dated = item.parts[0][:2] == "20" and len(item.parts[0]) == 4 and len(item.parts) > 1
            split = [year(int(item.parts[0]), british)] * dated + [number(each, british) for each in item.parts[dated:]]
            return " ".join(filter(None, (item.name, " point ".join(split), item.stage, stage))) + " plus" * item.plus
        case fields.Number():
            if item.one_by_one:
                return item.before + digits(item.number)
            power = f" times ten to the {number(str(int(item.exponent)), british)}" if item.exponent else ""
            large = f" {item.magnitude}" * bool(item.magnitude) + " plus" * item.plus
            return f"{item.before}{number(item.number, british)}{power}{large}"
        case fields.Multiple():
            if item.counts:
                return _quantity(item.first, british)
            upper = f" to {_quantity(item.last, british)}" if item.last else ""
            return f"{_quantity(item.first, british)}{upper} time{'s' * (item.first.number != '1')}"
    raise TypeError(item)


def _fraction(fraction: fields.Fraction, british: bool) -> str:
    """Words of a fraction: `half a cup`, `three quarters of a teaspoon`, `two and a half inches`."""
    above, below = fraction.above, fraction.below
    words = fraction_words(above, below, british) if below else cardinal(fraction.whole, british)
    if fraction.whole and below:
        part = f"{'an' if below in (8, 11, 18, 80) else 'a'} {words.partition(' ')[2]}" if above == 1 else words
        words = f"{cardinal(fraction.whole, british)} and {part}"
    if fraction.minus:
        words = f"minus {words}"
    if not fraction.unit:
        return words.removeprefix("one ") if fraction.described else words
    one, plural = UNITS.get(fraction.unit, (fraction.unit, f"{fraction.unit}s"))
    one, plural = spelled(one, british), spelled(plural, british)
    if fraction.whole:
        return f"{words} {one if fraction.described or words == 'one' else plural}"
    if fraction.described:
        return f"{'half' if words == 'one half' else words} {one}"
    article = "an" if one[0] in ("AEFHILMNORSX" if one[1:2] == "." else "aeiou") or one == "hour" else "a"
    return f"half {article} {one}" if words == "one half" else f"{words} of {article} {one}"


def _one_by_one(written: str, ohs: bool) -> str:
    """Digits and letters of a code."""
    said = " ".join(digits(each) if each.isdecimal() else each.upper() for each in written)
    return said.replace("zero", "oh") if ohs else said


def _vanity(number: Vanity) -> str:
    code = number.code
    hundred = f"{digits(code[-3])} hundred" if code.endswith("00") else digits(code)
    words = (digits(part) if part.isdecimal() else part.lower() for part in number.words)
    return " ".join([*["one"] * number.one, *["oh"] * (len(code) > 3), hundred, *words])


def _quantity(quantity: Written, british: bool) -> str:
    words = number(quantity.number, british) if quantity.number else ""
    return f"minus {words}" if quantity.minus else words


def _sides(sides: fields.Sides, british: bool) -> str:
    boards = sides.units == ("", "s")  # 2x4s, 2x6s
    words = []
    for side, unit in zip(sides.numbers, sides.units or repeat(""), strict=False):
        n = side.number
        dated = len(n) == 4 and n.isdecimal() and not side.grouped
        said = year(int(n), british) if dated else _quantity(side, british)
        if unit and boards:
            said += "es" if n == "6" else "s"
        elif unit:
            said += f" {spelled(UNITS[unit][not sides.singular], british)}"
        words.append(said)
    words = [f"{each} {way}".rstrip() for each, way in zip(words, sides.ways or repeat(""), strict=False)]
    return f" {sides.joint} ".join(words)


def _measure(measure: fields.Measure, british: bool) -> str:
    names = UNITS.get(measure.unit, ("", ""))
    singular = measure.singular or (measure.first.number == "1" and measure.last is None)
    hundreds = measure.unit.lower() == "rpm" and not measure.first.grouped and _HUNDREDS.fullmatch(measure.first.number)
    words = in_pairs(measure.first.number, british) if hundreds else _quantity(measure.first, british)
    if measure.magnitude:
        words += f" {measure.magnitude}"
    if measure.last:
        times = measure.joint == "by" and (measure.unit in _PORTIONED or measure.first.number == "1")  # 6 x 330 ml
        joint = " times" if times else f" {measure.joint}" if measure.joint else ","
        words += f"{joint} {_quantity(measure.last, british)}"
    words += f" {powered(names[not singular], measure.power, british)}" if measure.unit else ""
    if measure.per_count:
        several = measure.per_count != "1"
        return words + f" per {number(measure.per_count, british)} {spelled(UNITS[measure.per][several], british)}"
    for per in filter(None, measure.per.split("/")):
        words += f" per {powered(SPOKEN_PER.get(per) or UNITS.get(per, (per,))[0], measure.per_power, british)}"
    return words.lstrip()


_NTH = ("", "First ", "Second ", "Third ")


def _verse(verse: Verse, british: bool) -> str:
    words = f"{_NTH[verse.nth]}{_BOOKS.get(verse.book, verse.book)} {cardinal(verse.chapter, british)}"
    if verse.first:
        words += f", {in_pairs(str(verse.first), british)}"
    last = f"{cardinal(verse.last_chapter, british)}, " * bool(verse.last_chapter)
    words += f" to {last}{in_pairs(str(verse.last), british)}" * bool(verse.last)
    return words + f" {verse.part.upper()}" * bool(verse.part)


def _numeral(numeral: Numeral, british: bool) -> str:
    if numeral.kind not in ("count", "part"):
        nth = ordinal(numeral.value, british)
        return f"the {nth}" if numeral.kind == "ruler" else nth
    words = f"{numeral.before}{cardinal(numeral.value, british)}"
    return f"{words} {numeral.letter}" if numeral.letter else words


def _labelled(labelled: Labelled, british: bool) -> str:
    words = labelled.name
    for label in labelled.labels:
        if label == ",":
            words += label
        elif label.replace(".", "").isalpha():
            words += f" {label}"
        elif label[0] == "#":
            words += f" {in_pairs(label[1:], british)}"
        else:
            for part in (parts := re.findall(r"[A-Z]|\d+", label)):
                figure = in_pairs(part, british) if len(parts) > 1 and part.isdecimal() else part
                words += f" {cardinal(int(figure), british) if figure.isdecimal() else figure}"
    return words.lstrip()


def _coordinate(coordinate: fields.Coordinate, british: bool) -> str:
    words = []
    for value, name in zip(coordinate.parts, ("degree", "minute", "second"), strict=False):
        bare = value._replace(whole=value.whole.lstrip("0") or "0").number
        words.append(f"{'minus ' * value.minus}{number(bare, british)} {name}{'' if bare == '1' else 's'}")
    return " ".join([*words, WAYS[coordinate.way.lower()]] if coordinate.way else words)


def _money(money: fields.Money, british: bool) -> str:
    names = _CURRENCIES[money.currency]
    if money.country:
        names = [f"{_DOLLARS_OF[money.country]} dollar", f"{_DOLLARS_OF[money.country]} dollars", "cent", "cents"]
    name = names[0 if money.singular else 1]
    first = number(money.first.number, british)
    if money.last and "." in money.first.number + money.last.number and not (money.magnitude or money.first_magnitude):
        ends = (money._replace(first=end) for end in (money.first, money.last))
        words = " to ".join(_with_hundredths(end, names, british) for end in ends)
    elif money.last:
        lower, upper = f"{first} {money.first_magnitude}".strip(), number(money.last.number, british)
        words = " ".join(filter(None, (lower, "to", upper, money.magnitude, name)))
    elif money.magnitude:
        words = f"{first} {money.magnitude} {name}"
    else:
        words = _with_hundredths(money, names, british)
    words = "minus " * money.first.minus + words + " plus" * money.plus + f" {money.tail}" * bool(money.tail)
    if money.per == "ea":
        return f"{words} each"
    count, _, unit = money.per.rpartition(" ")
    if count.isdecimal():
        return f"{words} per {number(count, british)} {spelled(UNITS[unit][1], british)}"
    return f"{words} per {_PERIODS.get(money.per, money.per)}" if money.per else words


def _with_hundredths(money: fields.Money, names: list[str], british: bool) -> str:
    whole, _, fraction = money.first.number.partition(".")
    if len(fraction) > 2 and len(names) > 3:
        fraction = fraction.rstrip("0").ljust(2, "0")  # $2.500
    if len(fraction) == 3 and fraction[-1] == "0" and len(names) < 4 and money.currency not in ("BTC", "₿"):
        whole, fraction = whole + fraction, ""  # 50.000 ₫
    part = not int(whole or 0) and money.currency.isalpha() and money.currency != "p"  # 0.92 EUR
    if fraction and (len(fraction) != 2 or len(names) < 4 or part):
        return f"{number(money.first.number, british)} {names[1]}"
    units, hundredths = int(whole or 0), int(fraction or 0)
    words = []
    if units or not hundredths:
        words.append(f"{number(whole or '0', british)} {names[units != 1 and not money.singular]}")
    if hundredths:
        one = hundredths == 1 or (money.singular and names[2] == "cent")  # a $9.99 charge
        words.append(f"{cardinal(hundredths, british)} {names[2 if one else 3]}")
    return " and ".join(words)


def _date(date: fields.Date, british: bool) -> str:
    month = month_name(date.month)
    if not date.day:
        return f"{month} {year(date.year, british)}" if date.year else month
    nth = ordinal(date.day, british) + (f" {date.joint} {ordinal(date.last_day, british)}" if date.last_day else "")
    words = f"{date.article or 'the'} {nth} of {month}" if date.day_first else f"{month} {nth}"
    if date.year:
        words += f", {year(date.year, british)}"
    if date.time:
        words += f", {_clock(date.time, british)}" + (" UTC" if date.utc else "")
    return words


def _clock(time: fields.Clock, british: bool, bare: bool = False) -> str:
    """Time of day in words; a full hour may be a bare number where the time's half stands at its other end."""
    if bare and not (time.half or time.minutes or time.form == "word"):
        return cardinal(time.hours, british)
    if time.form == "word":
        return next(name for name, hours in _TIMES.items() if hours == time.hours)
    if not time.half and not time.minutes and time.hours in (0, 24) and not time.seconds:
        return "midnight"
    hour = cardinal(time.hours, british)
    full = hour if time.half else f"{hour} o'clock" if time.hours <= 12 else f"{hour} hundred"
    words = f"{hour} {two_digits(time.minutes, british)}" if time.minutes else full
    words = f"{words} {time.half}.m." if time.half else words
    if time.seconds or time.fraction:
        point = f" point {digits(time.fraction)}" if time.fraction else ""
        words += f" and {cardinal(time.seconds, british)}{point} second{'' if time.seconds == 1 and not point else 's'}"
    return words


def _duration(duration: fields.Elapsed, british: bool) -> str:
    if duration.described:
        return " ".join(f"{cardinal(count, british)} {unit}" for count, unit in duration.parts)
    words = [f"{cardinal(count, british)} {unit}{'' if count == 1 else 's'}" for count, unit in duration.parts]
    if duration.fraction:
        words[-1] = f"{cardinal(duration.parts[-1][0], british)} point {digits(duration.fraction)} seconds"
    return " and ".join([" ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


_SAID: dict[type, Callable[..., str]] = {fields.Date: _date, fields.Clock: _clock, fields.Elapsed: _duration}
_SAID |= {fields.Money: _money, fields.Measure: _measure, fields.Coordinate: _coordinate, fields.Sides: _sides}
_SAID |= {fields.Fraction: _fraction, Verse: _verse, Labelled: _labelled, Numeral: _numeral}
