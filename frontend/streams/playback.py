"""Playback: joins a stream's samples, gives them to its listener, and estimates when the listener hears each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from frontend.contract.request import SpeechRequest
from frontend.contract.urgency import Urgency
from frontend.streams.joins import Joiner, pause_after
from frontend.streams.segments import PlannedSegment, SegmentQueue
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
        return self._playback.clock.starts(self._playback.position, self.sounds_since or self.first_due)

    @property
    def dry_at(self) -> float:
        """Time at which its listener will have heard all samples that are made."""
        return self.starts + (self._playback.position + self._segments.ready) / SAMPLE_RATE

    def deadline(self, segment: PlannedSegment) -> float:
        """Time at which the segment's sample 0 must exist.

        The deadline is the moment at which the listener's buffer runs dry: the first sample's time plus the audio
        before the segment.
        """
        return self.starts + (self._playback.position + self._segments.samples_before(segment)) / SAMPLE_RATE
