"""The stages of a request's first audio, with the time at which it passed each, for the log."""

from __future__ import annotations

import time

PLACES = ("planned", "dispatched", "first_block", "first_audio")
"""The first segment was read and cut; a worker has it; its first block was sealed; speech went to the socket."""


class Stages:
    """Stages of one request. A stage that was skipped (a cache hit needs no worker) is absent."""

    def __init__(self) -> None:
        self.stream: int | None = None
        """The number under which workers know it."""
        self._reached: dict[str, float] = {}

    def reach(self, place: str) -> None:
        """Note that the request is at the place now; the first time counts."""
        assert place in PLACES
        self._reached.setdefault(place, time.monotonic())

    def seconds(self, since: float) -> dict[str, float]:
        """Time of each place, in seconds from `since` (monotonic)."""
        return {place: round(self._reached[place] - since, 3) for place in PLACES if place in self._reached}

    def line(self, since: float) -> str:
        """`stream=7 planned=0.003 …`, each with a space before it; empty where nothing was reached."""
        stream = {} if self.stream is None else {"stream": self.stream}
        return "".join(f" {name}={value}" for name, value in (stream | self.seconds(since)).items())
