"""Parser of versions: v1.2.3, Python 3.11 to 3.14, 2.0.0-rc.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from text.normalization.classes.cover import Classed, Parser
from text.normalization.classes.numbers import written_number
from text.normalization.classes.tokens import Tokens

_MOST_PARTS = 8
_BETWEEN_VERSIONS = frozenset(("to", "and", "or", "through", "vs", "-", "–", ",", "/"))


class Version(NamedTuple):
    name: str
    parts: tuple[str, ...]
    stage: str = ""
    stage_number: str = ""
    plus: bool = False


class Versions:
    """Parser of versions: v1.2.3, Python 3.11, 2.0.0-rc.1; two numbers count after a word that announces a version.

    Args:
        name: what is said for v.
        cues: words that announce a version, in small letters.
        stages: words for what stands before a release, by what is written.
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
        named = len(parts) > 1 and (before in self._versioned or line[further - 1].fold in self._versioned)
        grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) < 4 and not (name or named)
        if not (name or named or (len(parts) > 2 and not grouped)) or any(len(part) > 6 for part in parts):
            return
        stage, number, end = self._stage(line, after)
        if stage and not (line[end].gap or line[end].kind == "s"):
            return
        plus = line.has(end, "+", glued=True) and line[end + 1].kind != "w"
        yield Classed(
            place, end + plus, Version(name, tuple(parts), stage, number, plus), 0.4 if name or named else 0.55
        )

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
