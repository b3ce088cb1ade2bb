"""Loads of the scheduling simulator: recorded or drawn requests, all of them reproducible."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.simulation.schedule_policies import Request

PHRASE, SENTENCE, PARAGRAPH, ARTICLE = 12, 110, 320, 9_000
"""Tokens."""

_MIX = ((PHRASE, 5), (SENTENCE, 8), (PARAGRAPH, 4), (ARTICLE // 6, 1))
"""Lengths of texts in characters, each with its weight."""

Load = list[Request]


def short_behind_long(_seed: int) -> Load:
    """Three words, 0.3 seconds after a text of nine thousand characters."""
    return [Request(0.0, ARTICLE, "long"), Request(0.3, PHRASE, "short")]


def poisson(seed: int, count: int = 60, interval: float = 8.0) -> Load:
    """Listeners who come independently of each other, with texts of all lengths: busy, and not overloaded."""
    rng = random.Random(seed)
    sizes, weights = zip(*_MIX, strict=True)
    found = []
    now = 0.0
    for number in range(count):
        now += rng.expovariate(1 / interval)
        tokens = max(3, round(rng.choices(sizes, weights)[0] * rng.uniform(0.6, 1.4)))
        found.append(Request(now, tokens, f"listener {number}"))
    return found


def overload(seed: int) -> Load:
    """Twice as many of them as can be served."""
    return poisson(seed, interval=2.0)


def open_webui_burst(seed: int, sentences: int = 30) -> Load:
    """A chat answer, read a sentence a request, all asked within a second; somebody else comes meanwhile."""
    rng = random.Random(seed)
    row = [Request(number * 0.03, max(10, round(rng.gauss(70, 25))), "chat") for number in range(sentences)]
    others = [Request(2.0 + 7 * number, SENTENCE, f"listener {number}") for number in range(3)]
    return sorted([*row, *others], key=lambda request: request.arrival)


def one_shots(seed: int) -> Load:
    """Whole clips that somebody has made for later, while listeners come and go."""
    clips = [Request(float(number), PARAGRAPH * 2, f"clip {number}", whole=True) for number in range(10)]
    return sorted([*clips, *poisson(seed, count=20, interval=6.0)], key=lambda request: request.arrival)


LOADS: Mapping[str, Callable[[int], Load]] = {
    "short behind long": short_behind_long,
    "Poisson arrivals": poisson,
    "overload": overload,
    "Open WebUI burst": open_webui_burst,
    "one-shot clips": one_shots,
}


def recorded(file: Path) -> Load:
    """A JSON list of requests: `arrival` (seconds), `tokens`, `client`, and `whole` where it is true.

    Raises:
        ValueError: it is something else; the message says which entry.
    """
    entries = json.loads(file.read_text())
    if not isinstance(entries, list):
        raise ValueError(f"{file}: a load is a list of requests")
    found = []
    for number, entry in enumerate(entries):
        try:
            request = Request(
                float(entry["arrival"]), int(entry["tokens"]), str(entry["client"]), bool(entry.get("whole"))
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{file}: entry {number} needs arrival, tokens and client: {error!r}") from error
        if request.tokens < 1 or request.arrival < 0:
            raise ValueError(f"{file}: entry {number} needs at least one token, and a time from 0 on")
        found.append(request)
    return sorted(found, key=lambda request: request.arrival)
