"""Parser of abbreviations, in any case and with or without spaces inside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from text.normalization.classes.cover import Classed, InWords
from text.normalization.classes.tokens import Tokens
from text.normalization.western.words import Locale

_SMALL = frozenset(["de", "da", "das", "do", "dos", "del", "della", "di", "du", "des", "la", "le"])
"""Words between a title or street and its name."""
_CENTURY = re.compile("[IVX]+(?:e|er|ème)?")
_ROMAN = re.compile("[IVXLC]+|[ivxl]+|[A-Z]")


class _Row(NamedTuple):
    texts: tuple[str, ...]
    exact: bool
    said: str
    where: str
    lower: bool
    """Written in small letters in the table."""


class AbbreviationParser:
    def __init__(self, locale: Locale) -> None:
        self._and = locale.signs["&"]
        self._rows: dict[str, list[_Row]] = {}
        for where, table in (
            ("", locale.abbreviations),
            ("number", locale.before_numbers),
            ("name", locale.before_names),
            ("after", locale.after_numbers),
            ("few", locale.few),
            ("woman", locale.before_women),
        ):
            self._add(where, table)
        for rows in self._rows.values():
            rows.sort(key=lambda row: (-len(row.texts), row.where == ""))
        self.starts = frozenset(self._rows)

    def _add(self, where: str, table: Mapping[str, str]) -> None:
        for name, said in table.items():
            texts = tuple(token.text for token in Tokens(name).tokens)
            letters = "".join(filter(str.isalpha, texts))
            exact = (len(letters) == 1 and not set(name) & set("/º°")) or (
                len(letters) < 4 and not set(name) & set("./º°")
            )
            if not exact:
                texts = tuple(map(str.casefold, texts))
            self._rows.setdefault(texts[0].casefold(), []).append(_Row(texts, exact, said, where, name.islower()))

    def parse(self, line: Tokens, place: int) -> Iterator[Classed]:
        for row in self._rows.get(line[place].fold, ()):
            length = len(row.texts)
            run = [line[place + step] for step in range(length)]
            folded = not row.exact or (row.where == "number" and row.lower and line.shouted)
            texts = tuple(token.fold if folded else token.text for token in run)
            shouted = len(row.texts[0]) < 4 and run[0].text.isupper() and len(run[0].text) > 1 and not line.shouted
            if (
                texts != row.texts
                or (shouted and not row.exact and row.lower)
                or (length == 2 and run[-1].text == "." and run[-1].gap)
            ):
                continue
            after = place + length
            if not self._fits(line, place, after, row.where):
                continue
            if run[-1].text == "." and line.last(after - 1):
                after -= 1
            elif run[-1].text != "." and run[-1].text.isalpha() and not line.ends(after) and line[after].text != "-":
                continue
            yield Classed(
                place,
                after,
                InWords("Abbreviation", row.said),
                0.5 - 0.01 * length - 0.1 * (row.where in ("few", "woman")),
            )

    def _fits(self, line: Tokens, place: int, after: int, where: str) -> bool:
        following = line[after]
        if where == "number":
            here = line[after + (following.text in ("º", "°", ":", "#") and bool(following.text))]
            return here.kind in ("d", "m") or bool(_ROMAN.fullmatch(here.text))
        if where == "few":
            return line.number(place - 1, 1, 15) is not None
        if where == "woman":
            return following.text.istitle() and following.text.endswith("a") and following.gap
        if where == "name":
            if following.fold in _SMALL or following.fold == self._and:
                following = line[after + 1]
            return following.text[:1].isupper() and following.gap
        if where == "after":
            if line[place - 1].kind == "w" and not line[place - 1].gap and line[place - 2].kind == "d":
                return True
            before = line[place - 1]
            counted = before.kind in ("d", "m") or _CENTURY.fullmatch(before.text)
            return bool(counted or (before.text in "%°ºª½¼¾⅓⅔" and before.text))
        return True
