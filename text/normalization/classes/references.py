"""Fields and parsers of numbers that belong to a word before them: verses, labels, sections, scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from text.locales.tables import word_lists
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.tokens import DASHES, Tokens

_COST = 0.3
WAYS = {"n": "north", "s": "south", "e": "east", "w": "west"}
_BEFORE_TIMES = frozenset(("from", "at", "by", "until", "since", "between"))
_PARTS = frozenset("abcef")
"""Letters of parts of pages and sections, without those of units."""
_NTHS = {"1": 1, "i": 1, "2": 2, "ii": 2, "3": 3, "iii": 3}


class Verse(NamedTuple):
    book: str
    nth: int
    """Number of the book of that name; 0 if there is one."""
    chapter: int
    first: int = 0
    last: int = 0
    last_chapter: int = 0
    """Chapter of the last verse, if it isn't the first one's."""
    part: str = ""
    """Letter after the last verse: 13:4–8a."""


class Labelled(NamedTuple):
    """Labels after the word that names them: the letters and digits of each, and the words between them."""

    name: str
    labels: tuple[str, ...]


class Score(NamedTuple):
    first: str
    last: str


class Verses:
    def __init__(self, table: Mapping[str, str], abbreviations: Mapping[str, str]) -> None:
        lists = word_lists(table)
        books, names = lists["books"], lists["names"]
        self._short = {name.casefold(): full for name, full in abbreviations.items()}
        self._sure, self._full, self._numbered = books, books | names, lists["numbered"]
        words = self._full | frozenset(self._short) | frozenset(_NTHS) | {"qur"}
        self.parser = Parser(words, self.parse, needs=self._numbered)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        nth, start = 0, place
        if line[place].fold in _NTHS and line.has(place + 1, self._numbered) and line[place + 1].gap:
            nth, start = _NTHS[line[place].fold], place + 1
        book, after = line[start].text, start + 1
        sure = line[start].fold in self._sure
        if line[start].fold == "qur" and line[start + 2].fold == "an":
            book, after, sure = f"{book}{line[start + 1].text}{line[start + 2].text}", start + 3, True
        elif line[start].fold not in self._full:
            book = self._short.get(line[start].fold, "")
            stop = line.has(after, ".", glued=True)
            short = "a" not in line[start].fold and "o" not in line[start].fold  # Lk, Jn; no name (Dan, Tom)
            versed = (nth or short or book.casefold() in self._sure) and line.has(after + 1, ":", glued=True)
            if not book or not (stop or (versed and (line[start].text.istitle() or line.shouted or line.small))):
                return
            after, sure = after + stop, line[start].fold != "rev"
        chapter = line.number(after, 1, 150, 3)
        if chapter is None or not line[after].gap:
            return
        verse = line.number(after + 2, 1, 286, 3)
        sign = line[after + 1]
        if verse is None or sign.gap or line[after + 2].gap or sign.text not in ((":", ".") if sure else (":",)):
            if nth and sign.text != ":":
                yield Classed(place, after + 1, Verse(book, nth, chapter), _COST)
            return
        end, last = after + 3, 0
        if line.dash(end):
            last = line.number(end + 1, 1, 286, 3) or 0
            beyond = line.number(end + 3, 1, 286, 3) if last and line.has(end + 2, ":", glued=True) else None
            if beyond:
                yield Classed(place, end + 4, Verse(book, nth, chapter, verse, beyond, last), _COST)
                return
        end += 2 * bool(last)
        part = line[end].text if line.has(end, ("a", "b", "c"), glued=True) else ""
        yield Classed(place, end + bool(part), Verse(book, nth, chapter, verse, last, part=part), _COST)


class LabelledNumbers:
    """Parser of labels: Fig. 3a, Eqs. (3) and (4), Room 204, Gate B12, RM. 12B."""

    def __init__(
        self, table: Mapping[str, str], parts: Mapping[str, str], places: Mapping[str, str], others: Mapping[str, str]
    ) -> None:
        self._alone = frozenset(map(str.casefold, (*parts, *places)))
        self._short = {name.casefold(): full for name, full in {**others, **parts, **places}.items()}
        self._parts = frozenset(name.casefold() for name in (*parts, *table["parts"].split()))
        listed = (table["parts"] + table["places"]).casefold().split()
        self._full = frozenset(listed).union(f"{name}s" for name in listed)
        lists = word_lists(table)
        self._unstopped, self._rooms = lists["unstopped"], lists["rooms"]
        self._abbreviated, self._roads = lists["abbreviated"], lists["roads"]
        words = self._full | frozenset(self._short) | self._rooms | {"flight", "flights"}
        bare = Parser.of(self.parse, dict.fromkeys(words, (".",)))
        self.parser = Parser(words, self.parse, numbers=False, bare=bare)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        word, after = line[place], place + 1
        name = word.text
        if word.fold in ("flight", "flights"):
            yield from self._flight(line, place)
            return
        stopped = line.has(after, ".", glued=True)
        lettered = len(line[after].text) == 1 and line[after + 1].kind == "d" and not line[after + 1].gap
        numbered = line[after].gap and (line[after].kind == "d" or (line[after].kind == "w" and lettered))
        short = stopped or (word.fold in self._unstopped and numbered)
        if word.fold in self._short and short:
            full = self._short[word.fold]
            name, after = full.lower() if word.text.islower() else full[0].upper() + full[1:], after + stopped
        elif word.fold not in self._full | self._rooms:
            return
        after += line[after].text == "#" and line[after].gap and line[after + 1].kind == "d"
        hashed = line[after - 1].text == "#"
        token = line[after]
        if word.fold in self._rooms and token.kind == "d" and len(token.text) in (3, 4) and token.gap:
            joined = line.has(after + 1, (".", ",", ":", "-"), glued=True) and line[after + 2].kind == "d"
            if not joined and (word.fold != "us" or word.text == "US"):
                yield Classed(place, after + 1, Labelled(name, (f"#{token.text}",)), _COST)
        if not (token.gap or hashed) or word.fold == "us":
            return
        small = word.fold in self._parts
        if word.fold not in self._alone | self._full and token.kind == "w" and line[after + 1].kind != "d":
            return
        label, end = self._label(line, after, small, first=True)
        road = word.fold in self._roads and label.isdecimal() and (line[end].text.isupper() or line.small)
        way = WAYS.get(line[end].fold, "") if road and line[end].gap else ""
        if way and line.ends(end + 1) and line[end + 1].kind != "d":
            stop = line.has(end + 1, ".", glued=True) and not line.last(end + 1)
            yield Classed(place, end + 1 + stop, Labelled(name, (label, way)), _COST - 0.1)
        if not label or (not small and label.isdecimal()):
            return
        labels = [label]
        while len(labels) < 7:
            joint, start = self._joint(line, end, name.casefold() == "section")
            label, last = self._label(line, start, small, first=False) if joint else ("", end)
            other = len(label) > len(labels[0]) or label.isdecimal() > labels[0].isdecimal()  # Room 4B, 1-2 pm
            if not label or (joint == "," and other):
                break
            labels += [joint, label]
            end = last
        if len(labels) == 1 and labels[0].isdecimal() and token.text != "(":
            if not stopped or word.fold in self._abbreviated:
                return
            end, labels = after, []
        yield Classed(place, end, Labelled(name, tuple(labels)), _COST)

    def _flight(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Flight of a carrier with two characters: flight BA 2490, Flight B6 15."""
        first, second = line[place + 1], line[place + 2]
        after = place + 2
        carrier = first.text
        if len(carrier) == 1 and len(second.text) == 1 and not second.gap:
            carrier, after = carrier + second.text, after + 1
        number = line[after]
        if len(carrier) != 2 or number.kind != "d" or not 1 < len(number.text) < 5 or carrier.isdecimal():
            return
        if first.kind == "w" and carrier.isalpha() and carrier.islower() and not line.small:
            return
        digit = f"#{number.text}" if number.gap else " ".join(number.text)
        name = f"{line[place].text} {'.'.join(carrier.upper())}"
        yield Classed(place, after + 1, Labelled(name, tuple(digit.split())), 0.2)

    def _joint(self, line: Tokens, place: int, law: bool) -> tuple[str, int]:
        if line.dash(place):
            before, after = line[place - 1], line[place + 1]
            of_law = law and before.kind == "d" and len(after.text) > max(2, len(before.text))
            first, last = line.number(place - 1, 0, 9999), line.number(place + 1, 0, 9999)
            falls = first is not None and last is not None and (last < first or after.text[0] == "0")
            return "dash" if of_law or falls else "to", place + 1
        if line.has(place, ("and", "&")):
            return "and", place + 1
        return (",", place + 1) if line.has(place, ",", glued=True) and line[place + 1].gap else ("", place)

    def _label(self, line: Tokens, place: int, small: bool, first: bool) -> tuple[str, int]:
        """Digits with a letter before or after them, in brackets or without."""
        bracket = line[place].text == "("
        start = place + bracket
        token, after = line[start], line[start + 1]
        letter = token.kind == "w" and len(token.text) == 1
        if letter and (token.text.isupper() or line.small) and after.kind == "d" and not after.gap:
            label, end = f"{token.text.upper()}{after.text}" if len(after.text) < 5 else "", start + 2
        elif letter and token.text.isupper() and after.text == "-" and first:
            number = line[start + 2]  # Appendix B-1
            joined = number.kind == "d" and not (after.gap or number.gap)
            label, end = f"{token.text}{number.text}" if joined and len(number.text) < 4 else "", start + 3
        elif first and line[start - 1].text == "." and _is_letter(line, start):
            label, end = token.text, start + 1
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


