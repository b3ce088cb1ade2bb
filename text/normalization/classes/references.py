"""Fields and parsers of numbers that belong to a word before them: verses, labels, codes, scores; and heights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from text.locales.tables import word_list
from text.normalization.classes.cover import Classed
from text.normalization.classes.tokens import Tokens

_COST = 0.3
_NTHS = {"1": 1, "i": 1, "2": 2, "ii": 2, "3": 3, "iii": 3}


@dataclass(frozen=True, slots=True)
class Verse:
    book: str
    nth: int
    """Number of the book of that name; 0 if there is one."""
    chapter: int
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels after the word that names them: the letters and digits of each, and the words between them."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Digits:
    """Code that is said digit by digit."""

    digits: str


@dataclass(frozen=True, slots=True)
class Score:
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Height:
    feet: str
    inches: str


class Verses:
    """Parser of chapters and verses."""

    def __init__(self, table: Mapping[str, str], abbreviations: Mapping[str, str]) -> None:
        books, names = word_list(table["books"]), word_list(table["names"])
        self._short = {name.casefold(): full for name, full in abbreviations.items()}
        self._sure, self._full, self._numbered = books, books | names, word_list(table["numbered"])
        self.words = self._full | frozenset(self._short) | frozenset(_NTHS) | {"qur"}

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        nth, start = 0, place
        if line[place].fold in _NTHS and line.has(place + 1, self._numbered) and line[place + 1].gap:
            nth, start = _NTHS[line[place].fold], place + 1
        book, after = line[start].text, start + 1
        sure = line[start].fold in self._sure
        if line[start].fold == "qur" and line[start + 2].fold == "an":
            book, after, sure = f"{book}{line[start + 1].text}{line[start + 2].text}", start + 3, True
        elif line[start].fold not in self._full:
            if line[start].fold not in self._short or not line.has(after, ".", glued=True):
                return
            book, after, sure = self._short[line[start].fold], after + 1, True
        chapter = line.number(after, 1, 150, 3)
        if chapter is None or not line[after].gap:
            return
        verse = line.number(after + 2, 1, 176, 3)
        sign = line[after + 1]
        if verse is None or sign.gap or line[after + 2].gap or sign.text not in ((":", ".") if sure else (":",)):
            if nth and sign.text != ":":
                yield Classed(place, after + 1, Verse(book, nth, chapter), _COST)
            return
        end, last = after + 3, 0
        if line.dash(end):
            last = line.number(end + 1, 1, 176, 3) or 0
        yield Classed(place, end + 2 if last else end, Verse(book, nth, chapter, verse, last), _COST)


class LabelledNumbers:
    """Parser of labels: Fig. 3a, Eqs. (3) and (4), Room 204, Gate B12, RM. 12B."""

    def __init__(self, table: Mapping[str, str], parts: Mapping[str, str], places: Mapping[str, str]) -> None:
        self._short = {name.casefold(): full for name, full in {**parts, **places}.items()}
        self._parts = frozenset(name.casefold() for name in (*parts, *table["parts"].split()))
        self._full = frozenset(name.casefold() for name in (table["parts"] + table["places"]).split())
        self._rooms, self._abbreviated = word_list(table["rooms"]), word_list(table["abbreviated"])
        self.words = self._full | frozenset(self._short) | self._rooms

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        word, after = line[place], place + 1
        name = word.text
        stopped = line.has(after, ".", glued=True)
        if word.fold in self._short and stopped:
            full = self._short[word.fold]
            name, after = full.lower() if word.text.islower() else full, after + 1
        elif word.fold not in self._full | self._rooms:
            return
        code = (
            line[after] if word.fold == "flight" and len(line[after].text) == 2 and line[after].text.isupper() else None
        )
        if code is not None:
            name, after = f"{name} {'.'.join(code.text)}", after + 1
        token = line[after]
        if word.fold in self._rooms and token.kind == "d" and len(token.text) in (3, 4) and token.gap:
            joined = (
                not line[after + 1].gap and line[after + 1].text in (".", ",", ":", "-") and line[after + 2].kind == "d"
            )
            if not joined and (word.fold != "us" or word.text == "US"):
                yield Classed(place, after + 1, Labelled(name, (f"#{token.text}",)), _COST)
        if not token.gap or word.fold in ("us", "flight"):
            return
        small = word.fold in self._parts
        label, end = self._label(line, after, small, first=True)
        if not label or (not small and label.isdecimal()):
            return
        labels = [label]
        while len(labels) < 7:
            joint, start = self._joint(line, end)
            label, last = self._label(line, start, small, first=False) if joint else ("", end)
            if not label:
                break
            labels += [joint, label]
            end = last
        plain = len(labels) == 1 and labels[0].isdecimal() and token.text != "("
        if plain and (not stopped or word.fold in self._abbreviated):
            return
        if plain:
            end = after
            labels = []
        yield Classed(place, end, Labelled(name, tuple(labels)), _COST)

    def _joint(self, line: Tokens, place: int) -> tuple[str, int]:
        if line.dash(place):
            return "to", place + 1
        if line.has(place, ("and",)):
            return "and", place + 1
        return (",", place + 1) if line.has(place, ",", glued=True) and line[place + 1].gap else ("", place)

    def _label(self, line: Tokens, place: int, small: bool, first: bool) -> tuple[str, int]:
        """Digits with a letter before or after them, in brackets or without."""
        bracket = line[place].text == "("
        start = place + bracket
        token, after = line[start], line[start + 1]
        if token.kind == "w" and len(token.text) == 1 and token.text.isupper() and after.kind == "d" and not after.gap:
            label, end = f"{token.text}{after.text}" if len(after.text) < 5 else "", start + 2
        elif token.kind == "d" and len(token.text) < 5:
            label, end = token.text, start + 1
            letters = "abcdef" if not small else "abcdefghijklmnopqrstuvwxyz"
            if after.kind == "w" and not after.gap:
                if len(after.text) != 1 or not (after.text.isupper() or after.fold in letters):
                    return "", place
                label, end = label + after.text.upper(), start + 2
        else:
            return "", place
        if bracket:
            return (label, end + 1) if line.has(end, ")", glued=True) else ("", place)
        ends = line.ends(end) or line.dash(end)
        return (label, end) if label and ends else ("", place)


class Codes:
    """Parser of codes after a word that names them: PIN 4021, order #48213, OTP: 402917."""

    words = frozenset[str]()

    def __init__(self, table: Mapping[str, str]) -> None:
        self._codes, self._numbers = word_list(table["codes"]), word_list(table["code_numbers"])
        self._ending = word_list(table["ending"])

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if not 4 <= len(token.text) <= 14 or line.has(place + 1, "%", glued=True):
            return
        before = place - 1
        for skipped in ("#", ("is", "was"), ":", (".",), self._numbers):
            before -= line[before].fold != "" and line[before].fold in skipped
        if line.cued(place, ("zip", "area"), 4):
            return
        named = line[before].fold in self._codes or line[before + 1].fold in self._codes
        if named or (
            len(token.text) == 4 and line.has(place - 1, ("in", "with")) and line.has(place - 2, self._ending)
        ):
            yield Classed(place, place + 1, Digits(token.text), _COST)


