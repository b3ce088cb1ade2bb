"""Symbols of units by the tokens that they are written with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from text.normalization.classes.tokens import Lexeme, Tokens

POWERS = {"²": "2", "³": "3"}
DEGREES = frozenset("°º˚")
VOWELS = frozenset("aeiou")


def _written(tokens: Sequence[Lexeme], folded: bool) -> str:
    gap = "" if tokens[0].text in DEGREES else " "
    return "".join([gap * each.gap + (each.fold if folded else each.text) for each in tokens]).lstrip()


class Symbols:
    """Symbols of one language's units: `folded` by letters in another case; `plain` if engines read numbers with full
    words well; `per` if they stand after a slash.
    """

    def __init__(self, units: Iterable[str], folded: Mapping[str, str], plain: bool, per: bool = False) -> None:
        self._folded, self._plain, self._per = folded, plain, per
        self._exact: dict[str, str] = {}
        self._in_any_case: dict[str, dict[str, None]] = defaultdict(dict)
        self.starting: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        """Tokens of the symbols in small letters, by the first one."""
        for symbol in units:
            tokens = Tokens(symbol).tokens
            self.starting[tokens[0].fold].add(tuple(token.fold for token in tokens))
            self._exact.setdefault(_written(tokens, folded=False), symbol)
            if symbol not in ("c.", "ga") and (symbol[0] != "u" or symbol.islower()):  # uL isn't UL, C. no cup
                self._in_any_case[_written(tokens, folded=True)][symbol] = None
        self._lengths = {start: sorted(set(map(len, each)), reverse=True) for start, each in self.starting.items()}

    def at(self, line: Tokens, place: int) -> tuple[str, int]:
        """Symbol at a token and the place after it; ("", place) if there is none."""
        folded: dict[str, None] = {}
        length, token = 0, line[place]
        several = len(token.text) > 2 and token.text[-1] == "s" and token.text[:-1].isupper()  # HRs
        for length in () if several else self._lengths.get(token.fold, ()):
            near = line.tokens[place : place + length]
            if len(near) < length:
                continue
            if symbol := self._exact.get(_written(near, folded=False)):
                return symbol, place + length
            if folded := self._in_any_case.get(_written(near, folded=True), {}):
                break
        if not folded:
            fold = token.fold if line.shouted or not token.text.isupper() else ""  # 22.04 LTS
            one = fold[:-1] if len(fold) in (3, 4) and fold[-1] == "s" and VOWELS.isdisjoint(fold) else ""
            return (one, place + 1) if one in self._exact and not several else ("", place)
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
