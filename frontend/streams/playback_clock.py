"""A listener's clock: when the samples that it was given are heard."""

from __future__ import annotations

import time

from shm.audio import SAMPLE_RATE


class PlaybackClock:
    """Begins with the first sample that is given, and stands still while there is nothing to hear or nothing is taken.

    Positions are samples given so far.
    """

    def __init__(self) -> None:
        self.since: float | None = None
        """Monotonic seconds at which the first sample was heard, moved by each time that the clock stood still; None
        before it."""
        self._taking = False
        """A piece was given, and the next one isn't asked for yet."""

    def give(self) -> None:
        """A piece is given."""
        self.since = self.since or time.monotonic()
        self._taking = True

    def ask(self, position: int) -> None:
        """The next piece is asked for."""
        assert self.since is not None
        self._taking = False
        self.since = max(self.since, _begun_to_have_heard(position))

    def starts(self, position: int, expected: float) -> float:
        """Monotonic seconds at which the first sample is heard; `expected` before one was given."""
        since = self.since or expected
        # Who doesn't take what is there has enough to hear.
        return max(since, _begun_to_have_heard(position)) if self._taking else since

    def heard_gap(self, position: int) -> bool:
        """Whether all was heard before now, when the next samples are there; the clock stood still meanwhile."""
        if self.since is None or (now := _begun_to_have_heard(position)) <= self.since:
            return False
        self.since = now
        return True


def _begun_to_have_heard(position: int) -> float:
    """When one began who has just heard so many samples without a gap."""
    return time.monotonic() - position / SAMPLE_RATE
