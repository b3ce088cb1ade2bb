"""Playback: a stream's joined samples for its listener, when each is heard, and when the next are due."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from frontend.contract.request import SpeechRequest, Urgency
from frontend.streams.joins import Joiner
from frontend.streams.segments import SegmentQueue, StreamSegment
from shm.audio import SAMPLE_RATE, Pcm


class Playback(Joiner):
    """One listener's joined samples, and the listener's clock.

    The clock starts with the first sample, and stops while no samples are left to hear or the listener takes none.
    """

    def __init__(self, sample_rate: int = SAMPLE_RATE) -> None:
        super().__init__(sample_rate)
        self.since: float | None = None
        """Monotonic seconds at which the first sample was heard, moved by each stop of the clock; None before the first
        sample."""
        self._had = 0
        """Samples that the listener was given by a front that was killed: they are made again, and not heard again."""
        self.held_back = False
        """True while a piece is given and the listener hasn't asked for the next one."""

    @property
    def begun(self) -> bool:
        return self.since is not None

    def resume(self, samples: int, since: float) -> None:
        """Continue the clock of a front that was killed. `samples`: those that its listener was given."""
        self._had, self.since = samples, since or None

    def give(self, pieces: Iterable[Pcm]) -> Iterator[Pcm]:
        """Yield the pieces and run the clock, which stops while the listener doesn't ask for the next piece."""
        for samples in pieces:
            if self.position < self._had:
                yield samples
                continue
            self.since = self.since or time.monotonic()
            self.held_back = True
            yield samples
            self.held_back = False
            self.since = max(self.since, self._begun_to_have_heard())

    def starts(self, expected: float) -> float:
        """Monotonic seconds at which the first sample is heard; `expected` before one was given."""
        since = self.since or expected
        # A listener who doesn't take the available samples still has enough to hear.
        return max(since, self._begun_to_have_heard()) if self.held_back else since

    def heard_gap(self) -> bool:
        """True if the listener had heard all earlier samples before the next ones arrive now.

        The clock stopped during such a gap, and is moved by its length.
        """
        if self.since is None or self.position < self._had or (now := self._begun_to_have_heard()) <= self.since:
            return False
        self.since = now
        return True

    def _begun_to_have_heard(self) -> float:
        """The start time of a listener who has just heard all samples so far without a gap."""
        return time.monotonic() - self.position / self.sample_rate


YIELD = 3.0
"""Seconds of audio that each listener has before a stream that nobody hears gets a turn."""


class Timing:
    """A stream's deadlines. All times are seconds on the monotonic clock."""

    def __init__(self, request: SpeechRequest, segments: SegmentQueue, playback: Playback) -> None:
        self._request = request
        self._segments = segments
        self._playback = playback
        self.arrival = time.monotonic()
        self.admitted = False
        """True if the stream was admitted: the workers work for it."""
        self.first_due = 0.0
        """Time at which its first sample should exist; `Admission` sets it."""
        self.promised = 0.0
        """Time by which its first sample will exist even if much other audio is to be made; `Admission` sets it."""
        self.sounds_since: float | None = None
        """Time at which its first block arrived; None before that."""

    @property
    def sounds(self) -> bool:
        """True once its first block has arrived."""
        return self.sounds_since is not None

    def first_block(self) -> None:
        """Note the arrival of a block; only the first one counts."""
        self.sounds_since = self.sounds_since or time.monotonic()
        self._request.stages.reach("first_block")

    @property
    def starts(self) -> float:
        """Time at which its listener hears, or should hear, the first sample."""
        if self._request.urgency is not Urgency.LISTENING:
            return self.first_due
        return self._playback.starts(self.sounds_since or self.first_due)

    @property
    def dry_at(self) -> float:
        """Time at which its listener will have heard all samples that are made."""
        return self.starts + (self._playback.position + self._segments.ready) / self._playback.sample_rate

    def deadline(self, segment: StreamSegment) -> float:
        """Time at which the segment's sample 0 must exist: the moment at which the listener's buffer runs dry.

        A stream that nobody hears is never due sooner than in `YIELD` seconds: however late it is, those who listen and
        have less than that left to hear come first, and it takes the rest of the machine from those who have more.
        """
        before = self._playback.position + self._segments.samples_before(segment)
        due = self.starts + before / self._playback.sample_rate
        return due if self._request.urgency is Urgency.LISTENING else max(due, time.monotonic() + YIELD)
