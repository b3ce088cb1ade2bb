"""Parser of postal addresses in any case: 221B Baker St., 350 fifth avenue, 123 N. Main St. NW, Austin, TX 78701."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from text.locales.tables import word_lists
from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.tokens import DASHES, Tokens

_COST = 0.3
_NTH = frozenset(("st", "nd", "rd", "th"))
_MOST_NAMES = 3


class Address(NamedTuple):
    house: str
    flat: str
    names: tuple[str, ...]
    """Words and ordinals of the street's name, and ways of the compass."""


class State(NamedTuple):
    """State, and its postal code; "" if it isn't written."""

    name: str
    code: str
    more: str


class Addresses:
    """Parser for one language's table (`addresses.toml`), streets' parts, and abbreviations among which states are."""

    def __init__(
        self, table: Mapping[str, Mapping[str, str]], streets: Mapping[str, str], abbreviated: Mapping[str, str]
    ) -> None:
        cues = word_lists(table["cues"])
        self._full, self._before_place, self._small = cues["streets"], cues["before_place"], cues["small"]
        self._sure = cues["small_streets"]
        self._code_words, self._earned = cues["state_words"], cues["after_names"]
        self._streets = {written.casefold(): full for written, full in (*streets.items(), *table["streets"].items())}
        self._names = {written.casefold(): full for written, full in table["names"].items()}
        self._ways = {written.casefold(): full for written, full in table["ways"].items()}
        self._states = {written.casefold(): full for written, full in table["states"].items()}
        names = frozenset(self._states.values())
        stopped = {each: full for each, full in abbreviated.items() if full in names} | dict(table["stopped_states"])
        self._stopped = {
            written.casefold(): full for written, full in ({full: full for full in names} | stopped).items()
        }
        self._lasts = {name.casefold().split()[-1] for name in (*names, *stopped)} | {code[1] for code in self._states}
        self._parties = table["parties"]
        self.words = frozenset((*self._states, *self._stopped, *map(str.casefold, self._parties), *"nrs"))
        seconds: dict[str, Iterable[str]] = dict.fromkeys("NRS", (".",)) | dict.fromkeys(self._parties, DASHES)
        seconds |= dict.fromkeys(self._stopped, (".",))
        for name in self._states:
            seconds |= dict.fromkeys((name.upper(), name.title()) if name in self._code_words else (name,), ("",))
        self.states = Parser.of(self.state, seconds)
        """Parser of states in a sentence without digits."""

    def parse(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        house, after, flat = line[place].text, place + 1, ""
        if line[place].kind != "d" or len(house) > 5:
            return
        stop = line.has(place - 1, ".,", glued=True)
        if len(house) == 5 and line[place - 1 - stop].fold in self._lasts and line.cued(place - 1, ","):
            yield Classed(place, after, State("", house, ""), _COST)  # Austin, Texas 78701
        if line[after].kind == "w" and not line[after].gap:
            flat, after = line[after].text.upper(), after + 1
            if flat not in ("A", "B", "C", "D"):
                return
        names: list[str] = []
        way, after = self._way(line, after)
        if way:
            names.append(way)
        for _ in range(_MOST_NAMES + 1):
            token = line[after]
            if not token.gap or not token.text:
                return
            street = self._streets.get(token.fold) or (token.text.capitalize() if token.fold in self._full else "")
            more = line[after + 1 + line.has(after + 1, ".", glued=True)]  # Lost Crk. Trl.
            if street and len(names) > bool(way) and not (more.gap and more.fold in self._streets):
                named = token.fold not in self._full and (line.ends(after + 1) and line[after + 1].kind != "w")
                if token.text.islower() and not (
                    named or (line.small and (token.fold in self._sure or token.fold not in self._full))
                ):
                    return
                yield self._ended(line, place, after + 1, Address(house, flat, (*names, street)), token.fold)
                return
            name, after = self._name(line, after)
            name = (street if names else "") or name
            if not name:
                return
            names.append(name)

    def _ended(self, line: Tokens, place: int, after: int, address: Address, street: str) -> Classed:
        abbreviated = street not in self._full
        if abbreviated and line.has(after, ".", glued=True) and not line.last(after):
            after += 1
        side, end = self._way(line, after)
        if side and not (line[end].gap and line[end].fold in self._streets):
            address, after = Address(address.house, address.flat, (*address.names, side)), end
        return Classed(place, after, address, _COST)

    def _way(self, line: Tokens, place: int) -> tuple[str, int]:
        token = line[place]
        if not token.gap or token.fold not in self._ways or (token.text.islower() and not line.small):
            return "", place
        parted = line[place + 2].gap or line[place + 2].text in ",;"
        stop = line.has(place + 1, ".", glued=True) and parted and not line.last(place + 1)
        return self._ways[token.fold], place + 1 + stop

    def _name(self, line: Tokens, place: int) -> tuple[str, int]:
        token, after = line[place], place + 1
        if token.kind == "d" and len(token.text) < 4 and line.has(after, _NTH, glued=True):
            return token.text, after + 1
        proper = token.text[:1].isupper() or line.small
        if token.kind != "w" or not proper or token.fold in self._small:
            return "", place
        name = self._names.get(token.fold, token.text)
        if line.has(after, ("'", "’"), glued=True) and line.has(after + 1, ("s",), glued=True):
            return f"{name}{line[after].text}s", after + 2
        return name, after + line.has(after, ".", glued=True)

    def state(self, line: Tokens, place: int, british: bool) -> Iterator[Classed]:
        """State after a place or a party: Austin, TX; Dallas TX 75201; Topeka, Kan.; (R-Neb.), (R-Georgetown)."""
        token, after = line[place], place + 1
        party = self._parties.get(token.text, "") if line.has(place + 1, DASHES, glued=True) else ""
        opened = line[place - 1].text == "(" if not token.gap else line[place - 1].text == ","
        if party and opened and not line[place + 2].gap:
            token, after = line[place + 2], place + 3
            name = self._states.get(token.fold, "") if token.text.isupper() else self._stopped.get(token.fold, "")
            name = name or token.text * (line[place - 1].text == "(" and line.has(after, ")", glued=True))
            if name and token.text[0].isupper():
                end = after + line.has(after, ".", glued=True)
                yield Classed(place, end, State(f"{party} of {name}", "", ""), 0.2)
            return
        comma = line.has(place - 1, ",", glued=True)
        town = line[place - 1 - comma]
        town = line[place - 3] if comma and town.text == "." else town  # Cook Co., Ill.
        if not token.gap or town.kind != "w" or not (token.text.isupper() or line.small or token.text.istitle()):
            return
        stopped = comma and town.text.istitle() and token.text.istitle() and line.has(after, ".", glued=True)
        if stopped and (name := self._stopped.get(token.fold, "")):
            yield Classed(place, after + (not line.closing(after)), State(name, "", ""), _COST - 0.1)
        dotted = line.tokens[place : place + 4]
        if comma and town.text[-1].islower() and [t.text for t in dotted[1::2]] == [".", "."] and not dotted[2].gap:
            name = self._states.get(token.fold + dotted[2].fold, "")
            yield from [Classed(place, place + 4 - line.closing(place + 3), State(name, "", ""), 0.3)][: bool(name)]
        named = comma and not line[place - 3].text.islower()
        titled = named and line.cued(place, ("dr", "doctor"), 6)  # Dr. S. Patel, MD
        earned = comma and token.text in self._earned and line[place - 3].kind == "w"
        earned &= british or line[place - 3].text.istitle()
        titled |= earned and not self._in_a_place(line, place - 2)  # Ana Lee, MS, said
        placed = not comma or line.small or town.text[:1].isupper()
        if token.fold not in self._states or titled or not placed:
            return
        canadian = line.tokens[after : after + 3]
        if "".join(t.kind for t in canadian) == "wdw" and all(
            len(t.text) == 1 and t.text == t.text.upper() for t in canadian
        ):
            yield Classed(place, after, State(self._states[token.fold], "", ""), _COST)
            return
        after += line.has(after, ",", glued=True) and line[after + 1].kind == "d" and len(line[after + 1].text) == 5
        zipped = line[after].kind == "d" and len(line[after].text) == 5 and line[after].gap
        if zipped:
            code, more, end = line[after].text, "", after + 1
            if line.has(end, "-", glued=True) and line[end + 1].kind == "d" and len(line[end + 1].text) == 4:
                more, end = line[end + 1].text, end + 2
            yield Classed(place, end, State(self._states[token.fold], code, more), _COST - 0.1)
            return
        lived = town.text.istitle() and token.text.isupper() and self._in_a_place(line, place - 1)
        if not (comma or (lived and token.fold not in self._code_words)) or not (
            town.text[-1].islower() or line.shouted
        ):
            return
        ended = line.last(place) or (line[after].kind == "s" and not line[after].gap and line[after].text in ".,;:!?)")
        sure = self._in_a_place(line, place - 2) or (comma and token.text not in ("MD", "PA"))  # Ann Lee, MD said
        ended = ended or (token.text.isupper() and line[after].text.islower() and sure)
        if not (ended or not comma) or (token.text.istitle() and token.fold in self._code_words):
            return
        if (token.fold in self._code_words or token.text.islower()) and not self._in_a_place(line, place - 2):
            return  # "seconds, ms" is no town in Mississippi
        yield Classed(place, after, State(self._states[token.fold], "", ""), _COST)

    def _in_a_place(self, line: Tokens, place: int) -> bool:
        """True if a preposition stands before the one, two or three words of a place."""
        for before in range(place, place - 3, -1):
            if not (line[before].text[:1].isupper() or line.small):
                return False
            if line[before - 1].fold in self._before_place:
                return True
        return False
