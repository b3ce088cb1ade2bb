"""Parser of abbreviations in any case: Dr. (doctor, drive), ST. (saint, street), e.g., No. 5, and initialisms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from text.locales.tables import word_list, word_lists
from text.normalization.classes.cover import Classed, InWords, Parser
from text.normalization.classes.tokens import VULGAR, Lexeme, Tokens
from text.sentences.abbreviations import ANYWHERE, PLAIN, SENSES, SHRUNK, plural, shrunk_word

_COST = 0.5
ROMAN = frozenset("IVXLC")
_SIGNS = frozenset("#$£€¥")
_SEVERAL = frozenset(("chapter", "figure", "volume", "article", "verse", "table", "question", "exercise", "page"))
"""Parts of which a span follows: chapters five to seven."""
_BEFORE_COUNTIES = frozenset((",", "in", "of", "from", "near"))
_PERIODS = frozenset(("hour", "day", "week", "month", "year"))
_OWNERS = frozenset(("my", "your", "his", "her", "its", "our", "their", "the", "phone", "mobile", "same", "a", "an"))
_WAYS = {"N": "North", "S": "South", "E": "East", "W": "West"}
_VOWELS = frozenset("aeiouy")
_BEFORE_PLACES = frozenset(("in", "from", "of", "to", "near", "at"))
JOINED = frozenset("._/\\-:@=('’<*")
"""Signs that make an abbreviation glued to them part of an address, a name or a program's text."""


