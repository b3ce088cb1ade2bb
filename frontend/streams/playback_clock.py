"""A listener's clock: estimates when given samples are heard."""

from __future__ import annotations

import time

from shm.audio import SAMPLE_RATE


class PlaybackClock:
    """Starts with the first sample, and stops while no samples are left to hear or the listener takes none.

    A position is the number of samples given so far.
    """

    def __init__(self) -> None:
        self.since: float | None = None
        """Monotonic seconds at which the first sample was heard, moved by each stop of the clock; None before the first
        sample."""
        self.held_back = False
        """True while a piece is given and the listener hasn't asked for the next one."""

    def give(self) -> None:
        """Note that the listener is given a piece."""
        self.since = self.since or time.monotonic()
        self.held_back = True

    def ask(self, position: int) -> None:
        """Note that the listener asks for the next piece."""
        assert self.since is not None
        self.held_back = False
        self.since = max(self.since, _begun_to_have_heard(position))

    def starts(self, position: int, expected: float) -> float:
        """Monotonic seconds at which the first sample is heard; `expected` before one was given."""
        since = self.since or expected
        # A listener who doesn't take the available samples still has enough to hear.
        return max(since, _begun_to_have_heard(position)) if self.held_back else since

    def heard_gap(self, position: int) -> bool:
        """True if the listener had heard all earlier samples before the next ones arrive now.

        The clock stopped during such a gap, and is moved by its length.
        """
        if self.since is None or (now := _begun_to_have_heard(position)) <= self.since:
            return False
        self.since = now
        return True


def _begun_to_have_heard(position: int) -> float:
    """The start time of a listener who has just heard this many samples without a gap."""
    return time.monotonic() - position / SAMPLE_RATE
