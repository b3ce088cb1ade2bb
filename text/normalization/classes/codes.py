"""Parsers of codes, whose letters, digits and signs are said one by one, and of versions: v1.2.3, Python 3.11."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from text.locales.tables import WordLists, words
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.numbers import written_number
from text.normalization.classes.references import Labelled
from text.normalization.classes.telephones import Identifier
from text.normalization.classes.tokens import Tokens

_COST = 0.3
_GROUPED = frozenset("-/:.")
_MOST_GROUPS = 9
_LONGEST_MIX = 16
"""Most parts of an identifier."""
_LARGEST_EXPONENT = 308
"""Of numbers that computers write."""
_WORD = re.compile("(?:[^AEIOU]{0,2}[AEIOU]{1,2}[^AEIOU]?){2,}")
"""Letters that are said as a word: SUMMER25."""
_HEXADECIMAL = frozenset("0123456789abcdef")

_MOST_PARTS = 8
_COMPARED = frozenset("<>=~!^≥≤")
_BETWEEN_VERSIONS = frozenset(("to", "and", "or", "through", "vs", "-", "–", ",", "/"))


class Codes:
    """Parser of codes after a word that names them (PIN 4021, zip 02139), and of letters and digits (SW1A 1AA)."""

    def __init__(self, lists: WordLists) -> None:
        self._codes, self._numbers = lists["codes"], lists["code_numbers"]
        self._ending, self._ending_numbers = lists["ending"], lists["ending_numbers"]
        self._books, self._hashes = lists["book_numbers"], lists["hashes"]
        self.words = self._books | self._codes | {"zip", "#", "-", "no", "dkt"}

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if token.text == "-" and not line[place + 1].gap and line[place - 1].fold in self._codes | self._ending:
            yield from (found._replace(first=place) for found in self._after_word(line, place + 1, place - 1))
        elif token.text == "#":
            yield from (found._replace(first=place) for found in self._after_word(line, place + 1))
            first, last = line.number(place + 1, 1, 999, 3), line.number(place + 3, 1, 999, 3)
            if not (first and last and first < last and line.dash(place + 2)):  # #5-11
                yield from self._compound(line, place)
        elif token.kind == "d":
            yield from self._hashed(line, place)
            second = line[place + 2]
            joined = line.has(place + 1, "-", glued=True) and second.kind == "d" and not second.gap
            if joined and len(token.text) < 4 and 6 <= len(second.text) < 12 and line.ends(place + 3):
                yield Classed(place, place + 3, Identifier("", (token.text, second.text)), _COST)
            yield from self._after_word(line, place)
            yield from mixed(line, place, glued=False)  # 042-190-17
        elif token.fold == "zip" or token.fold in self._books:
            yield from self._named(line, place)
        elif token.fold in self._codes or token.fold in ("no", "dkt"):
            yield from self._compound(line, place)
        else:
            yield from account(line, place)
            yield from mixed(line, place, glued=False)
            yield from self._hashed(line, place)
            yield from self._postcode(line, place)

    def _after_word(self, line: Tokens, place: int, named_at: int | None = None) -> Iterator[Classed]:
        token = line[place]
        word = token.kind == "w" and token.text.islower()  # account # ends in
        end = place + 1
        while line[end].kind == "d" and line[end].gap and 1 < len(line[end].text) == len(token.text) < 5:
            end += 1  # code is 773 092
        size = len(token.text) * (end - place)
        if word or not 4 < size + (end == place + 1) < 16 or line.has(end, "%", glued=True):
            return
        before = place - 1 if named_at is None else named_at
        for skipped in ("#", ("is", "was"), ":", ":", (".",), self._numbers):
            before -= line[before].fold != "" and line[before].fold in skipped
        named = line[before].fold in self._codes or (line[before + 1].fold in self._codes and before + 1 < place)
        numbered = line.has(place - 1, ("number",)) or (line.has(place - 1, ".:") and line.has(place - 2, ("no",)))
        named = named or (named_at is not None and line[named_at].fold in self._ending)
        if named or (numbered and size > 5) or (size == 4 and self._ends_so(line, place)):
            yield Classed(place, end, Identifier("", tuple(each.text for each in line.tokens[place:end])), _COST)

    def _compound(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Code of groups of letters and digits after the word that names it: ref: AB/2024/0178, case 2:21-cv-01234."""
        after = place + 1
        for skipped in (".", self._numbers, (".",), ("is", "was"), ":", "#"):
            after += line[after].fold != "" and line[after].fold in skipped
        first, groups, signs, end = after, [""], 0, after
        small = line[first + 1].gap and line[first].fold in words("en", "function_words")  # A US PASSPORT IN 2024
        bare = line[place].fold == "no" and line[place + 1].kind != "s"  # no W-2 yet
        if (
            small
            or (bare and line[place - 1].fold not in self._codes)
            or (not line[first].gap and line[first - 1].text != "#")
        ):
            return
        while len(groups) < _MOST_GROUPS:
            token, following = line[after], line[after + 1]
            short = len(token.text) < 3 and not (token.gap and (line[after + 1].gap or line[after + 1].kind != "d"))
            if token.kind in ("d", "w") and (token.kind == "d" or token.text.isupper() or short):
                groups[-1] += token.text
            elif token.text in _GROUPED and not token.gap and not following.gap and following.kind in ("d", "w"):
                groups.append("")
                signs += 1
            else:
                break
            after = end = after + 1
            if line[after].gap and line[after].kind != "s":
                if line[after].kind == "w" and (line[after + 1].kind != "d" or line[after + 1].gap):
                    break
                if len(line[after].text) < 2 or not (signs or len(groups) > 1 or line[after + 1].gap):
                    break
                groups.append("")
        written = "".join(groups)
        mixed = not (written.isdecimal() or written.isalpha() or written[:4].isalpha())
        digits = sum(map(str.isdigit, written))
        number = written.isdecimal() and len(written) < 4 and line[first + 1].text == "."
        if number or (written.islower() and (2 * digits < len(written) or line[first - 1].text == "no")):
            return
        if groups[-1] and digits and (signs or mixed or (len(groups) > 2 and len(written) > 7)):
            named = line[place].text == "#"
            start = place if named else first - (line[first - 1].text == "#")
            yield Classed(start, end, Identifier("number" * named, tuple(groups)), _COST - 0.2 + 0.05 * named)

    def _ends_so(self, line: Tokens, place: int) -> bool:
        """The card ending in 4021; what ends in 1945 ends in a year."""
        if not (line.has(place - 1, ("in", "with")) and line.has(place - 2, self._ending)):
            return False
        return any(line.has(before, self._ending_numbers) for before in range(max(place - 7, 0), place - 2))

    def _named(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Number that is said with its name: zip code is 02139-1234, ISBN-13: 978-3-16-148410-0."""
        name, after, book = line[place].fold, place + 1, line[place].fold in self._books
        if book:
            kind = {"10": " ten", "13": " thirteen"}.get(line[after + 1].text * line.has(after, "-", glued=True), "")
            name, after = name.upper() + kind, after + 2 * bool(kind)
        for word, glued in (("code", False), (":", True), ("is", False)):
            if line.has(after, (word,), glued):
                name, after = f"{name}{' ' * (not glued)}{word}", after + 1
        groups, end = list[str](), after
        while (line[after].kind == "d" and (book or line[after].gap != bool(groups))) or (
            groups and line[after].fold == "x"
        ):
            if line[after].kind == "w" and not line[after].gap and line[after - 1].kind == "d":
                groups[-1] += "X"
            else:
                groups.append(line[after].text)
            after = end = after + 1
            after += line[after].text in ("-", "–") and not line[after].gap
        lengths = tuple(map(len, groups))
        if (book and 8 <= sum(lengths) <= 13) or (not book and lengths in ((5,), (5, 4))):
            yield Classed(place, end, Identifier(name, tuple(groups), ohs=not book), 0.2)

    def _postcode(self, line: Tokens, place: int) -> Iterator[Classed]:
        letters, number, after = line[place].text, line[place + 1].text, place + 2
        if not letters.isalpha() or not number.isdecimal():
            return
        area = ""
        if line[after].kind == "w" and not line[after].gap:
            area, after = line[after].text, after + 1
        inner, unit = line[after], line[after + 1]
        if len(letters) > 2 or len(number) > 2 or len(area) > 1 or len(inner.text) != 1 or inner.kind != "d":
            return
        cased = (letters + area + unit.text).isupper() or (letters + area + unit.text).islower() or unit.text.istitle()
        if not inner.gap or unit.gap or unit.kind != "w" or len(unit.text) != 2 or not cased:
            return
        outer = " ".join(filter(None, (".".join(letters.upper()), f"#{number}", area.upper())))
        labels = (outer, ",", f"#{inner.text}", ".".join(unit.text.upper()))
        yield Classed(place, after + 2, Labelled("", (*outer.split(), *labels[1:])), 0.2)

    def _hashed(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Hexadecimal digits of a commit; the first twelve are enough."""
        after, runs = place, 0
        while line[after].kind in ("d", "w") and (after == place or not line[after].gap) and line[after].text.isascii():
            runs += 1
            after += 1
        written = "".join(token.text for token in line.tokens[place:after])
        if not 6 < len(written) <= 40 or not _HEXADECIMAL.issuperset(written.casefold()):
            return
        certain = line.cued(place, self._hashes, 4 if runs > 1 else 1)
        number = runs == 3 and line[place + 1].fold == "e"  # in the form of 12e4567
        if number and int(line[place + 2].text) > _LARGEST_EXPONENT:
            certain, number = True, False
        if certain or runs > 3 or (runs == 3 and not number):
            while len(written) == 8 and line.has(after, "-", glued=True) and not line[after + 1].gap:  # a UUID
                after += 2
                while line[after].kind in ("d", "w") and not line[after].gap:
                    after += 1
            yield Classed(place, after, Identifier("", (written[:12],)), 0.1 if certain else 0.4)


def account(line: Tokens, place: int) -> Iterator[Classed]:
    """International account number: two letters, two digits, groups of letters and digits."""
    after, check = place + 1, line[place + 1]
    if not (len(line[place].text) == 2 and line[place].text.isupper() and check.kind == "d" and not check.gap):
        return
    while after < place + _MOST_GROUPS + _MOST_GROUPS:
        token = line[after]
        digits = token.kind == "d" and (len(token.text) <= 4 or not token.gap)
        if not digits and not (token.kind == "w" and token.text.isupper() and len(token.text) <= 4):
            break
        after += 1
    groups = tuple(token.text for token in line.tokens[place:after])
    if len(check.text) in (2, *range(13, 33)) and 15 <= sum(map(len, groups)) <= 34:
        yield Classed(place, after, Identifier("", groups), 0.1)


def mixed(line: Tokens, place: int, glued: bool = True) -> Iterator[Classed]:
    """Letters and digits of an identifier that no word announces: ABCDE1234F, 12345678Z, WC-2023-00418."""
    after, joined, zeros = place, False, False
    while after < place + _LONGEST_MIX and (after == place or not line[after].gap):
        token, following = line[after], line[after + 1]
        capital = token.text.isupper() and token.text.isascii()
        joint = token.text == "-" and following.kind == "d" and not following.gap
        if not (token.kind == "d" or capital or joint or line[place].text + token.text == "0x"):
            break
        after, joined = after + 1, joined or joint
        zeros |= token.kind == "d" and len(token.text) > 2 and token.text[0] == "0"
    if not (zeros if joined else glued):
        return
    groups = tuple(token.text for token in line.tokens[place:after] if token.kind != "s")
    long = len(groups) == 2 and max(map(len, groups)) > 5
    many = joined or len(groups) > 2 or (long and not _WORD.fullmatch(groups[0]))
    if ((many and sum(map(len, groups)) > 6) or groups[:2] == ("0", "x")) and line.ends(after):
        yield Classed(place, after, Identifier("", groups), 0.4)


class Version(NamedTuple):
    name: str
    parts: tuple[str, ...]
    stage: str = ""
    stage_number: str = ""
    plus: bool = False


class Versions:
    """Parser of versions: v1.2.3, Python 3.11, 2.0.0-rc.1; two numbers count after one of the `cues`. `name` is v's;
    `stages` are words for what stands before a release.
    """

    def __init__(self, name: str, cues: frozenset[str], stages: Mapping[str, str]) -> None:
        self._name, self._versioned, self._stages = name, cues, stages
        self.parser = Parser(frozenset(("v", "ver")), self.parse, mixed=True)

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        name, start = "", place
        if token.fold in ("v", "ver"):
            stop = line.has(place + 1, ".", glued=True)
            start = place + 1 + stop
            if line[start].kind != "d" or (line[start].gap and token.fold == "v"):
                return
            parted = line.has(start + 1, ".", glued=True) and line[start + 2].kind == "d" and not line[start + 2].gap
            if not parted and ((token.text == "V" and not line.shouted) or line.has(place - 1, ("a",))):
                return  # a V8
            name = self._name
        elif token.kind != "d":
            return
        parts, after = [line[start].text], start + 1
        while line.has(after, ".", glued=True) and line[after + 1].kind == "d" and not line[after + 1].gap:
            parts.append(line[after + 1].text)
            after += 2
            if len(parts) == _MOST_PARTS:
                break
        before = line[place - 1 - (line[place - 1].text == "-" and line[place - 2].kind == "w")].fold
        if before == "." and not line[place - 1].gap:
            before = line[place - 2].fold
        if before == "js" and line[place - 2].text == ".":
            before = "node"
        further = place
        while line[further - 1].fold in _BETWEEN_VERSIONS and written_number(line, further - 4)[1] == further - 1:
            further -= 4  # Python 3.11 to 3.14
        further = self._compared(line, further)
        named = len(parts) > 1 and (before in self._versioned or line[further - 1].fold in self._versioned)
        grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) < 4 and not (name or named)
        if not (name or named or (len(parts) > 2 and not grouped)) or any(len(part) > 6 for part in parts):
            return
        stage, number, end = self._stage(line, after)
        if stage and not (line[end].gap or line[end].kind == "s"):
            return
        plus = line.has(end, "+", glued=True) and line[end + 1].kind != "w"
        version = Version(name * (before != self._name), tuple(parts), stage, number, plus)
        yield Classed(place, end + plus, version, 0.4 if name or named else 0.55)

    def _compared(self, line: Tokens, place: int) -> int:
        """Place before the comparisons that end before a version: >=3.9,<3.13."""
        while line[place - 1].text in _COMPARED and not line[place].gap:
            before = place - 1 - (line[place - 2].text in _COMPARED)
            listed = before - (line[before - 1].text == ",")
            earlier = listed
            while line[earlier - 1].kind == "d" or (line[earlier - 1].text == "." and not line[earlier].gap):
                earlier -= 1
            place = before
            if earlier == listed:
                break
            place = earlier
        return place

    def _stage(self, line: Tokens, place: int) -> tuple[str, str, int]:
        """Stage of a version before its release (rc1, -beta.2), its number, and the place after them."""
        start = place + (line[place].text in ("-", ".") and not line[place].gap)
        token = line[start]
        after = start + 1
        if start == place and len(token.text) == 1 and token.kind == "w" and not token.gap and line[after].kind != "d":
            return token.text.upper(), "", after  # OpenSSL 1.0.2k
        if token.gap or token.fold not in self._stages:
            return "", "", place
        dotted = line[after].text in ("-", ".") and not line[after].gap and line[after + 1].kind == "d"
        after += dotted and not line[after + 1].gap
        if line[after].kind == "d" and not line[after].gap:
            return self._stages[token.fold], line[after].text, after + 1
        return self._stages[token.fold], "", start + 1
