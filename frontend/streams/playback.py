"""Playback: joins a stream's samples, gives them to its listener, and estimates when the listener hears each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from frontend.streams.joins import Joiner, pause_after
from frontend.streams.planned import PlannedSegment
from shm.audio import SAMPLE_RATE, Pcm

# A listener's clock: estimates when given samples are heard.


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


class Playback:
    """One listener's playback. Call `push` with each segment's pieces in order, then `end`; after the last one
    `finish`."""

    def __init__(self) -> None:
        self.clock = PlaybackClock()
        self._joiner = Joiner()

    @property
    def position(self) -> int:
        """Samples given to the listener so far."""
        return self._joiner.position

    @property
    def placed(self) -> tuple[int, int] | None:
        """Position of the current segment (`Joiner.placed`)."""
        return self._joiner.placed

    @property
    def begun(self) -> bool:
        """True if the listener was given a first sample."""
        return self.clock.since is not None

    @property
    def held_back(self) -> bool:
        """True while the listener was given a piece and hasn't taken it."""
        return self.clock.held_back

    def push(self, piece: Pcm, planned: PlannedSegment) -> list[Pcm]:
        """Take more samples of the current segment; return those that can be given now."""
        segment = planned.segment
        return self._joiner.push(piece, pause_after(segment.cut, planned.speed, segment.pause))

    def end(self, planned: PlannedSegment) -> None:
        """End the current segment after all its samples were pushed."""
        self._joiner.end(planned.segment.cut, planned.speed, planned.segment.pause)

    def drain(self) -> list[Pcm]:
        """The samples that were held back for a next segment, although one may follow later (`Joiner.drain`)."""
        return self._joiner.drain()

    def finish(self) -> list[Pcm]:
        """The samples that were held back for a next segment, once it is known that none follows."""
        return self._joiner.finish()

    def give(self, pieces: Iterable[Pcm]) -> Iterator[Pcm]:
        """Yield the pieces and run the clock, which stops while the listener doesn't ask for the next piece."""
        for samples in pieces:
            self.clock.give()
            yield samples
            self.clock.ask(self.position)

    def heard_gap(self) -> bool:
        """True if the listener had heard all earlier samples before the next ones arrive now."""
        return self.clock.heard_gap(self.position)