def _is_letter(line: Tokens, place: int) -> bool:
    """True for a capital that is a label by itself: App. C; not for the words A and I."""
    token = line[place]
    word = token.text == "I" or (token.text == "A" and line[place + 1].kind == "w")
    return len(token.text) == 1 and token.text.isupper() and not (word or line.shouted)


class Sections(NamedTuple):
    """Sections of a law: first, its parts in brackets, and the last with the word before it."""

    several: bool
    first: str
    parts: tuple[str, ...] = ()
    joint: str = ""
    last: str = ""


def sections(line: Tokens, place: int, british: bool) -> Iterator[Classed]:
    """Parser of sections by their sign: § 5(2), §§ 12–14."""
    several = line.has(place + 1, "§", glued=True)
    after = place + 1 + several
    first = line[after]
    if first.kind != "d" or len(first.text) > 5 or not line.ends(after + 1):
        return
    after += 1
    parts: list[str] = []
    while line.has(after, "(", glued=True) and len(line[after + 1].text) < 4 and line.has(after + 2, ")", glued=True):
        parts.append(line[after + 1].text)
        after += 3
    joint = "to" if line.dash(after) else "and" if line.has(after, ("and",)) else ""
    last = line[after + 1] if joint else line[-1]
    if last.kind == "d" and len(last.text) < 6 and line.ends(after + 2):
        yield Classed(place, after + 2, Sections(several, first.text, tuple(parts), joint, last.text), 0.2)
    yield Classed(place, after, Sections(several, first.text, tuple(parts)), 0.3)


