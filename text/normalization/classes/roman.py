"""Parser of Roman numerals after names, titles and headings: Henry VIII, CHAPTER IV, parts II and III, siglo XIX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from text.locales.tables import WordLists, word_list
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.fields import Both
from text.normalization.classes.tokens import Lexeme, Tokens
from text.normalization.number_words import roman_value

_COST = 0.4
_NUMERAL = re.compile(r"(?=[IVXLCM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_TENS = ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx")
_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_PLAIN = frozenset(f"{tens}{ones}" for tens in _TENS for ones in _ONES) - {""}
_ENDINGS = ("", "th", "st", "nd", "rd")
_LONG = frozenset(f"{numeral}{ending}" for numeral in _PLAIN if len(numeral) > 1 for ending in _ENDINGS) - {"list"}
LETTERS = frozenset("ivxl")
"""Numerals that are words or names of letters as well."""
LETTERED = re.compile(r"(?!ID\b)(?:I{1,3}|I?V|VI{1,3}|I?X)[A-Ea-e]")
_ENDING = frozenset(("", ".", ",", ";", ":", "!", "?", ")", "'", "’", "-", "–", "—", "("))
_DOUBTFUL = word_list("I V X L C D M CD CC CV DC DI LI MI MC XL CI MD DM MM LL DL ML CL CM XXL XX VI XXX")
"""Numerals that are words, units or sizes elsewhere."""


class Numeral(NamedTuple):
    value: int
    kind: str
    """"count" (World War II), "part" (chapter four), "century", "ruler" (Henry the eighth), "nth" before its noun."""
    letter: str = ""
    before: str = ""
    """Words before it that are said otherwise than written: pages."""
    feminine: bool = False
    noun: bool = False
    """A noun follows."""


class RomanNumerals:
    """Parser for one language.

    Args:
        words: lists in small letters. `centuries` and `numeral_parts` stand before numerals, `before` after centuries,
            `rulers` and `queens` before ordinals, `masculine` and `feminine` after them; `endings` are of ordinals.
        plain: numerals in capitals are found without a word that names them.
    """

    def __init__(self, words: WordLists, plain: bool) -> None:
        self._words, self._plain = words, plain
        self._near = self._words["centuries"] | self._words["before"]
        endings = "|".join(map(re.escape, self._words["endings"]))
        listed = re.compile(
            rf"(?=[IVXLCDM])(?i:{_NUMERAL.pattern}(?:{endings})?)|{LETTERED.pattern}"
            "|(?=[ivx]{2})x{0,3}(?:ix|iv|v?i{0,3})(?:e|er|ᵉ|es|ème)?|ier"
        )
        items, long = dict.fromkeys("iv", (")",)), frozenset[str]() if plain else _LONG | {"p", "pp"}
        parser = Parser.of(self.parse, dict.fromkeys(long, ("",)) | items)
        self.parser = parser._replace(also=listed.fullmatch if plain else None).also_bare()
        cues = self._words["rulers"] | self._words["numeral_parts"] | self._words["small_numerals"]
        cues |= {f"{cue}s" for cue in cues} | self._words["before"]
        letters = Parser(LETTERS, self.parse, numbers=False, also=LETTERED.fullmatch, needs=cues)
        self.letters = letters.also_bare()
        """Parser of numerals that are words elsewhere, beside a word that names them."""

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token = line[place]
        if token.fold in ("p", "pp"):
            yield from self._pages(line, place)
            return
        if _marks_an_item(line, place):
            yield Classed(place, place + 1, Numeral(roman_value(token.text.upper()), "count"), _COST - 0.1)
            return
        if self._plain and token.text in ("i", "v"):
            return
        upper = token.text.upper()
        endings = ("", *(each.upper() for each in self._words["endings"]))
        ending = next(
            (each for each in endings if _NUMERAL.fullmatch(upper.removesuffix(each)) and upper != each), None
        )
        if ending is None:
            yield from self._lettered(line, place)
            return
        numeral = upper.removesuffix(ending)
        written = token.text[: len(numeral)]
        if self._plain:
            yield from self._unnamed(line, place, written, ending.lower())
        else:
            value, small = roman_value(numeral), token.text.islower()
            if not (small or written.isupper() or line.shouted or token.text.istitle()):
                return
            century = place + 1 + (line[place + 1].text == "-")
            if line.has(century, self._words["before"]) and (len(token.text) > 1 or token.text.isupper()):
                yield Classed(place, place + 1, Numeral(value, "century"), _COST)
            elif not ending and token.gap:
                yield from self._counted(line, place, value, small)
                yield from self._ruler(line, place, value)
            elif small and len(token.text) > 1 and _is_part(line, place):
                yield Classed(place, place + 1, Numeral(value, "part"), _COST)

    def _lettered(self, line: Tokens, place: int) -> Iterator[Classed]:
        """Numeral with a letter after a part's name: stage IIIB."""
        token = line[place]
        cue = line[place - 1].fold
        named = {cue, cue.removesuffix("s")} & self._words["numeral_parts"]
        if named and token.gap and LETTERED.fullmatch(token.text):
            value = roman_value(token.text[:-1])
            yield Classed(place, place + 1, Numeral(value, "part", letter=token.text[-1].upper()), _COST)

    def _counted(self, line: Tokens, place: int, value: int, small: bool) -> Iterator[Classed]:
        """Numeral after a part's name, or after any capitalised word if it has several letters."""
        token, stopped = line[place], line[place - 1].text == "." and not line[place - 1].gap
        cue = line[place - 1 - stopped].fold
        cue = cue if cue in self._words["numeral_parts"] else cue.removesuffix("s")
        named = cue in self._words["small_numerals" if small and len(token.text) < 2 else "numeral_parts"]
        named = named or ((small or line.shouted) and cue in self._words["small_numerals"])
        if small and token.fold == "i" and line[place + 1].text not in _ENDING:
            named = False
        contracted = line.has(place + 2, "'’", glued=True) and not line[place + 2].gap  # Song Titles I Don't Mind
        if (token.fold == "x" and cue in self._words["unknown"]) or (token.fold == "i" and contracted):
            return
        before = line[place - 1].text
        capital = len(before) > 2 and before.istitle() and token.text.isupper() and len(token.text) > 1
        if not named and not (capital and value < 40 and not line.shouted and cue not in self._words["rulers"]):
            return
        after = place + 1
        if named and line[after].text in (".", "-") and not line[after].gap and not line[after + 1].gap:
            letter = line[after + 1]
            if letter.kind == "w" and len(letter.text) == 1 and letter.fold not in LETTERS:
                yield Classed(place, after + 2, Numeral(value, "part", letter=letter.text.upper()), _COST - 0.1)
        joint = "to" if line.dash(after) else line[after].fold
        if named and joint in ("to", "and") and self._is_numeral(line[after + 1], small):
            last = roman_value(line[after + 1].text.upper())
            yield Classed(place, after + 2, Both(Numeral(value, "part"), Numeral(last, "part"), joint), _COST)
        yield Classed(place, after, Numeral(value, "part"), _COST)

    def _is_numeral(self, token: Lexeme, small: bool) -> bool:
        return token.fold in _PLAIN and (token.text.islower() if small else not token.text.islower())

    def _ruler(self, line: Tokens, place: int, value: int) -> Iterator[Classed]:
        token, after = line[place], line[place + 1]
        initial = after.gap and len(after.text) == 1 and after.text.isupper() and line[place + 2].text == "."
        if initial or (len(token.text) == 1 and value > 10):  # George C. Scott
            return
        rulers = self._words["rulers"]
        direct = line[place - 1].fold in rulers
        further = self._named_before(line, place, rulers, 2) or (
            value in (2, 3, 4) and self._named_before(line, place, self._words["first_names"], 2)
        )
        if not direct and (not further or not token.text.isupper() or (line.shouted and value < 2)):
            return
        first = line[place - 1].fold in self._words["only_rulers"] or after.text in _ENDING
        first = first or after.fold in self._words["after_first"]
        if token.fold == "i" and (not direct or not first or token.text.islower()):
            return
        if token.text.islower() and len(token.text) < 2:
            return
        yield Classed(place, place + 1, Numeral(value, "ruler"), _COST - 0.1)

    def _named_before(self, line: Tokens, place: int, names: frozenset[str], reach: int) -> bool:
        """True if one of the names stands before one or two capitalised words before a place."""
        for back in range(1, reach + 1):
            if not line[place - back].text[:1].isupper():
                return False
            if line[place - back - 1].fold in names and line[place - back - 1].text[:1].isupper():
                return True
        return False

    def _pages(self, line: Tokens, place: int) -> Iterator[Classed]:
        if not line.has(place + 1, ".", glued=True) or not self._is_numeral(line[place + 2], small=True):
            return
        name = "pages" if line[place].fold == "pp" else "page"
        first, after = Numeral(roman_value(line[place + 2].text.upper()), "count", before=f"{name} "), place + 3
        if line.dash(after) and self._is_numeral(line[after + 1], small=True):
            last = Numeral(roman_value(line[after + 1].text.upper()), "count")
            yield Classed(place, after + 2, Both(first, last), _COST)
        yield Classed(place, after, first, _COST)

    def _unnamed(self, line: Tokens, place: int, written: str, ending: str) -> Iterator[Classed]:
        """Numeral in capitals, or in small letters beside a word that names it."""
        token, words, after = line[place], self._words, place + 1
        before = place - 1 - (line[place - 1].text in (".", "-") and not line[place - 1].gap)
        numeral, named = written.upper(), self._named(line, place, before)
        if (written != numeral and not (token.text.islower() and named)) or line.has(after, "'’", glued=True):
            return
        shouted = token.text.isupper() and token.text != "IER" and not named
        if ending and (numeral in ("L", "C", "D", "M", "MM") or shouted):
            return
        if not ending and line.has(after, ("º", "ª", "°", "ᵉ"), glued=True):
            ending, after = line[after].text, after + 1
        value = roman_value(numeral)
        if ending:
            first = ending.startswith(("er", "re"))
            if not words["endings"] or (value == 1) == first:
                feminine = ending.startswith("re") or ending == "ª"
                yield Classed(place, after, Numeral(value, "nth", feminine=feminine), 0.45)
        elif fields := self._kind(line, place, before, numeral, value):
            yield Classed(place, after, fields, 0.45)
            last = line[after + 1]
            if line.dash(after) and not last.gap and _NUMERAL.fullmatch(last.text) and roman_value(last.text) > value:
                yield Classed(
                    place, after + 2, Both(fields, fields._replace(value=roman_value(last.text))), 0.4
                )  # ss. XVI-XVII

    def _named(self, line: Tokens, place: int, before: int) -> bool:
        """True if a numeral follows or precedes a word that makes it one."""
        words = self._words
        named = words["centuries"] | words["numeral_parts"] | words["rulers"] | words["queens"]
        if line[before].fold in named or line.has(place + 1, words["before"] | words["feminine"] | words["masculine"]):
            return True
        return self._reaches(line, place, 1, words["before"])

    def _kind(self, line: Tokens, place: int, before: int, numeral: str, value: int) -> Numeral | None:
        words, previous, following = self._words, line[before], line[place + 1]
        rulers, doubtful = words["rulers"] | words["queens"], numeral in _DOUBTFUL
        counts = following.fold in words["feminine"] | words["masculine"] and following.gap and value < 100
        if counts and previous.fold not in words["rulers"]:
            return Numeral(value, "nth", feminine=following.fold in words["feminine"], noun=True)
        near = not self._near.isdisjoint(line.folds)
        listed = near and (
            self._reaches(line, place, -1, words["centuries"]) or self._reaches(line, place, 1, words["before"])
        )
        ruler = previous.fold in rulers and value < 100 and (not previous.text[:1].islower() or len(numeral) > 1)
        if following.fold in words["before"] or previous.fold in words["centuries"] or (listed and not ruler):
            return Numeral(value, "century") if value <= 40 else None
        if previous.fold in words["numeral_parts"] and numeral not in ("C", "D", "L", "M"):
            return Numeral(value, "part")
        if ruler:
            return Numeral(value, "ruler", feminine=previous.fold in words["queens"])
        named = len(previous.text) > 3 and not following.text[:1].isupper()
        first = numeral == "I" and named and not line.has(place + 1, "/", glued=True)  # Artemis I; no file I/O
        if (doubtful and not first and numeral not in ("XX", "VI")) or (
            line.shouted and previous.kind == "w" and doubtful
        ):
            return None
        if len(previous.text) == 1 and _NUMERAL.fullmatch(line[place - 2].text) and numeral not in _DOUBTFUL:
            return Numeral(value, "count")  # I à V
        if set(numeral) <= set("IVXL") and value != 60:  # LX
            if previous.kind == "w" and previous.text.title() == previous.text and previous.gap | (before == 0):
                return Numeral(value, "count")
            if near:
                return Numeral(value, "century")
            if len(numeral) > 2 and not doubtful:
                return Numeral(value, "count")
        return Numeral(value, "count") if len(numeral) > 3 and value > 1000 else None

    def _reaches(self, line: Tokens, place: int, step: int, words: frozenset[str]) -> bool:
        """True if only numerals, short words and signs stand between a numeral and one of the words."""
        for _ in range(6):
            place += step
            token = line[place]
            if token.fold in words:
                return True
            numeral = _NUMERAL.match(token.text.upper())
            numeric = numeral is not None and len(token.text) - numeral.end() < 3
            if not (numeric or token.text in ("-", ",", "/") or len(token.text) < 3):
                break
        return False


def _marks_an_item(line: Tokens, place: int) -> bool:
    """True for the numeral of a list's item: (ii) at any place, ii) and II. at the beginning."""
    token, before, after = line[place], line[place - 1], line[place + 1]
    single = token.text in ("i", "v") and (place < 2 or not line.folds.isdisjoint(("ii", "iv")))
    if after.gap or not (single or (len(token.text) > 1 and _NUMERAL.fullmatch(token.text.upper()))):
        return False
    if before.text == "(" and before.gap and after.text == ")":
        return token.text.islower() and token.text in _PLAIN and line[place + 2].gap and line[place + 2].text != ""
    first = place == 0 and after.text in (")", ".") and line[place + 2].gap and line[place + 2].text != ""
    return first and token.fold in _PLAIN and not (single and after.text == ".")


def _is_part(line: Tokens, place: int) -> bool:
    """True in brackets that are glued to a number or to other brackets: 4(b)(iii)."""
    numbered = line[place - 2].kind == "d" or line[place - 2].text == ")"
    return numbered and line.has(place - 1, "(", glued=True) and line.has(place + 1, ")", glued=True)
