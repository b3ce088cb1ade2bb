"""Finds the cheapest way to cut a row of units into segments."""

from __future__ import annotations

from functools import partial
from itertools import takewhile

from frontend.planning.row import Cuts, Row

_LABELS = 6
"""Ways to reach a place that are followed further."""


def best_cuts(row: Row, slack: float | None) -> Cuts:
    """The cheapest cuts that are found, never dearer than cutting at the ends of sentences.

    Dynamic programming over the places between units. For place j, L(j) is the set of ways to reach it, each a pair
    (price, slack), and

        L(0) = {(0, slack)}
        L(j) = best of {(p + price, s') for i < j, (p, s) in L(i), (price, s') = row.step(i, j, s)}

    over those i from which a segment may end at j. A way is dropped if another reaches the same place for no more and
    with no less slack, because more slack never makes what follows dearer; so the cheapest way in L(n) is the cheapest
    of all. Of the ways that are left, the `_LABELS` cheapest are kept to bound the work; therefore, and to prune
    early, the price of sentence splitting is an upper bound. Slack beyond what the whole row could ever need is alike.
    """
    count = len(row.units)
    bound, cuts = row.price(row.sentence_ends(), slack)
    plenty = _plenty(row)
    reached: list[list[tuple[float, float, int, int]]] = [[] for _ in range(count + 1)]
    """Ways: price, slack below plenty (negative, to sort by), from which place, by which of its ways."""
    kept: list[list[tuple[float, float, int, int]]] = [[] for _ in range(count + 1)]
    starting = 0.0 if slack is None else -min(slack, plenty)
    reached[0] = [(0.0, starting, 0, 0)]
    places = row.places()
    for index, start in enumerate(places):
        kept[start] = ways = _undominated(reached[start])
        for end in takewhile(partial(row.holds, start), places[index + 1 :] if ways else ()):
            for number, (price, owed, _, _) in enumerate(ways):
                first = slack is None and start == 0
                more, after = row.step(start, end, None if first else -owed)
                if price + more < bound:
                    reached[end].append((price + more, -min(after, plenty), start, number))
    if reached[count]:
        ends: list[int] = []
        place, (_, _, start, number) = count, min(reached[count])
        while place:
            ends.append(place)
            place = start
            if place:
                _, _, start, number = kept[place][number]
        _, cuts = row.price(ends[::-1], slack)
    return cuts


def _undominated(ways: list[tuple[float, float, int, int]]) -> list[tuple[float, float, int, int]]:
    found: list[tuple[float, float, int, int]] = []
    for way in sorted(ways):
        if not found or way[1] < found[-1][1]:
            found.append(way)
            if len(found) == _LABELS:
                break
    return found


def _plenty(row: Row) -> float:
    """Seconds of work for the whole row, more than once."""
    tokens = row.before[-1]
    dearest = max(cost.prosody + cost.vocoder * cost.audio for cost in row.costs)
    fixed = max(cost.prosody_fixed + cost.vocoder * cost.audio_fixed for cost in row.costs)
    return 2 * (tokens * dearest + len(row.units) * fixed)
