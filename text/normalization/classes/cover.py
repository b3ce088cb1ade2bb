"""Cheapest cover of a sentence by candidates: dynamic programming over its tokens."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import NamedTuple

from text.normalization.classes.fields import Measure, Money
from text.normalization.classes.tokens import DASHES, SLASHED, TEXTS, VULGAR, Tokens
from text.normalization.draft import Draft, Edit

_LEFT_ALONE = 1.0
"""Cost of a token that no candidate covers."""


class Classed(NamedTuple):
    """Classed of the tokens from `first` to before `last`."""

    first: int
    last: int
    fields: object
    """Named tuple of the class."""
    cost: float
    """Below 1 a token; a cue word makes its class cheaper than another class of the same form."""


Parse = Callable[[Tokens, int, bool], Iterable[Classed]]


class Parser(NamedTuple):
    words: frozenset[str]
    """Words and signs with which an item of the class begins; in small letters if they may be written so."""
    parse: Parse
    """Candidates that begin at a token of a sentence; the last argument is True for British habits."""
    numbers: bool = True
    """Items begin with digits as well."""
    mixed: bool = False
    """Items also begin with letters that digits follow: B12."""
    also: Callable[[str], object] | None = None
    """True for more words with which items begin, as they are written."""
    needs: frozenset[str] = frozenset()
    """Tokens of which a sentence has one if an item begins with digits, or if it has none; empty if none is needed."""
    followed: Mapping[str, frozenset[str]] = {}
    """Tokens of which one follows some of the words in an item; in small letters, `NUMBER` for all numbers."""
    bare: Parser | None = None
    """Parser of items in sentences without digits; None if each item has a digit."""

    @classmethod
    def of(cls, parse: Parse, seconds: Mapping[str, Iterable[str]]) -> Parser:
        """Parser of items that begin with words, each with the tokens of which one follows it; "" is any."""
        followed = {
            word: frozenset(NUMBER if each.isdecimal() else each for each in after)
            | (DASHES if "-" in after else frozenset())
            for word, after in seconds.items()
            if "" not in after
        }
        return cls(frozenset(seconds), parse, any(map(str.isdecimal, seconds)), followed=followed)

    def also_bare(self) -> Parser:
        """The same parser, whose items need no digits."""
        return self._replace(bare=self)


NUMBER = "0"
_BEFORE_NUMBERS = frozenset("-−–+.(")
_DIGIT = re.compile(rf"[\d{''.join(VULGAR)}]")
_REACH = 4
"""Tokens after such a sign among which the number begins: -HK$.50."""


_Start = tuple[Parser, frozenset[str] | None]


class Parsers:
    """Parsers by the token with which their items begin."""

    def __init__(self, parsers: Iterable[Parser]) -> None:
        listed = list(parsers)
        self._numbers = [(parser.parse, parser.needs) for parser in listed if parser.numbers]
        self._mixed = [parser.parse for parser in listed if parser.mixed]
        self._also = [(parser, parser.also) for parser in listed if parser.also]
        words: dict[str, list[_Start]] = defaultdict(list)
        for parser in listed:
            for word in parser.words:
                words[word].append((parser, parser.followed.get(word)))
        self._words = {word: tuple(starts) for word, starts in words.items()}
        self._of_text = lru_cache(8192)(self._starts)

    def _starts(self, text: str) -> tuple[_Start, ...]:
        """Parsers of which a token is a word, each with the tokens of which one follows it, or None if any may."""
        fold = text.casefold()
        known = self._words.get(fold, ())
        if fold != text:
            known += self._words.get(text, ())
        return known + tuple((parser, None) for parser, also in self._also if text[0].isalpha() and also(text))

    def may_begin(self, sentence: str) -> bool:
        """False for a sentence without digits that has no item."""
        texts = TEXTS.findall(sentence)
        every = frozenset[str]()
        for starts, following in zip(map(self._of_text, texts), [*texts[1:], ""], strict=False):
            for parser, seconds in starts:
                if seconds is None or following.casefold() in seconds:
                    every = every or frozenset([*map(str.casefold, texts), ""])
                    if not (parser.needs and parser.needs.isdisjoint(every)):
                        return True
        return False

    def candidates(self, line: Tokens, british: bool) -> Iterator[Classed]:
        """Candidates that begin and end where an item can."""
        kinds = "".join(["d" if token.text in VULGAR else token.kind for token in line.tokens])
        folds = line.folds if "d" in kinds else frozenset[str]()
        numbers = [parse for parse, needs in self._numbers if not needs or not needs.isdisjoint(folds)]
        for place, token in enumerate(line.tokens):
            if token.kind == "d":
                parses = numbers
            elif token.text in _BEFORE_NUMBERS and "d" not in kinds[place + 1 : place + 1 + _REACH]:
                continue
            else:
                following, starts = line[place + 1], self._of_text(token.text)
                numbered = token.kind == "w" and following.kind == "d" and not following.gap
                if not (starts or numbered):
                    continue
                second = NUMBER if following.kind == "d" else following.fold
                parses = [parser.parse for parser, seconds in starts if seconds is None or second in seconds]
                parses = list(dict.fromkeys(parses + self._mixed * numbered))
            if line.begins(place):
                for parse in parses:
                    for candidate in parse(line, place, british):
                        if line.ends(candidate.last) or _abbreviates(line, candidate.last):
                            yield candidate


def _abbreviates(line: Tokens, place: int) -> bool:
    """True for a number glued to an abbreviation's full stop or sign: No.5, pág.12, #12, and no P.808."""
    before, word = line[place - 1].text, line[place - 2]
    signed = before in ("#", "§", "º", "°") or (before == "/" and word.fold in SLASHED)
    signed = signed and (line[place + 1].gap or line[place + 1].kind != "w")
    lettered = len(word.text) > 1 or word.text in "N" or not word.text.isupper()
    return line[place].kind == "d" and (signed or (before == "." and lettered))