class Abbreviations:
    """Parser for one language's table (`abbreviations.toml`)."""

    def __init__(self, table: Mapping[str, Mapping[str, str]]) -> None:
        def folded(listed: Mapping[str, str], several: bool = False) -> dict[str, str]:
            short = {written.casefold(): full for written, full in listed.items()}
            plurals = ((f"{each}s", full) for each, full in short.items() if len(each) > 1 and full.isalpha())
            return {each: plural(full) for each, full in plurals if several and _VOWELS.isdisjoint(each)} | short

        self._titles, self._streets = folded(table["titles"]), folded(table["streets"])
        self._labels, self._plain = folded(table["labels"], True), folded(PLAIN, True)
        self._anywhere = folded(ANYWHERE, True)
        cues = word_lists(table["contexts"])
        self._bare_titles, self._bare_labels = cues["titles"], cues["labels"]
        self._alone, self._unnumbered = cues["alone"], cues["unnumbered"]
        self._cased, self._dated, self._chat = table["cased"], table["dated"], table["chat"]
        self._small, self._channel, self._doubtful = cues["small"], cues["channel"], cues["words"]
        known = (self._titles, self._streets, self._labels, self._anywhere, self._chat, SENSES)
        self._regions, self._schools, self._ons = cues["regions"], cues["state_schools"], cues["on_streets"]
        self.words = frozenset({"st", "sts", "co", "ft", "v", "d", "b", "n", "s", "e", "w"}.union(*known))
        unstopped = self._streets.keys() | self._plain.keys() | self._bare_titles | {"st", "sts", "v", "incl"}
        unstopped.update(map(str.casefold, self._chat), (word for word in self.words if shrunk_word(word)))
        unstopped.update(word for word in SENSES if _VOWELS.isdisjoint(word) and len(word) > 2)
        bare = Parser.of(self.parse, {word: ("" if word in unstopped else ".",) for word in self.words})
        self.parser = Parser(
            self.words, self.parse, numbers=False, also=self._is_shrunk, bare=bare._replace(also=self._is_shrunk)
        )

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token, after = line[place], place + 1
        if said := self._pair(line, place):
            yield Classed(place, after + 2, InWords("Abbreviation", _like(token, said)), _COST)
            return
        stop = line.has(after, ".", glued=True) and not (line[after + 1].kind == "w" and not line[after + 1].gap)
        end = after + (stop and not line.closing(after))
        for parse in (self._sense, self._title, self._street, self._number, self._word):
            if said := parse(line, place, after + stop, stop):
                yield Classed(place, end, InWords("Abbreviation", _like(token, said)), _COST)
                return

    @staticmethod
    def _is_shrunk(word: str) -> bool:
        return SHRUNK.fullmatch(word) is not None and shrunk_word(word.casefold()) != ""

    def _is_name(self, line: Tokens, place: int) -> bool:
        """True for a word with a capital, which is no small one in a sentence of one case."""
        token = line[place]
        if token.kind == "m":
            return True
        if token.kind != "w" or not token.gap:
            return False
        return token.fold not in self._small if line.shouted or line.small else token.text[0].isupper()

    def _sense(self, line: Tokens, place: int, after: int, stop: bool) -> str:
        """Meaning that the word before or after shows: temp. staff, lit. review, 1st rd. pick."""
        token, following, before = line[place], line[after], line[place - 1]
        said = SENSES.get(token.fold)
        bare = token.fold in self._plain or (_VOWELS.isdisjoint(token.fold) and len(token.text) > 2)
        capital = token.text.isupper() and len(token.text) > 1 and not line.shouted
        closed = before.text == ")" and not token.gap  # $(212)M
        if not said or not (stop or bare) or capital or closed or not line.begins(place):
            return ""
        if before.text == "." and not before.gap:
            before = line[place - 2]
        kinds = ["#" if near.kind == "d" else "@" if near.text.istitle() else "" for near in (following, before)]
        cues = (following.fold, kinds[0], f"<{before.fold}", f"<{kinds[1]}", "" if place else "^")
        return next((said[cue] for cue in cues if cue in said), "")

    def _title(self, line: Tokens, place: int, after: int, stopped: bool) -> str:
        """Doctor Lee, Saint Paul."""
        token = line[place]
        title = self._titles.get(token.fold, "")
        if token.fold in ("st", "sts"):
            title = "Saints" if token.fold == "sts" else "Saint"
            if self._is_street(line, place, after, stopped):
                return ""
        elif not title or not (stopped or token.fold in self._bare_titles) or (token.text == "MS" and not line.shouted):
            return ""
        if token.text.islower() and not line.small and token.fold not in self._bare_titles:
            return ""
        numbered = ROMAN.issuperset(line[after].text) and not self._is_initial(line, after)
        if numbered and (token.fold in self._labels or (len(line[after].text) > 2 and not line.shouted)):
            return ""
        if token.fold == "dr" and stopped and line[after].text.islower() and not line[place - 1].text[:1].isupper():
            housed = line.small and any(line[near].kind == "d" for near in range(place - 3, place))
            return "" if housed else "doctor"
        named = self._is_name(line, after) or (stopped and token.fold == "st" and line[after].text[:1].isupper())
        joined = line.has(after, ("and", "or", "&")) and stopped and token.fold != "st"
        joined |= stopped and token.fold in self._alone and line.has(place - 1, _OWNERS) and not line.last(after - 1)
        if not (named or joined) or (token.fold == "dr" and self._is_street(line, place, after, stopped)):
            return ""
        return title

    def _is_street(self, line: Tokens, place: int, after: int, stopped: bool) -> bool:
        """True if a street's name stands before the word and no name after it."""
        token, before = line[place], line[place - 1]
        if not token.gap or not before.text:
            return False
        if (before.fold == "s" and line[place - 2].text in ("'", "’")) or (line.dash(place - 2) and not before.gap):
            before = line[place - 3]  # Half-moon St.
        nth = before.fold in ("st", "nd", "rd", "th") and line[place - 2].kind == "d"
        small = line.small and before.fold not in self._small and self._housed(line, place)
        if not (nth or before.kind == "m" or (before.kind == "w" and (small or before.text[0].isupper()))):
            return False
        following = line[after]
        if line.last(after - 1):
            return stopped or token.fold != "dr"
        if following.kind == "s" and not following.gap:
            return (stopped and following.text in ",;") or (token.fold != "dr" and following.text in ",.;:!?)")
        small = following.fold in self._small or (following.text.islower() and not line.small)
        way = following.fold in ("n", "s", "e", "w", "ne", "nw", "se", "sw")
        way = way and (token.fold != "dr" or any(line[near].kind == "d" for near in range(place - 4, place)))
        return (stopped and (small or way or following.kind == "d")) or (small and token.fold != "dr") or way

    def _housed(self, line: Tokens, place: int) -> bool:
        """True if the word ends the sentence or a number stands shortly before it: a sentence without capitals."""
        return line[place].fold != "dr" or any(line[near].kind == "d" for near in range(place - 4, place))

    def _is_initial(self, line: Tokens, place: int) -> bool:
        """True for a letter with a stop before a name or another one, or after one: M. L. King, Lee, M. C."""
        following, dotted = line[place + 2], line.has(place + 3, ".", glued=True)
        named = following.gap and following.text[:1].isupper() and (dotted or following.fold not in self._small)
        named = named or len(line[place - 2].text) == 1
        return len(line[place].text) == 1 and line.has(place + 1, ".", glued=True) and named

    def _pair(self, line: Tokens, place: int) -> str:
        """Two abbreviations with a slash between them alone: wknds/hols."""
        slash, last, end = line[place + 1], line[place + 2], line[place + 3]
        if slash.text != "/" or slash.gap or last.gap or not (end.gap or end.text not in JOINED - {".", ":"}):
            return ""
        said = [self._plain.get(each) or shrunk_word(each) for each in (line[place].fold, last.fold)]
        return (" per " if said[1] in _PERIODS else "/").join(said) if all(said) else ""

    def _is_way(self, line: Tokens, after: int) -> bool:
        """True if one or two names and a part of a street's name follow: W. Madison St."""
        return any(
            line[near].fold in self._streets and line[near - 1].text[:1].isupper() for near in (after + 1, after + 2)
        )

    def _street(self, line: Tokens, place: int, after: int, stop: bool) -> str:
        street = self._streets.get(line[place].fold, "") if line[place].text != "PT" or line.shouted else ""
        housed = any(line[near].kind == "d" for near in range(place - 3, place))
        school = line[place - 1].fold in self._schools and not line.has(place - 2, self._ons)
        if street == "Street" and stop and not housed and school:
            return "State"  # Ohio St. won
        return street if street and self._is_street(line, place, after, stop) else ""

    def _number(self, line: Tokens, place: int, after: int, stop: bool) -> str:
        """Word before a number: number five, page forty."""
        token, number = line[place], line[after]
        if stop and token.fold == "no" and (number.text == ":" or number.fold == "is"):
            after += 1 + (line[after + 1].text == "(")
            number = line[after]
            if number.text.isupper():
                return "number"
        year = line.number(after, 500, 2099, 4) or (token.text == "m" and line[after + 1].text.istitle())  # m. 3 May
        label = (year and self._dated.get(token.fold)) or self._labels.get(token.fold, "")
        owned = line.has(place - 1, _OWNERS) or (line.has(place - 1, ("s",), glued=True) and line.has(place - 2, "'’"))
        if stop and token.fold == "no" and owned and (number.fold in self._small | {""} or number.kind == "s"):
            return "number"
        dated = line.number(after, 1000, 2099, 4) and not line[place - 2].text.isupper()  # no D. 960, W. C. 1924
        undated = token.text in ("B", "C", "D", "L", "N") and not dated
        if (undated or token.text in ("PP", "HT")) and not line.shouted:
            return ""
        if not label or not (stop or (token.fold in self._bare_labels and number.gap)):
            return ""
        if line[place - 1].text in (".", "'", "’") and not token.gap:
            return ""
        mixed = stop and number.kind == "w" and line[after + 1].kind == "d" and not line[after + 1].gap
        inner = stop and number.text == "(" and line.has(after + 2, ")") and len(token.text) > 1
        mixed |= inner and len(line[after + 1].text) < 4
        small = len(number.text) > 1 and number.text.islower()
        roman = stop and number.gap and (number.text.isupper() or small) and ROMAN.issuperset(number.text.upper())
        roman = roman and not self._is_initial(line, after)
        coded = line[after + 1].kind == "d" or line[after + 1].text == "-"
        mixed = mixed or (stop and token.fold == "no" and number.text.isupper() and coded)
        if not (number.kind == "d" or mixed or roman or (stop and (number.kind == "m" or number.text in _SIGNS))):
            return ""
        if token.fold == "ch" and not line.folds.isdisjoint(self._channel):
            return "channel"
        several = label in _SEVERAL and line.dash(after + 1) and not line[after + 1].gap and line[after + 2].kind == "d"
        return plural(label) if several else label

    def _word(self, line: Tokens, place: int, after: int, stop: bool) -> str:
        token, following = line[place], line[after]
        near = line.has(place - 1, ("in", "near")) and line[after + 1].text not in ("'", "’")  # in N. Platte
        housed = (near or line[place - 1].kind == "d") and following.text.istitle()  # 170 N. Main
        if token.text in _WAYS and stop and (housed or following.fold in self._regions or self._is_way(line, after)):
            return _WAYS[token.text]
        named = line[place - 1].text.istitle() and following.text.istitle() and following.gap
        if token.text in ("d", "b") and stop and named and line.folds & {"-", "–"}:
            return "defeated" if token.text == "d" else "beat"  # Swiatek d. Gauff 6-3
        if token.fold == "v":
            named = following.text[:1].isupper() or (line.small and following.fold not in self._small)
            stop = stop or (line[place - 1].text[:1].isupper() and len(line[place - 1].text) > 1 and token.gap)
            versus = stop and token.text == "v" and following.gap and named and token.gap
            return "versus" if versus and place else ""
        if token.fold == "co":
            firm = line[place - 1 - (line[place - 1].text == ".")]
            name = firm.text[:1].isupper() or firm.fold in ("&", "and", ",")
            placed = (
                line.has(place - 2, _BEFORE_COUNTIES) and following.text == "," and line[after + 1].text[:1].isupper()
            )
            if stop and token.text == "Co" and ((firm.fold in _BEFORE_PLACES and following.text.istitle()) or placed):
                return "County"  # in Co. Cork, in Cook Co., Ill.
            return "Company" if stop and name and place and not token.text.islower() | line.small else ""
        if token.fold == "ft" and token.text == "ft":
            measured = line[place - 1].kind == "d" or line.has(place - 2, ("sq", "cu"))  # per sq. ft. Limit 2
            return "featuring" if stop and following.text[:1].isupper() and not measured else ""
        alone = token.text.islower() and following.kind == "w" and (line.small or not stop)
        doubtful = token.fold in self._doubtful
        if (doubtful and alone) or (line.last(place) and (doubtful or token.fold == "feat")):
            return ""
        chat = self._chat.get(token.text if place else token.fold, "")
        said = chat or self._cased.get(token.text, "") or self._anywhere.get(token.fold, "")
        if stop and token.fold in self._unnumbered and not token.text.isupper():
            said = said or self._labels.get(token.fold, "")  # vol. was, nos. of
        shrunk = "" if said or token.fold in self._titles or token.fold in self._streets else shrunk_word(token.fold)
        said, plain = said or shrunk, bool(shrunk or chat) or token.fold in self._plain
        if token.fold in ("incl", "excl") and (line.last(place) or (following.text in ",;)" and not following.gap)):
            return f"{token.fold}uded"
        if token.fold == "min" and stop and line[place - 1].kind == "m":
            return "minor"  # C♯ min.
        if token.fold in ("min", "max") and stop and not line.last(place):
            counted = line[place - 1].kind == "d" or line.has(place - 1, ("per", "/", "th", "st", *VULGAR))
            return "" if counted or following.fold in self._small else self._labels[token.fold]
        if not said or not (stop or plain) or (line[place - 1].kind == "d" and token.fold == "bc"):
            return ""
        if not stop:
            glued = not token.gap and line[place - 1].text in JOINED
            glued = glued and not (line[place - 1].text == "-" and _VOWELS.isdisjoint(token.fold))  # 3rd-qtr
            glued = glued and not (line[place - 1].text == "(" and line[place - 1].gap)
            owns = following.text in "'’" and line.ends(after + 2) and line[after + 1].fold == "s"
            if glued or (following.text in JOINED and not (owns or following.gap or line[after + 1].gap)):
                return ""
        mixed = not (token.text.islower() or token.text.istitle() or (token.text.isupper() and (stop or line.shouted)))
        return "" if mixed or (token.text.isupper() and len(token.text) < 4 and not line.shouted) else said


