"""Numbers in digits, grouped by commas, apostrophes, underscores or spaces, with a point or without."""

from __future__ import annotations

from text.normalization.classes.tokens import Tokens

_GROUPING = frozenset((",", "'", "’", "_"))
_MINUS = frozenset("-−")
_PARTS = {"½": "5", "¼": "25", "¾": "75"}
_GROUPS = 7
"""Most groups of a number."""
LONGEST = 15
"""Digits of the longest number that is said as a number."""


def written_number(line: Tokens, place: int) -> tuple[str, int]:
    """Digits and point of the number that begins at a token, and the place after it; ("", place) if there is none."""
    token, after = line[place], place
    digits = ""
    if token.kind == "d" and line.has(place + 1, _PARTS, glued=True) and line.dash(place + 2):
        return f"{token.text}.{_PARTS[line[place + 1].text]}", place + 2  # 1½-2 hours
    if token.kind == "d" and len(token.text) <= LONGEST:
        digits, after = _grouped(line, place)
    elif token.text != "." or line[place + 1].gap:
        return "", place
    if line.has(after, ".", glued=bool(digits)) and line[after + 1].kind == "d" and not line[after + 1].gap:
        return f"{digits}.{line[after + 1].text}", after + 2
    return digits, after


def _grouped(line: Tokens, place: int) -> tuple[str, int]:
    groups, after = [line[place].text], place + 1
    sign = line[after].text
    if len(groups[0]) <= 3 and sign in _GROUPING:
        while len(groups) < _GROUPS and line.has(after, sign, glued=True) and _is_glued_number(line, after + 1):
            groups.append(line[after + 1].text)
            after += 2
        thousands = all(len(group) == 3 for group in groups[1:])
        indian = (
            len(groups) > 2 and len(groups[0]) < 3 and len(groups[-1]) == 3 and all(len(g) == 2 for g in groups[1:-1])
        )
        if len(groups) > 1 and not (thousands or (indian and sign == ",")):
            return groups[0], place + 1
    elif len(groups[0]) <= 3 and line[after].gap and len(line[after].text) == 3 and line[place - 1].kind != "d":
        while len(groups) < _GROUPS and line[after].kind == "d" and len(line[after].text) == 3 and line[after].gap:
            groups.append(line[after].text)
            after += 1
        if (len(groups) < 3 and groups[-1] != "000") or line[after].kind == "d":
            return groups[0], place + 1
    return "".join(groups), after


def _is_glued_number(line: Tokens, place: int) -> bool:
    return line[place].kind == "d" and not line[place].gap


def signed(line: Tokens, place: int) -> tuple[bool, int]:
    """Whether a minus sign stands before a number at a place, and the place of the number."""
    if line[place].text in _MINUS and line[place].text and not line[place + 1].gap:
        return True, place + 1
    return False, place
