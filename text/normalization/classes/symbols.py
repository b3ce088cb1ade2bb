"""Symbols of units by the tokens that they are written with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from text.normalization.classes.tokens import Tokens

POWERS = {"²": "2", "³": "3"}
DEGREES = frozenset("°º˚")
_VOWELS = frozenset("aeiou")
_Symbols = list[tuple[tuple[str, ...], tuple[bool, ...], str]]


class Symbols:
    """Symbols of one language's units.

    Args:
        folded: the symbol that is meant by letters in another case.
        plain: engines read numbers with full words well.
        per: they stand after a slash.
    """

    def __init__(self, units: Iterable[str], folded: Mapping[str, str], plain: bool, per: bool = False) -> None:
        self._folded, self._plain, self._per = folded, plain, per
        self.starting: dict[str, _Symbols] = defaultdict(list)
        """Symbols by their first token: their tokens, the gaps between them and the symbols, the longest first."""
        for symbol in units:
            tokens = Tokens(symbol).tokens
            gaps = tuple(token.gap for token in tokens[1:])
            self.starting[tokens[0].fold].append((tuple(token.text for token in tokens), gaps, symbol))
        for listed in self.starting.values():
            listed.sort(key=lambda each: -len(each[0]))

    def at(self, line: Tokens, place: int) -> tuple[str, int]:
        """Symbol at a token and the place after it; ("", place) if there is none."""
        units = self.starting
        folded: dict[str, None] = {}
        length = 0
        if line[place].text[-1:] == "s" and line[place].text[:-1].isupper():
            units = {} if len(line[place].text) > 2 else units  # HRs
        for parts, gaps, symbol in units.get(line[place].fold, ()):
            tokens = line.tokens[place : place + len(parts)]
            if tuple(token.gap for token in tokens[1:]) != gaps and symbol[0] not in DEGREES:
                continue
            if folded and len(parts) < length:
                break
            if tuple(token.text for token in tokens) == parts:
                return symbol, place + len(parts)
            micro = symbol in ("c.", "ga") or (symbol[0] == "u" and not symbol.islower())  # uL isn't UL, C. no cup
            if tuple(token.fold for token in tokens) == tuple(map(str.casefold, parts)) and not micro:
                folded[symbol] = None
                length = len(parts)
        if not folded:
            fold = line[place].fold if line.shouted or not line[place].text.isupper() else ""  # 22.04 LTS
            one = fold[:-1] if len(fold) in (3, 4) and fold[-1] == "s" and _VOWELS.isdisjoint(fold) else ""
            return (one, place + 1) if any(symbol == one for *_, symbol in units.get(one, ())) else ("", place)
        written = "".join(token.fold for token in line.tokens[place : place + length])
        if len(folded) == 1 and len(written) > 1:
            return next(iter(folded)), place + length
        symbol = self._folded.get(written, next(iter(folded)) if self._plain and len(written) > 1 else "")
        if not symbol and len(written) == 1 and written in folded:
            following = line[place + 1]
            mega = self._plain and written in "mk"
            compound = not following.gap and (following.text in POWERS or following.text in ("/", "^"))
            if self._per or compound or (line.shouted and (line[place].gap or written == "s") and not mega):
                symbol = written
        return symbol, place + length
