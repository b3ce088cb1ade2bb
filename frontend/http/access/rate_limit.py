"""The rate limit: a token bucket for each client, in a table of bounded length."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

CLIENTS = 4096
"""Most clients that are remembered. A forgotten client starts with a full bucket."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    seen: float


class RateLimit:
    """A client may make `per_minute` requests at once, and from then on one each `60 / per_minute` seconds."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        """`clock` is monotonic, in seconds."""
        self._capacity = float(per_minute)
        self._rate = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str | bytes, _Bucket] = OrderedDict()
        """Buckets by client; the client whose last request is oldest comes first."""

    def take(self, client: str | bytes) -> float:
        """Count a request. Returns 0 if it is allowed; else it isn't counted, and is allowed after the returned
        seconds."""
        now = self._clock()
        bucket = self._buckets.setdefault(client, _Bucket(self._capacity, now))
        self._buckets.move_to_end(client)
        if len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(bucket.tokens + (now - bucket.seen) * self._rate, self._capacity)
        bucket.seen = now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / self._rate
        bucket.tokens -= 1
        return 0.0
