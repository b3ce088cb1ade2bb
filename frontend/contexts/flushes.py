"""A context's flushes, whose reports follow the audio before them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from frontend.contexts.events import Flushed


class Flushes:
    """Call `add` for each flush of the client, in order, and `reach` as the audio before them is given."""

    def __init__(self) -> None:
        self.reached = 0
        """Flushes whose audio was given."""
        self._reports: deque[bool] = deque()
        """Flushes whose audio wasn't given yet: True for each that is reported."""
        self._reported = 0

    def add(self, report: bool) -> None:
        """Note a flush. `report`: a `Flushed` follows its audio."""
        self._reports.append(report)

    def reach(self, count: int) -> Iterator[Flushed]:
        """Note that the audio before the first `count` flushes was given; the events of those that are reported."""
        while self.reached < count:
            self.reached += 1
            if self._reports.popleft():
                self._reported += 1
                yield Flushed(self._reported)