class Scores:
    """Parser of results of games, with a dash or a colon."""

    words = frozenset[str]()

    def __init__(self, table: Mapping[str, str]) -> None:
        self._cues = word_list(table["scores"])

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        first, last = line.number(place, 0, 199, 3), line.number(place + 2, 0, 199, 3)
        if first is None or last is None or not line.ends(place + 3):
            return
        colon = line[place + 1].text == ":" and not line[place + 1].gap and line.cued(place, self._cues, 3)
        dash = line[place + 1].text in ("-", "–") and line.dash(place + 1)
        if colon or (dash and not line.folds.isdisjoint(self._cues)):
            yield Classed(place, place + 3, Score(line[place].text, line[place + 2].text), _COST)


class Heights:
    """Parser of feet and inches: 5'11", 5 ft 11 in, 6ft2."""

    words = frozenset[str]()

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        feet, inches = line.number(place, 1, 999, 3), line.number(place + 2, 0, 11, 2)
        sign = line[place + 1]
        if feet is None or inches is None:
            return
        after = place + 3
        if sign.text in ("'", "’", "′") and not sign.gap:
            if line.has(after, ('"', "”", "″"), glued=True):
                yield Classed(place, after + 1, Height(line[place].text, line[place + 2].text), _COST)
        elif sign.fold == "ft":
            if line.has(after, ("in", "ins")):
                yield Classed(place, after + 1, Height(line[place].text, line[place + 2].text), _COST)
            elif not line[place + 2].gap:
                yield Classed(place, after, Height(line[place].text, line[place + 2].text), _COST)
