"""Places to cut: a row of units into pieces of similar length, none over a limit, preferably at clause ends; and the
function words that begin a phrase or cling to the word after them.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise

from text.locales.tables import words

_OPENERS = "([{（［｛“«「『"
_AROUND = "\"'“”‘’«»()[]{}*_¿¡.,;:!?…—-"
_APOSTROPHES = str.maketrans("’ʼ", "''")


def begins_phrase(word: str, language: str) -> bool:
    """True if a phrase begins with the word.

    Args:
        language: a code of `shm.espeak.messages.LANGUAGE_FILES`; Japanese and Chinese have no word lists and so no
            phrases.
    """
    return word[:1] in _OPENERS or _is_one_of(word, _phrase_begins(language.partition("-")[0]))


def clings(word: str, language: str) -> bool:
    """True if the word belongs to the word after it: speakers don't pause after "of the"."""
    return _is_one_of(word, _clinging(language.partition("-")[0]))


@cache
def _phrase_begins(code: str) -> frozenset[str]:
    """Words that begin a phrase: conjunctions, prepositions, relative pronouns."""
    return words(code, "phrase_begins")


@cache
def _clinging(code: str) -> frozenset[str]:
    """Articles and determiners, which belong to the word after them, as words that begin phrases do.

    Hindi has none: its postpositions belong to the word before them.
    """
    articles = words(code, "articles")
    return articles | _phrase_begins(code) if articles else articles


def _is_one_of(word: str, known: frozenset[str]) -> bool:
    if not known:
        return False
    bare = word.strip(_AROUND).lower().translate(_APOSTROPHES)
    stem, apostrophe, _ = bare.partition("'")
    return bare in known or (apostrophe != "" and stem + apostrophe in known)


CLAUSE_COST = 0.0
WORD_COST = 0.4
"""Cost of a cut between words, in fractions of the ideal piece length. A clause end (cost 0) is preferred to a word end
if it is at most this much further from the ideal cut position.
"""

INSIDE_COST = 1.5
_PAUSES = frozenset(",;:!?…—–、，；：。！？।")
_BREAKS = frozenset("-/\\_&=@.|+)]}")
_STRESS = frozenset("ˈˌ")
_TONES = frozenset("↓→↗↘")


def balanced_ends(lengths: Sequence[int], leads: Sequence[int], costs: Sequence[float], limit: int) -> list[int]:
    """Indices at which pieces end: rising, the last is `len(lengths)`; each unit is in one piece, and no piece is over
    `limit`.

    Unit i has the length `lengths[i]` (at most `limit`), plus `leads[i]` unless it begins a piece; a piece that ends
    with unit i costs `costs[i]`. Each cut minimises this cost plus the distance from an even share of the remaining
    length. The time is linear: a cut examines at most `limit` of length and consumes at least a quarter of that.
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
    """Pieces of a word (or of its phonemes) that is longer than `limit`; no piece is.

    Cuts come after a pause if there is one, else at a space or sign, else anywhere. A cut inside a number, or between a
    character and a mark that belongs to it, is the last resort.
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
