"""A listener's clock: when the samples that were given are heard."""

from __future__ import annotations

import time

from shm.audio import SAMPLE_RATE


class PlaybackClock:
    """Begins with the first sample, and stands still while there is nothing to hear or the listener takes nothing.

    A position is the number of samples given so far.
    """

    def __init__(self) -> None:
        self.since: float | None = None
        """Monotonic seconds at which the first sample was heard, moved by each time that the clock stood still; None
        before it."""
        self._taking = False
        """A piece was given, and the listener hasn't asked for the next one yet."""

    def give(self) -> None:
        """The listener is given a piece."""
        self.since = self.since or time.monotonic()
        self._taking = True

    def ask(self, position: int) -> None:
        """The listener asks for the next piece."""
        assert self.since is not None
        self._taking = False
        self.since = max(self.since, _begun_to_have_heard(position))

    def starts(self, position: int, expected: float) -> float:
        """Monotonic seconds at which the first sample is heard; `expected` before one was given."""
        since = self.since or expected
        # A listener who doesn't take the samples that are there has enough to hear.
        return max(since, _begun_to_have_heard(position)) if self._taking else since

    def heard_gap(self, position: int) -> bool:
        """Whether the listener had heard everything before now, when the next samples are there.

        If so, the clock stood still meanwhile and is moved.
        """
        if self.since is None or (now := _begun_to_have_heard(position)) <= self.since:
            return False
        self.since = now
        return True


def _begun_to_have_heard(position: int) -> float:
    """The time at which a listener began who has just heard so many samples without a gap."""
    return time.monotonic() - position / SAMPLE_RATE
