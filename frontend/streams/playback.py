"""Playback: a stream's samples, joined and given to its listener, and the clock that says when he hears them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from frontend.streams.joins import Joiner
from frontend.streams.planned import PlannedSegment
from frontend.streams.playback_clock import PlaybackClock
from shm.audio import Pcm


class Playback:
    """One listener. Each segment's pieces are pushed in order, then the segment is ended; at the end `finish`."""

    def __init__(self) -> None:
        self.clock = PlaybackClock()
        self._joiner = Joiner()

    @property
    def position(self) -> int:
        """Samples given to the listener so far."""
        return self._joiner.position

    @property
    def placed(self) -> tuple[int, int] | None:
        """See `Joiner.placed`."""
        return self._joiner.placed

    @property
    def begun(self) -> bool:
        """Whether the listener has had a first sample."""
        return self.clock.since is not None

    def push(self, piece: Pcm) -> list[Pcm]:
        """More samples of the present segment; returns those that can be given now."""
        return self._joiner.push(piece)

    def end(self, planned: PlannedSegment) -> None:
        """All of the present segment was pushed."""
        self._joiner.end(planned.segment.cut, planned.speed, planned.segment.pause)

    def finish(self) -> list[Pcm]:
        """The samples that were held back for a segment that doesn't follow."""
        return self._joiner.finish()

    def give(self, pieces: Iterable[Pcm]) -> Iterator[Pcm]:
        """Yield the pieces, and keep the clock: it stands still while the listener doesn't ask for the next one."""
        for samples in pieces:
            self.clock.give()
            yield samples
            self.clock.ask(self.position)

    def heard_gap(self) -> bool:
        """Whether the listener had heard everything before now, when the next samples are there."""
        return self.clock.heard_gap(self.position)
