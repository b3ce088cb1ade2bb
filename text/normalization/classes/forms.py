"""Parser of forms that a table lists: q{n}h, s{n}e{n}, M-F, {o} Cir.; a row is what is written and what is said."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from text.locales.tables import word_list
from text.normalization.classes.abbreviations import JOINED
from text.normalization.classes.cover import NUMBER, Classed, InWords, Parser
from text.normalization.classes.numbers import written_number
from text.normalization.classes.tokens import Lexeme, Tokens

_COST = 0.25
_NEAR = 8
"""Tokens before a doubtful row's first one, and half of those after it, among which a cue is near."""
_PLACE = re.compile(r"\{([a-z])\}(?:(?= (\w+)))?")
_HOLDERS = {name: chr(0xE001 + place) for place, name in enumerate("noctpdyik")}
"""Private sign that stands for a placeholder while a row is cut into tokens."""
_NAMES = {holder: name for name, holder in _HOLDERS.items()}
_CAPITALS = {each: each for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_YEAR = re.compile(r"(?:1[1-9]|20)\d\d")
_STOP, _LAST_STOP = (re.compile(rf"\b([^\W\d_]{{2,}})\.{end}") for end in ("(?= |$)", "$"))
_AFTER_NUMBER = re.compile(r"(?<=\{[nid]\})( ?)(?!nd|rd|st|th)([^\W\d_]{3,})")
_PLURAL = re.compile(r"\(([^|()]*)\|([^|()]*)\)")
_ENDINGS = frozenset(("st", "nd", "rd", "th"))


class _Row(NamedTuple):
    parts: tuple[Lexeme, ...]
    fixed: frozenset[str]
    """Parts that are no placeholders."""
    exact: bool
    """Written with capitals in the table, and found only so."""
    plain: bool
    """Without placeholders."""
    said: str
    cues: frozenset[str]
    """Words of which the sentence has one, without the row's own; empty if it needs none."""
    several: bool
    """Two or more words, which are found in capitals too."""
    doubtful: bool
    """A single letter or numbers alone ({n}m, {n}/{d}), which need two such words, or one that stands near."""


class _Shelf:
    """Rows that begin alike, found by the longest of their other parts: a line costs no more if there are more rows."""

    def __init__(self, rows: Iterable[_Row], start: str) -> None:
        self._rows: dict[str, list[tuple[int, _Row]]] = defaultdict(list)
        for place, row in enumerate(rows):
            self._rows[max(row.fixed - {start}, key=len, default="")].append((place, row))
        self._always = self._rows.pop("", [])

    def of(self, folds: frozenset[str]) -> list[_Row]:
        """Rows of which that part is one of a line's tokens, in the table's order."""
        rows = [row for part in self._rows.keys() & folds for row in self._rows[part]] + self._always
        return [row for _, row in sorted(rows)] if rows else []


def _spellings(written: str, words: Container[str] | None) -> set[str]:
    """A row, without stops if it has several words (never with None), and its numbers glued or not; `words` stay so."""
    stay = words or ()

    def stopless(found: re.Match[str]) -> str:
        return found[0] if found[1].casefold() in stay else found[1]

    def other_gap(found: re.Match[str]) -> str:
        return found[0] if found[2].casefold() in stay else (found[1] == "") * " " + found[2]

    stops = (_STOP, _LAST_STOP) if words is not None and (" " in written or "}" in written) else ()
    spelled = {written, *(stop.sub(stopless, written) for stop in stops)}
    return spelled | {_AFTER_NUMBER.sub(other_gap, each) for each in spelled}


class Forms:
    """Parser for one language's table (`forms.toml`): a section's rows, and its cue words under "cues".

    Args:
        number, ordinal: words of a number in digits, for British habits or not, and of an ordinal.
        written_at: digits and point of the number that begins at a token, and the place after it.
        agreed: a number's words as they are before a noun.
        fitted: what is said by an abbreviation after a word; "" if it can't stand there.
        words: what is no abbreviation without its stop; None if nothing is.
    """

    def __init__(
        self,
        table: Mapping[str, Mapping[str, str]],
        number: Callable[[str, bool], str],
        ordinal: Callable[[int, bool], str] | None = None,
        written_at: Callable[[Tokens, int], tuple[str, int]] = written_number,
        agreed: Callable[[str, str], str] = lambda words, noun: words,
        fitted: Callable[[str, str], str] = lambda said, before: said,
        words: Container[str] | None = None,
    ) -> None:
        self._number, self._ordinal, self._written_at, self._agreed = number, ordinal, written_at, agreed
        self._fitted = fitted
        self._words = {"c": _CAPITALS, "p": table.get("per", {}), "k": table.get("modifiers", {})}
        self._folds = {kind: frozenset(map(str.casefold, kept)) for kind, kept in self._words.items()}
        self._listed: dict[str, list[tuple[str, _Row]]] = defaultdict(list)
        """Second tokens and rows by the first token, or by a space and the token after a number."""
        self._bare: dict[str, set[str]] = defaultdict(set)
        """First tokens of rows without digits, in capitals if they have them, and the second ones; "" is any."""
        listed = set(chain.from_iterable(table.values()))
        for name, section in table.items():
            if name in ("per", "modifiers"):
                continue
            cues = word_list(section.get("cues", ""))
            for written, said in section.items():
                if written != "cues":
                    for spelling in (written, *(_spellings(written, words) - listed)):
                        self._add(spelling, said, cues)
        self._rows = {start: _Shelf((row for _, row in rows), start.strip()) for start, rows in self._listed.items()}
        numbered = {start for start in self._listed if start.isdecimal() or start[0] == " "}
        begun = {start: [second for second, _ in rows] for start, rows in self._listed.items() if start not in numbered}
        bare = Parser.of(self.parse, self._bare)
        self.parser = Parser.of(self.parse, begun)._replace(numbers=bool(numbered), bare=bare)

    def _add(self, written: str, said: str, cues: frozenset[str]) -> None:
        marked = _PLACE.sub(lambda match: _HOLDERS[match[1]], written)
        parts = tuple(Tokens(marked).tokens)
        letters = "".join(filter(str.isalpha, marked))
        plain = marked == written
        others = cues.difference(part.fold for part in parts)  # no abbreviation is its own cue
        fixed = frozenset(part.fold for part in parts if part.text not in _NAMES)
        doubtful = len(letters) < 2 and bool(others)
        several = sum(len(part) > 1 and part.isalpha() for part in fixed) > 1
        row = _Row(parts, fixed, not letters.islower() and bool(letters), plain, said, others, several, doubtful)
        name = _NAMES.get(parts[0].text, "")
        second = _NAMES.get(parts[1].text, "") if len(parts) > 1 else "c"
        following = "" if second else parts[1].fold
        lettered = self._folds["c"] if second == "c" and parts[1:] else frozenset[str]()
        if name == "o" or (name in ("n", "d", "t", "y") and (following or lettered)):
            for after in _ENDINGS if name == "o" else lettered or (following,):
                self._listed[f" {after}"].append(("", row))
            return
        if not any(part.kind == "d" or _NAMES.get(part.text, "c") not in "cpk" for part in parts):
            first = parts[0].text
            seconds = self._folds.get(second, {following}) if parts[1:] else {""}
            itself = (first, first.upper()) if row.exact else (first.casefold(),)
            for start in self._words.get(name, itself):
                self._bare[start].update(seconds)
        second = "" if name in ("n", "d", "t", "y") or second in self._words else NUMBER if second else following
        one = (NUMBER if name else parts[0].fold,)
        for start in self._folds.get(name, one):
            self._listed[start].append((second, row))

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        start = line[place]
        starts = [start.fold]
        if start.kind == "d":
            starts = [f" {line[self._written_at(line, place)[1]].fold}", start.fold, NUMBER]
        shelves = filter(None, map(self._rows.get, starts))
        for row in chain.from_iterable(shelf.of(line.folds) for shelf in shelves):
            if not row.fixed <= line.folds or (row.cues and row.cues.isdisjoint(line.folds)):
                continue
            if row.doubtful and len(row.cues & line.folds) < 2 and not self._is_near(line, place, row.cues):
                continue
            if found := self._matched(line, place, row, british):
                after, said = found
                if row.parts[-1].text == "." and not (said := self._fitted(said, line[place - 1].fold)):
                    continue
                letters = "".join(token.text for token in line[place : place + 3])
                named = letters.isupper() and letters[1:2] == "." and line[after].text.istitle() and place > 0
                short = letters not in ("E.G", "I.E") and all(len(part.text) == 1 for part in row.parts)
                if named and short and not (row.exact or line.shouted):
                    continue  # 1–0, B.D. Harlow
                joined = not line[after + 1].gap and line[after + 1].kind == "w" and line.has(after, JOINED, glued=True)
                if row.plain and row.parts[-1].kind == "w" and joined:
                    continue  # etc/hosts
                said += "." * (line[after - 1].text == "." and line.closing(after - 1) and line[after].text != ")")
                if line.has(after, ".", glued=True) and not line.last(after):
                    after += line[after + 1].gap or line[after + 1].text in ",;:)"  # it ends no sentence
                if start.text.istitle() and not row.exact:
                    said = said[0].upper() + said[1:]
                yield Classed(place, after, InWords("Form", said), _COST - 0.05 * bool(row.cues) - 0.01 * row.plain)

    def _is_near(self, line: Tokens, place: int, cues: frozenset[str]) -> bool:
        return any(line[near].fold in cues for near in range(place - _NEAR, place + 2 * _NEAR))

    def _matched(self, line: Tokens, place: int, row: _Row, british: bool) -> tuple[int, str] | None:
        filled: dict[str, list[str]] = defaultdict(list)
        after, ones, exact = place, list[bool](), row.exact and not line.shouted
        for step, part in enumerate(row.parts):
            token = line[after]
            beside = line[after + 1].text.islower() and place
            two = len(row.parts) == 2 and (row.parts[1].kind in "ds" or (beside and row.parts[1].kind == "w"))
            letter = len(token.text) == 1 and not two  # an M8 bolt, where N é
            if token.text.isupper() and not (letter or row.exact or row.several or line.shouted):
                return None
            if not token.text or (step and token.gap != part.gap):
                return None
            name = _NAMES.get(part.text, "")
            if not name:
                if token.fold != part.fold or (exact and token.kind == "w" and token.text != part.text):
                    return None
                if token.text == '"' and after not in line.inches_at:
                    return None  # it closes a quotation
                after += 1
                continue
            words, after, one = self._filled(line, after, name, british)
            if not words:
                return None
            ones.append(one)
            filled[name].append(words)

        def form(match: re.Match[str]) -> str:
            number = len(_PLACE.findall(row.said, 0, match.start())) - 1
            return match[1 if ones and ones[number] else 2]

        said = _PLURAL.sub(form, row.said)
        return after, _PLACE.sub(lambda match: self._agreed(filled[match[1]].pop(0), match[2] or ""), said)

    def _filled(self, line: Tokens, place: int, name: str, british: bool) -> tuple[str, int, bool]:
        """Words of a placeholder, the place after it, and whether its number is one; "" for another token."""
        token = line[place]
        if words := self._words.get(name):
            return words.get(token.text) or words.get(token.fold, ""), place + 1, False
        number, after = (token.text, place + 1) if name + token.kind == "id" else self._written_at(line, place)
        wrong = len(number) > {"d": 2, "i": 3}.get(name, 99) or (name == "y" and not _YEAR.fullmatch(number))
        if not number or number[0] == "." or wrong:
            return "", place, False
        if name == "t":
            hours, minutes = str(int(number.partition(".")[0])), number.partition(".")[2]
            if len(minutes) != 2 or int(hours) > 23 or int(minutes) > 59:
                return "", place, False
            said = self._number(minutes, british) if minutes[0] != "0" else f"oh {self._number(minutes[1], british)}"
            return f"{self._number(hours, british)} {said if minutes != '00' else 'hundred'}", after, False
        if name == "o":
            if self._ordinal is None or not number.isdecimal() or not line.has(after, _ENDINGS, glued=True):
                return "", place, False
            return self._ordinal(int(number), british), after + 1, False
        plain = number.lstrip("0") or "0" if name == "d" else number
        return (number if name == "y" and self._ordinal else self._number(plain, british)), after, number == "1"
