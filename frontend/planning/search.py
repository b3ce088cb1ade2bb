"""Search for the cheapest way to cut a row of units into segments."""

from __future__ import annotations

from functools import partial
from itertools import takewhile

from frontend.planning.row import Cuts, Row

_LABELS = 6
"""Number of ways to reach a place that the search keeps."""


def best_cuts(row: Row, slack: float | None) -> Cuts:
    """The cheapest cuts found; never dearer than cutting at sentence ends.

    Dynamic programming over the places between units. For place j, L(j) is the set of ways to reach it, each a pair
    (price, slack), and

      L(0) = {(0, slack)}
      L(j) = best of {(p + price, s') for i < j, (p, s) in L(i), (price, s') = row.step(i, j, s)}

    for all i from which a segment may end at j. A way is dropped if another reaches the same place at no higher
    price and with no less slack: more slack never makes the rest dearer, so the cheapest way in L(n) is the cheapest
    overall. Among the remaining ways the `_LABELS` cheapest are kept, which bounds the work. This makes the search
    inexact, so the price of sentence splitting serves as an upper bound, which also prunes early. Slack beyond the need
    of the whole row counts as equal.
    """
    count = len(row.units)
    bound, cuts = row.price(row.sentence_ends(), slack)
    plenty = _plenty(row)
    reached: list[list[tuple[float, float, int, int]]] = [[] for _ in range(count + 1)]
    """Ways to each place: price, negated slack (at most `plenty`), previous place, index of the way to that place."""
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
    """Slack in seconds beyond which more makes no difference: twice the work on the whole row."""
    tokens = row.before[-1]
    dearest = max(cost.prosody + cost.vocoder * cost.audio for cost in row.costs)
    fixed = max(cost.prosody_fixed + cost.vocoder * cost.audio_fixed for cost in row.costs)
    return 2 * (tokens * dearest + len(row.units) * fixed)
