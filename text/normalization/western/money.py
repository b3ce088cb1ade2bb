"""Parser of amounts of money, and of numbers with an abbreviated magnitude."""

from __future__ import annotations

from collections.abc import Iterator

from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.measures import Measures
from text.normalization.classes.numbers import Written, glued, written
from text.normalization.classes.tokens import DASHES, Tokens
from text.normalization.western.words import Forms, Locale, joined, per_words, plural, spoken


class MoneyParser:
    def __init__(self, locale: Locale, units: Measures) -> None:
        self._locale, self._units = locale, units
        self._money = {
            tuple(token.fold for token in Tokens(name).tokens): forms for name, forms in locale.currencies.items()
        }
        self._magnitudes = {
            tuple(token.text for token in Tokens(name).tokens): forms for name, forms in locale.magnitudes.items()
        }
        self.starts = frozenset(name[0] for name in self._money)
        self._large_starts = frozenset(name[0].casefold() for name in self._magnitudes)

    def _sign(self, line: Tokens, place: int) -> tuple[Forms | None, int, str]:
        """Currency at a place, the place after it, and its sign."""
        for length in (3, 2, 1) if line[place].fold in self.starts else ():
            run = tuple(line[place + step] for step in range(length))
            forms = self._money.get(tuple(token.fold for token in run))
            text = run[0].text
            short = text.islower() and text.isascii() if len(text) < 3 else text.istitle() and len(text) == 3
            if forms and not (run[1].gap and text.isalpha() if length == 2 else short and length == 1):  # a $5; Bob
                return forms, place + length, "".join(token.text for token in run)
        return None, place, ""

    def _magnitude(self, line: Tokens, place: int) -> tuple[Forms | None, int]:
        for length in (4, 3, 2, 1) if line[place].fold in self._large_starts else ():
            run = tuple(line[place + step].text for step in range(length))
            if forms := self._magnitudes.get(run) or self._magnitudes.get(tuple(map(str.casefold, run))):
                after = place + length
                stop = line.has(after, ".", glued=True) and not line.last(after) and line[after + 1].gap
                return forms, after + stop
        return None, place

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        locale = self._locale
        forms, start, sign = self._sign(line, place)
        minus = ""
        if line[place].text in ("-", "−", "+") and (after_sign := self._sign(line, place + 1))[0]:
            forms, start, sign = after_sign
            minus = locale.signs["+" if line[place].text == "+" else "−"] + " "
        before = forms is not None
        number = written(line, start, locale.decimal, "$" in sign or sign in ("MXN", "USD", "CLP", "COP"))
        lettered = before and len(sign) == 3 and sign.islower() and not line[start].gap  # eth0
        if number is None or lettered or (before and line[start].text == "+"):
            return
        numbers = [number]
        scale, end = self._magnitude(line, number.after)
        name = self._units.joint(line, end, number)
        last = written(line, end + 1, locale.decimal) if name else None
        joint = locale.joint_words(name or "")
        big = last and self._magnitude(line, last.after)[0]
        if last and scale in (None, big) and (before or big or self._sign(line, last.after)[0]):
            numbers.append(last)
        if before and len(numbers) == 1 and line[number.after].fold in DASHES:
            again, at, _ = self._sign(line, number.after + 1)
            if again == forms and (last := written(line, at, locale.decimal)):
                numbers.append(last)
                joint = locale.joint_words("to")
        big, after = self._magnitude(line, numbers[-1].after)
        first = "".join(f"{spoken(locale, each)} {joint} ".replace("  ", " ") for each in numbers[:-1])
        if not before:
            if line.has(after, ("de", "di", "d")) and big:
                after += 1 + line.has(after + 1, ("'", "’"), glued=True)
            forms, after, sign = self._sign(line, after)
            if forms is None:
                yield from self._large(line, place, first, numbers[-1], big)
                return
        if not before and number.plain and glued(line, after) and len(line[after].text) == 2:
            numbers, after = [number._replace(fraction=line[after].text)], after + 1  # 7€50
        if big is None and (scaled := self._magnitude(line, after))[0] and not before and not line[after].gap:
            big, after = scaled
        assert forms is not None
        if number.plain and big is None and len(numbers) == 1 and sign.islower() and sign in forms:
            return  # espeak-ng reads "5 euros" well
        if sign == "$" and (line.folds & locale.cue["pesos"] or (number.grouped and not big and locale.cue["pesos"])):
            forms = locale.currencies["pesos"]
        named = self._sign(line, after) if before and "$" in sign else (None, after, "")
        if named[0] and (line[after].text.isupper() or line[after].fold in named[0]):
            forms, after = named[0], named[1]
        unit, power, count, after = self._units.per(line, after)
        per = per_words(locale, unit, power, count)
        if line.has(after, "/", glued=True) and line.has(after + 1, "-", glued=True):
            after += 2  # Indian "₹999/-"
        yield Classed(place, after, InWords("Money", minus + self._amount(first, numbers[-1], big, forms) + per), 0.3)

    def _large(self, line: Tokens, place: int, first: str, number: Written, big: Forms | None) -> Iterator[Classed]:
        """Number with an abbreviated magnitude: 12,5 M."""
        token = line[number.after]
        labelled = line.cued(place, self._locale.cue.get("labels", ()), 1 if token.gap else 3)
        if big is None or labelled or token.text == "L" or (token.gap and token.text == "K"):
            return
        after = self._magnitude(line, number.after)[1]
        per, power, count, last = self._units.per(line, after)
        of = line[after].fold in ("de", "di") and bool(self._locale.of)
        unit, end = self._units.unit(line, after + of)
        agrees = self._locale.numbers == "es" and number.whole[-1] == "1" != number.whole[-2:-1]
        word = token.fold in (big[0], big[1]) and not agrees
        lone = not (token.gap or number.fraction or token.text == "k" or len(token.text + number.whole) > 2)
        if lone or (word and not per and (not unit or line[after + of].text in self._locale.all_units[unit])):
            return
        if unit and big[0] not in ("mil", "mille"):
            said = joined(self._locale, first + self._sum(number, big), self._locale.all_units[unit][1])
            end += line.has(end, ".", glued=True) and not line.last(end)
            yield Classed(place, end, InWords("Large", said), 0.4)
        said = first + self._sum(number, big) + per_words(self._locale, per, power, count)
        yield Classed(place, last, InWords("Large", said), 0.45)

    def _sum(self, number: Written, big: Forms) -> str:
        said = self._locale.counted(spoken(self._locale, number), self._locale.all_units["m"][1])  # veintiún millones
        return said + " " * ((big[0], self._locale.numbers) != ("mille", "it")) + big[plural(self._locale, number)]

    def _amount(self, first: str, number: Written, big: Forms | None, forms: Forms) -> str:
        locale = self._locale
        if big:
            return first + joined(locale, self._sum(number, big), forms[1])
        cents, whole = number.fraction, number._replace(fraction="")
        named = locale.numbers or forms[0] != forms[1] or forms[0] in locale.hundredths_of
        if len(cents) != 2 or not int(cents) or not named:
            number = whole if cents and not int(cents) else number
            return first + self._counted(number, forms, bool(first))
        parts = locale.hundredths_of.get(forms[0].split()[0], locale.hundredths)
        before = "" if whole.whole == "0" else f"{self._counted(whole, forms)} {locale.joint} "
        return first + before + self._counted(Written(str(int(cents))), parts)

    def _counted(self, number: Written, forms: Forms, several: bool = False) -> str:
        form = forms[several or plural(self._locale, number)]
        return joined(self._locale, spoken(self._locale, number, form), form)
