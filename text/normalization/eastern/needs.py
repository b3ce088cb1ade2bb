"""Expressions that are searched for only in sentences with the characters that they can't match without."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from operator import or_
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from text.normalization.draft import MASK, Draft

_FREQUENT = "etaoinsrhldcumfpgwybvk0123456789 -のはにをるがとでたしい的一是在不了有"
_CATEGORIES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}
Said = Callable[[re.Match[str]], str | None]


def _needs(parsed: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    """Character classes of each of which a text has a character if a parsed expression matches in it."""
    for kind, part in parsed:
        name = str(kind)
        if name == "LITERAL":
            yield f"[{re.escape(chr(part))}]"
        elif name == "IN" and part[0] != (_parser.NEGATE, None):
            yield f"[{''.join(_class(str(each), what) for each, what in part)}]"
        elif name == "SUBPATTERN":
            yield from _needs(part[-1])
        elif name in ("MAX_REPEAT", "POSSESSIVE_REPEAT") and part[0]:
            yield from _needs(part[2])
        elif name == "ASSERT":
            yield from _needs(part[1])
        elif name == "BRANCH":
            rarest = [min(_needs(branch), key=_often, default="") for branch in part[1]]
            if all(rarest):
                yield f"[{''.join(each[1:-1] for each in rarest)}]"


def _often(need: str) -> int:
    """How many of the most frequent characters are in a class."""
    return len(re.findall(need, _FREQUENT))


def _class(kind: str, part: Any) -> str:
    if kind == "RANGE":
        return "-".join(re.escape(chr(code)) for code in part)
    return re.escape(chr(part)) if kind == "LITERAL" else _CATEGORIES.get(str(part), r"\w\W")


class Signs:
    """Bits for what expressions need, and those of a sentence that lacks it."""

    def __init__(self) -> None:
        self._bit_of: dict[str, int] = {}
        self._literal: dict[str, int] = defaultdict(int)
        self._ranges: list[tuple[re.Pattern[str], int]] = []
        self._of_character = lru_cache(4096)(self._found)
        self.lacking = lru_cache(16)(self._lacking)

    def needed(self, pattern: re.Pattern[str]) -> list[int]:
        """For each way to match: bits of the classes of which it has a character each. A class with `MASK` has none."""
        *before, last = _parser.parse(pattern.pattern)
        ways = last[1][1] if str(last[0]) == "BRANCH" else [[last]]
        return [self._bits(_needs([*before, *way])) for way in ways]

    def _bits(self, needs: Iterable[str]) -> int:
        return reduce(or_, (self._bit(need) for need in needs if not re.match(need, MASK)), 0)

    def _bit(self, need: str) -> int:
        if need not in self._bit_of:
            bit = self._bit_of[need] = 1 << len(self._bit_of)
            kind, part = _parser.parse(need)[0]
            listed = part if str(kind) == "IN" else [(kind, part)]
            if any(str(kind) != "LITERAL" for kind, _ in listed):
                self._ranges.append((re.compile(need), bit))
            else:
                for _, code in listed:
                    self._literal[chr(code)] |= bit
        return self._bit_of[need]

    def _found(self, character: str) -> int:
        ranges = (bit for pattern, bit in self._ranges if pattern.match(character))
        return reduce(or_, ranges, self._literal.get(character, 0))

    def _lacking(self, characters: frozenset[str]) -> int:
        return ~reduce(or_, map(self._of_character, characters), 0)


def rewrite(signs: Signs, steps: Sequence[tuple[re.Pattern[str], Said, list[int]]], draft: Draft) -> None:
    lacking = signs.lacking(draft.characters)
    for pattern, said, ways in steps:
        for way in ways:
            if not way & lacking:
                draft.replace(pattern, said)
                break