def cheapest(found: Iterable[Classed], length: int) -> list[Classed]:
    """Candidates of the cheapest cover of `length` tokens, in order. Of two equal covers the first candidate's wins."""
    ending: dict[int, list[Classed]] = defaultdict(list)
    for candidate in found:
        ending[candidate.last].append(candidate)
    if not ending:
        return []
    costs = [0.0]
    chosen: list[Classed | None] = [None]
    for place in range(1, length + 1):
        cost, best = costs[place - 1] + _LEFT_ALONE, None
        for candidate in ending.get(place, ()):
            if (total := costs[candidate.first] + candidate.cost) < cost:
                cost, best = total, candidate
        costs.append(cost)
        chosen.append(best)
    cover: list[Classed] = []
    place = length
    while place:
        last = chosen[place]
        if last:
            cover.append(last)
            place = last.first
        else:
            place -= 1
    return cover[::-1]


class InWords(NamedTuple):
    """Item of a class that is read by a language's tables, with its words."""

    kind: str
    said: str


class Covered(NamedTuple):
    """Candidates of a sentence, and those of its cheapest cover."""

    sentence: str
    line: Tokens
    found: list[Classed]
    cover: list[Classed]
    say: Callable[[object], str]
    """Words for a candidate's fields."""


COVERS: ContextVar[list[Covered] | None] = ContextVar("COVERS", default=None)
"""List to which each covered sentence is added, for whoever asks for reasons."""


class Classes:
    """Rule of a language that says all its classes that are on: the cheapest cover of the sentence.

    Args:
        parsers: parsers, each with the setting that turns it off.
        say: words for a candidate's fields, for British habits or not.
        between: a word before spans, after which the next one, between their ends, is said as the last one.
    """

    def __init__(
        self,
        parsers: Iterable[tuple[str, Parser]],
        say: Callable[[object, bool], str],
        between: tuple[str, str, str] = ("", "", ""),
    ) -> None:
        self.parsers, self._say, self._between = tuple(parsers), say, between
        self._on = lru_cache(32)(self._parsers)

    def _parsers(self, on: frozenset[str], digits: bool) -> Parsers:
        listed = (parser if digits else parser.bare for name, parser in self.parsers if name in on)
        return Parsers(filter(None, listed))

    def rewrite(self, draft: Draft) -> None:
        digits = _DIGIT.search(draft.text) is not None
        parsers = self._on(draft.on, digits)
        if not (digits or parsers.may_begin(draft.text)) and COVERS.get() is None:
            return
        line = Tokens(draft.text)
        found = list(parsers.candidates(line, draft.british))
        cover = cheapest(found, len(line.tokens))
        if (seen := COVERS.get()) is not None:
            seen.append(Covered(draft.sentence, line, found, cover, lambda fields: self._say(fields, draft.british)))
        spans = ((line[each.first].start, line[each.last - 1].end) for each in cover)
        edits = [Edit(*span, self._said(each, line, draft.british)) for span, each in zip(spans, cover, strict=True)]
        ends = {each.last for each in cover if isinstance(each.fields, Measure | Money | InWords)}
        slashes = {each.first - 1 for each in cover if each.first - 1 in ends and line[each.first].kind != "w"}
        free = set(range(2, len(line.tokens) * ("units" in draft.on and "/" in line.folds)))
        free.difference_update(*(range(each.first - 1, each.last) for each in cover))
        kinds = ("".join(" " * each.gap + each.kind for each in line[place - 2 : place + 2]) for place in free)
        slashes.update(
            place for place, kind in zip(free, kinds, strict=True) if kind.endswith("d wsd")
        )  # 9 points/4 fouls
        edits += [Edit(*line[place][3:5], ", ") for place in slashes if line[place].text == "/"]  # 180°C/350°F
        draft.put(sorted(edits))

    def _said(self, item: Classed, line: Tokens, british: bool) -> str:
        said = self._say(item.fields, british)
        before, to, joint = self._between
        joined = line.has(item.last, (joint,)) and line[item.last + 1].kind != "w"
        if before and line.has(item.first - 1, (before,)) and not joined:
            return said.replace(f" {to} ", f" {joint} ", 1)
        return said