def lettered(line: Tokens, place: int, british: bool) -> Iterator[Classed]:
    """Span of numbers with letters: 514a–520a, 12a–c."""
    letter, dash = line[place + 1], line[place + 2]
    last = place + 3 + (line[place + 3].kind == "d")
    near = [letter, dash, *line.tokens[place + 3 : last + 1]]
    solid = not any(token.gap for token in near) and dash.text in DASHES and len(line[place].text) < 5
    if solid and _PARTS.issuperset((letter.text, line[last].text)):
        words = "".join(token.text.upper() for token in near[2:])
        hours = 0.1 * (letter.text == line[last].text == "a" and len(line[place].text) < 3)  # 9a-10a
        labels = f"{line[place].text}{letter.text.upper()}", "to", words
        yield Classed(place, last + 1, Labelled("", labels), _COST + hours)


def letters(line: Tokens, place: int, british: bool) -> Iterator[Classed]:
    """Span of letters: names A–M; after a plural also with a hyphen."""
    first, last = line[place], line[place + 2]
    dash = line[place + 1].text
    several = dash == "–" or (dash == "-" and line[place - 1].fold[-1:] == "s")
    alone = (
        first.gap
        and first.text != "X"
        and len(first.text) == len(last.text) == 1
        and first.text.isupper()
        and last.text.isupper()
    )
    if several and alone and line.dash(place + 1) and not last.gap and first.text < last.text and line.ends(place + 3):
        yield Classed(place, place + 3, Labelled("", (first.text, "to", last.text)), _COST)


class Scores:
    def __init__(self, cues: frozenset[str], numbered: frozenset[str]) -> None:
        self._cues, self._numbered = cues, numbered

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        first, last = line.number(place, 0, 199, 3), line.number(place + 2, 0, 199, 3)
        if first is None or last is None or not line.ends(place + 3):
            return
        timed = (line[place + 2].text[0] == "0" and last > 0) or line[place - 1].fold == "in"  # leads by 3:09
        timed |= len(line[place + 2].text) == 2 and line.has(place - 1, _BEFORE_TIMES)  # lost power from 2:15
        colon = line[place + 1].text == ":" and not (line[place + 1].gap or timed) and line.cued(place, self._cues, 3)
        dash = line[place + 1].text in ("-", "–") and line.dash(place + 1)
        names = line[place - 1].text, line[place + 3].text
        named = line[place + 3].gap and all(name.istitle() or (len(name) > 2 and name.isupper()) for name in names)
        cued, named = not line.folds.isdisjoint(self._cues), named and line[place - 1].fold not in self._numbered
        if colon or (dash and (cued or named)):
            cost = _COST + 0.15 * (not (cued or colon))
            yield Classed(place, place + 3, Score(line[place].text, line[place + 2].text), cost)
