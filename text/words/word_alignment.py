"""Alignment of spoken words to written ones in a clause that has more or fewer spoken words than written ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

_MOST_SPOKEN = 12
"""Most spoken words of one written word: a year has five, a large number more."""

_MOST_WRITTEN = 3
"""Most written words that are one spoken word."""

_EDGE = 2
"""Cost of a different first or last sound; its unit is the cost of one sound more or fewer. Both ends of a word that is
left silent differ: else a neighbour would take the sounds of a short word.
"""

_STRESS = str.maketrans("", "", "ˈˌː")


def groups(alone: Sequence[str], spoken: Sequence[str]) -> list[tuple[range, list[str]]]:
    """Groups of written words, by index, each with the spoken words of its members.

    A group is one written word with any number of spoken words, or several written words with one spoken word that is
    divided among them. All groups together have each written word once, and all spoken words in order, unchanged. The
    time grows with the product of both numbers.

    Args:
        alone: phonemes of each written word by itself; spaces separate the spoken words of one written word.
        spoken: the clause's spoken words, as phonemes.
    """
    bare = [word.translate(_STRESS).replace(" ", "") for word in alone]
    heard = [word.translate(_STRESS) for word in spoken]
    written_ends = [0, *accumulate(map(len, bare))]
    heard_ends = [0, *accumulate(map(len, heard))]
    best: list[dict[int, tuple[float, int, int]]] = [{0: (0.0, 0, 0)}]
    for i in range(1, len(alone) + 1):
        row: dict[int, tuple[float, int, int]] = {}
        for taken in range(1, min(_MOST_WRITTEN, i) + 1):
            for j, (before, _, _) in best[i - taken].items():
                most = min(len(spoken) - j, _MOST_SPOKEN) if taken == 1 else min(len(spoken) - j, 1)
                for count in range(0 if taken == 1 else 1, most + 1):
                    cost = before + abs(
                        written_ends[i] - written_ends[i - taken] - heard_ends[j + count] + heard_ends[j]
                    )
                    if count:
                        first, last = bare[i - taken], bare[i - 1]
                        cost += _EDGE * (first[:1] != heard[j][:1]) + _EDGE * (last[-1:] != heard[j + count - 1][-1:])
                    elif bare[i - 1]:
                        cost += 2 * _EDGE
                    if j + count not in row or cost < row[j + count][0]:
                        row[j + count] = (cost, taken, count)
        best.append(row)
    if len(spoken) not in best[-1]:
        return _around_longest(bare, spoken)
    found: list[tuple[range, list[str]]] = []
    i, j = len(alone), len(spoken)
    while i:
        _, taken, count = best[i][j]
        own = " ".join(spoken[j - count : j])
        found.append((range(i - taken, i), [own] if taken == 1 else _divided(own, [*map(len, alone[i - taken : i])])))
        i, j = i - taken, j - count
    return found[::-1]


def _around_longest(bare: Sequence[str], spoken: Sequence[str]) -> list[tuple[range, list[str]]]:
    """One spoken word for each written word, and all that remain for the longest, if there are too many to align."""
    longest = max(range(len(bare)), key=lambda place: len(bare[place]))
    ends = [0, *accumulate(len(spoken) - len(bare) + 1 if place == longest else 1 for place in range(len(bare)))]
    return [(range(i, i + 1), [" ".join(spoken[start:end])]) for i, (start, end) in enumerate(pairwise(ends))]


def _divided(word: str, lengths: Sequence[int]) -> list[str]:
    """Parts of one spoken word, with lengths in proportion to `lengths`; a stress mark stays with its vowel.

    Empty parts come last: the others continue the first, which must not be silent.
    """
    total = sum(lengths) or 1
    ends = [round(len(word) * end / total) for end in accumulate(lengths)]
    ends = [end - (0 < end < len(word) and word[end - 1] in "ˈˌ") for end in ends]
    parts = [word[start:end] for start, end in zip([0, *ends[:-1]], [*ends[:-1], len(word)], strict=True)]
    return sorted(parts, key=lambda part: not part)
