"""Playback: joins a stream's samples, gives them to its listener, and estimates when the listener hears each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from frontend.streams.joins import Joiner, pause_after
from frontend.streams.planned import PlannedSegment
from frontend.streams.playback_clock import PlaybackClock
from shm.audio import Pcm


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
