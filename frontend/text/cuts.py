"""Cuts a row of units into pieces that fit a limit, at good places and of like length."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

CLAUSE_COST = 0.0
WORD_COST = 0.4
"""In parts of the ideal length: a clause's end is preferred if it is at most this much further from the ideal place."""

INSIDE_COST = 1.5
_PAUSES = frozenset(",;:!?…—–、，；：。！？।")
_BREAKS = frozenset("-/\\_&=@.|+)]}")
_STRESS = frozenset("ˈˌ")
_TONES = frozenset("↓→↗↘")


def balanced_ends(lengths: Sequence[int], leads: Sequence[int], costs: Sequence[float], limit: int) -> list[int]:
    """Where pieces end: rising indices, the last `len(lengths)`; each unit in one piece, no piece over `limit`.

    Unit i is `lengths[i]` long (at most `limit`), after `leads[i]` more unless it begins a piece; a piece that ends
    with it costs `costs[i]`. Each cut looks for the least cost plus distance from an even share of what remains.
    Time is linear: a cut looks at no more than a limit's worth of units, and takes at least a quarter of that.
    """
    count = len(lengths)
    before = [0, *accumulate(length + lead for length, lead in zip(lengths, leads, strict=True))]
    ends: list[int] = []
    start = 0
    while start < count:
        base = before[start] + leads[start]
        rest = before[count] - base
        if rest <= limit:
            ends.append(count)
            break
        share = rest / -(-rest // limit)
        high = bisect_right(before, base + limit, start + 1) - 1
        low = min(max(start + 1, bisect_left(before, base + share / 2, start + 1)), high)
        high = max(low, min(high, bisect_right(before, before[count] - share / 2) - 1))
        start = min(range(low, high + 1), key=lambda end: costs[end - 1] + abs(before[end] - base - share) / share)
        ends.append(start)
    return ends


def divided(unit: str, limit: int) -> list[str]:
    """A word (or its phonemes) that is longer than `limit` in pieces that are not.

    After a pause if there is one, else at a space or sign, else anywhere; only if there is no other place inside a
    number, or between a character and a mark that belongs to it.
    """
    costs = [*(_cost_between(left, right) for left, right in pairwise(unit)), CLAUSE_COST]
    ends = balanced_ends([1] * len(unit), [0] * len(unit), costs, limit)
    return [unit[start:end] for start, end in pairwise([0, *ends])]


def _cost_between(left: str, right: str) -> float:
    if left in _STRESS or right in _TONES or right in "\u200c\u200d" or left in "\u200c\u200d":
        return 2 * INSIDE_COST
    if unicodedata.category(right) in ("Mn", "Mc", "Me", "Lm") and right not in _STRESS:
        return 2 * INSIDE_COST
    if left.isdecimal() and right.isdecimal():
        return 1.5 * INSIDE_COST
    if left in _PAUSES and (right.isalnum() or right.isspace()):
        return CLAUSE_COST
    if left.isspace() or right.isspace() or left in _BREAKS:
        return WORD_COST
    return INSIDE_COST
