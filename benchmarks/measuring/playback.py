"""A listener's clock: what was there in time, and where there was a gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shm.audio import AUDIBLE, SAMPLE_BYTES, SAMPLE_RATE

TOLERANCE = 0.02
"""Seconds that a player has in hand; arrivals later than that are heard as a gap."""

Arrival = tuple[float, int]
"""Seconds, and how many bytes came then."""


class FirstAudible:
    """Finds the first sample of speech in a stream of int16 bytes, however it is cut into pieces."""

    def __init__(self) -> None:
        self.sample: int | None = None
        """Index of the first audible sample in the stream; None until it came."""
        self._seen = 0
        self._odd = b""

    def push(self, data: bytes) -> bool:
        """More bytes; true if the first audible sample is among them."""
        if self.sample is not None:
            return False
        data = self._odd + data
        whole = len(data) - len(data) % SAMPLE_BYTES
        self._odd = data[whole:]
        samples = np.frombuffer(data[:whole], dtype="<i2").astype(np.int32)
        found = np.flatnonzero(np.abs(samples) > AUDIBLE)
        if len(found):
            self.sample = self._seen + int(found[0])
        self._seen += len(samples)
        return self.sample is not None


@dataclass(frozen=True, slots=True)
class Playback:
    """A stream's playback by a listener who began to play at its first byte."""

    underruns: int
    gap_seconds: float
    """Seconds of silence, the sum of all gaps."""
    audio_seconds: float


def play(arrivals: Sequence[Arrival], tolerance: float = TOLERANCE) -> Playback:
    """Play what came as it came. A gap moves the listener's clock: what follows it is due later by its length."""
    if not arrivals:
        return Playback(0, 0.0, 0.0)
    ends = arrivals[0][0]
    """Time at which the player runs out of audio."""
    gaps = []
    seconds = 0.0
    for time, size in arrivals:
        if time > ends + tolerance:
            gaps.append(time - ends)
        ends = max(ends, time) if time > ends + tolerance else ends
        piece = size / SAMPLE_BYTES / SAMPLE_RATE
        ends += piece
        seconds += piece
    return Playback(len(gaps), sum(gaps), seconds)