def _like(token: Lexeme, said: str) -> str:
    return said[0].upper() + said[1:] if token.text[0].isupper() else said


class Initialisms:
    """Parser of initialisms that are spelled, or read otherwise than engines read them: AT&T, PhDs, JSON, cpus."""

    def __init__(self, table: Mapping[str, Mapping[str, str]]) -> None:
        self._said = {written.casefold(): (written, said) for written, said in table["initialisms"].items()}
        self._spelled = word_list(table["spelled"]["words"])
        self.words = frozenset(name.rstrip("0123456789") for name in self._said) | self._spelled

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        token, after, following = line[place], place + 1, line[place + 1]
        if following.text in (".", "-", "/") and not following.gap and line[after + 1].text and not line[after + 1].gap:
            return
        parts = [token.text]
        if following.kind == "d" and not following.gap:
            parts.append(following.text)
        if (known := self._said.get("".join(parts).casefold())) is not None:
            yield Classed(place, place + len(parts), InWords("Abbreviation", known[1]), _COST)
        elif token.fold in self._spelled and (token.text.islower() or token.text.istitle()) and len(parts) == 1:
            letters = token.fold.removesuffix("s") if token.fold[:-1] in self._spelled else token.fold
            if letters == token.fold and _VOWELS.isdisjoint(letters):
                return  # engines spell it
            said = ".".join(letters.upper()) + ("'s" if letters != token.fold else "")
            yield Classed(place, after, InWords("Abbreviation", said), _COST)
