"""Parser of amounts of money: $1,250.75, 5k usd, £3m, €2.5 bn, US$5, 20 EUR, $5-10, 50¢, a $5-million deal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from text.locales.tables import word_lists
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.fields import Money
from text.normalization.classes.numbers import Written, signed, written, written_number
from text.normalization.classes.tokens import DASHES, Tokens

_COST = 0.35


class Amounts:
    """Parser for one language's tables (`currencies.toml`)."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        currencies = table["currencies"]
        self._codes = {name.casefold(): name for name in currencies if name.isalpha() and len(name) > 1}
        self._signs = frozenset(name for name in currencies if not name.isalpha())
        self._countries = {name.casefold(): name for name in table["dollars_of"]}
        self._magnitudes = {name.casefold(): full for name, full in table["magnitudes"].items()}
        self._full = frozenset(table["magnitudes"].values())
        self._cues = word_lists(table["cues"])
        starts = (*self._codes, *self._signs, *self._countries, "-", "−", "–", ".")
        self.parser = Parser(frozenset(starts), self.parse, needs=self._signs.union(self._codes, "pc¢"))

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        minus, start = signed(line, place)
        country, sign, after = self._sign(line, start)
        if sign:
            if line.has(after, "(", glued=True):  # $(0.12)
                found = self._amount(line, place, after + 1, country, sign, minus=True)
                yield from (each._replace(last=each.last + 1) for each in found if line.has(each.last, ")"))
                return
            minus_after, after = signed(line, after)
            if not line[after].gap or sign.isalpha() or line[after].kind == "d":
                yield from self._amount(line, place, after, country, sign, minus or minus_after)
            return
        number, after = written_number(line, start)
        if number:
            yield from self._after(line, place, start, minus)
            cent = "p" if british and line[after].fold == "p" else "¢" * line.has(after, "c¢")
            small = len(number.partition(".")[0]) < 4 and len(number.partition(".")[2]) < 2 and number[0] != "."
            if cent and small and not line[after].gap and not minus and line[after].text != "C":
                per, after = self._period(line, after + 1)
                yield Classed(place, after, Money(cent, first=Written.of(number), per=per), _COST)

    def _sign(self, line: Tokens, place: int) -> tuple[str, str, int]:
        """Country, currency and the place after them; without a currency ("", "", place)."""
        token = line[place]
        if token.text in self._signs:
            return "", token.text, place + 1
        cased = token.text.isupper()
        if token.fold in self._countries and line.has(place + 1, "$", glued=True) and (cased or line.small):
            return self._countries[token.fold], "$", place + 2
        if token.fold in self._codes and (cased or token.fold in self._cues["small_codes"]):
            stop = line.has(place + 1, ".", glued=True) and line[place + 2].kind == "d"  # Rs. 500
            apart = token.fold in self._cues["glued_codes"] and line[place + 1].gap  # RM 204 is a room
            return "", "" if apart else self._codes[token.fold], place + 1 + stop
        return "", "", place

    def _magnitude(self, line: Tokens, place: int, signed: bool = False) -> tuple[str, int]:
        token = line[place]
        if token.fold in self._full:
            return token.fold, place + 1
        known = self._magnitudes.get(token.fold, "")
        following = line[place + 1].text
        spaced = signed and (token.fold == "b" or (token.fold == "m" and following != ""))  # $5 b, but not $5 M. Smith
        spaced = spaced and not (following == "." and token.text.isupper()) and following not in (")", "-", "&", "/")
        if not known or (token.gap and len(token.text) == 1 and not spaced):
            return "", place
        stop = len(known) > 0 and line.has(place + 1, ".", glued=True) and not line.last(place + 1)
        return known, place + 1 + (stop and (line[place + 2].text in "/;,)" or line[place + 2].text[:1].islower()))

    def _last(self, line: Tokens, place: int) -> tuple[str, int]:
        """Number at the other end of a range, and the place after it."""
        if not (line.dash(place) or line.has(place, ("to",))):
            return "", place
        number, after = written_number(line, self._sign(line, place + 1)[2])
        unit = line[place].fold == "to" and line[after].kind == "w" and not line[after].gap  # £2.10 to 250g
        return (number, after) if number and (not unit or line[after].fold in self._magnitudes) else ("", place)

    def _amount(self, line: Tokens, place: int, start: int, country: str, sign: str, minus: bool) -> Iterator[Classed]:
        money, after = self._figures(line, start, minus, signed=not sign.isalpha())
        if not money.first.number:
            return
        magnitude, plus = money.magnitude, line.has(after, "+", glued=True)
        after += plus
        singular, tail = False, ""
        if line.has(after, "-", glued=True) and line[after + 1].kind == "w" and not line[after + 1].gap:
            word, singular = line[after + 1].fold, True
            article = word == "a" and line.has(after + 2, "-", glued=True)
            if word in self._full:
                magnitude = word
            elif article or 3 <= len(word) <= 12:
                tail = line[after + 1].text
            else:
                return
            after += 2
        per, after = self._period(line, after)
        even = line.has(after, "/.,", glued=True) and line.has(after + 1, DASHES, glued=True)
        after += 2 * (even and (line[after + 2].gap or line[after].text == "/"))  # Rs. 500/-, CHF 120.-
        counted = line[after].fold.removesuffix("s") in self._cues["singular"]
        singular = singular or counted or self._describes(line, place, after)
        money = money._replace(currency=sign, country=country, magnitude=magnitude, per=per)
        money = money._replace(plus=plus, singular=singular, tail=tail)
        yield Classed(place, after, money, _COST + (sign.isalpha() and not (magnitude or per)))

    def _figures(self, line: Tokens, start: int, minus: bool, signed: bool = False) -> tuple[Money, int]:
        """Amount without its currency, and the place after it; without digits if there is none."""
        number, after = _written_amount(line, start)
        first, after = self._magnitude(line, after, signed)
        last, end = self._last(line, after)
        magnitude, after = self._magnitude(line, end, signed) if last else (first, after)
        other, first = (Written.of(last), first) if last else (None, "")
        return Money("", "", Written.of(number, minus), magnitude, other, first), after

    def _after(self, line: Tokens, place: int, start: int, minus: bool) -> Iterator[Classed]:
        """Amount with its currency after it."""
        money, after = self._figures(line, start, minus)
        token = line[after]
        known = token.text.isupper() or token.fold in self._cues["small_codes"] or not token.text.isascii()
        glued = not (token.gap or money.magnitude or token.text.isupper()) and token.text.isascii()
        code = self._codes.get(token.fold, "") if known and not glued else ""
        sign = token.text if token.text in self._signs else code
        if not sign or (not code and line[after + 1].kind == "d" and not line[after + 1].gap):
            return
        per, after = self._period(line, after + 1)
        yield Classed(place, after, money._replace(currency=sign, per=per), _COST)

    def _period(self, line: Tokens, place: int) -> tuple[str, int]:
        per = line[place + 1]
        if line[place].fold in self._cues["rates"] and line.ends(place + 1):
            return line[place].fold, place + 1 + (line.has(place + 1, ".", glued=True) and not line.last(place + 1))
        if not line.has(place, "/", glued=True) or per.gap:
            return "", place
        if per.kind == "d" and line[place + 2].text in self._cues["portions"] and line.ends(place + 3):
            return f"{per.text} {line[place + 2].text}", place + 3
        if per.kind != "w":
            return "", place
        end = place + 2
        if per.fold in self._cues["per"]:
            following = line[end + 1]
            stop = line.has(end, ".", glued=True) and (following.text[:1].islower() or following.kind == "s")
            return per.fold, end + stop
        free = len(per.text) > 3 and per.text.islower() and (line[end].gap or line[end].text in ".,;:)!?")
        return (per.fold, end) if free else ("", place)

    def _describes(self, line: Tokens, place: int, after: int) -> bool:
        """True if the amount stands between an article and a noun: a $1.9T plan, the $20 ticket."""
        noun = line[after]
        if not noun.gap or noun.kind != "w" or noun.fold in self._cues["no_noun"] or not line[place].gap:
            return False
        possessive = line[place - 1].fold == "s" and line[place - 2].text in ("'", "’")
        return possessive or line[place - 1].kind == "d" or line[place - 1].fold in self._cues["articles"]


def _written_amount(line: Tokens, place: int) -> tuple[str, int]:
    """Number as `written_number` has it, also with a comma before its hundredths: 1.234,56, 19,99."""
    found = written(line, place, ",")
    if found and len(found.fraction) == 2 and line[found.after - 2].text == "," and line.ends(found.after):
        return f"{found.whole}.{found.fraction}", found.after
    return written_number(line, place)
