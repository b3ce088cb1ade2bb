"""Deadlines of a stream's samples."""

from __future__ import annotations

import time

from frontend.contract.request import SpeechRequest
from frontend.contract.urgency import Urgency
from frontend.streams.planned import PlannedSegment
from frontend.streams.playback import Playback
from frontend.streams.segment_queue import SegmentQueue
from shm.audio import SAMPLE_RATE


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
