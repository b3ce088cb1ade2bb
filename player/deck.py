"""The deck: the samples that the output takes, moment by moment, with fades and volume, and the record of their places.

The output's own thread calls `fill`; all else belongs to the event loop's thread. One lock, held for microseconds,
guards the deck and the reel that is on it.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from player.reel import NOTHING, Reel, ReelPlace
from shm.audio import SAMPLE_RATE, Pcm

FADE = SAMPLE_RATE * 20 // 1000
"""Samples of the fade before another text or sentence: 20 ms."""

SHORT_FADE = SAMPLE_RATE * 8 // 1000
"""Samples of the fade-in after a pause: 8 ms."""


def faded_out(samples: Pcm) -> Pcm:
    return _scaled(samples, np.linspace(1, 0, len(samples), dtype=np.float32))


def faded_in(samples: Pcm, risen: int) -> Pcm:
    """Samples after the first `risen` samples of a fade-in over `SHORT_FADE`; those after its end are unchanged."""
    ramp = (risen + np.arange(len(samples), dtype=np.float32)) / SHORT_FADE
    return _scaled(samples, np.minimum(ramp, 1))


def with_volume(samples: Pcm, volume: float) -> Pcm:
    """The samples at that volume, 0 to 1; at 1 they are unchanged."""
    return samples if volume == 1 else _scaled(samples, np.full(len(samples), volume, np.float32))


def _scaled(samples: Pcm, factors: NDArray[np.float32]) -> Pcm:
    scaled: Pcm = np.rint(samples * factors).astype(np.int16)
    return scaled


_REMEMBERED = 512
"""Spans of given samples that are remembered, at least 5 s of them."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Consecutive samples of one sentence that the output has taken."""

    at: int
    """Number of samples that the output had taken before."""
    reel: Reel
    place: ReelPlace
    length: int


class Deck:
    """Gives out a reel's samples while it runs, and silence otherwise."""

    def __init__(self, starved: Callable[[], None]) -> None:
        """`starved` is called in the output's thread when a running deck has run out of samples."""
        self.lock = threading.RLock()
        """Held while a reel changes."""
        self.volume = 1.0
        self.taken = 0
        """Samples that the output has taken, silence included."""
        self.running = False
        self._starved = starved
        self._reel: Reel | None = None
        self._tail: Pcm = NOTHING
        """The faded end of the samples before a jump."""
        self._risen = SHORT_FADE
        """Samples of a fade-in that have passed."""
        self._was_dry = True
        self.padding = 0
        """Samples of silence, for lack of others, that the output has taken since the last other sample."""
        self._spans: list[_Span] = []

    # -- the output's thread

    def fill(self, count: int) -> Pcm:
        """Exactly `count` samples for the output (shape [count])."""
        with self.lock:
            parts = [self._tail[:count]]
            self._tail = self._tail[count:]
            found = len(parts[0])
            if self.running and self._reel and found < count:
                for place, samples in self._reel.read(count - found):
                    self._spans.append(_Span(self.taken + found, self._reel, place, len(samples)))
                    parts.append(self._rising(samples))
                    found += len(samples)
            del self._spans[:-_REMEMBERED]
            self.taken += count
            dry = found < count
            self.padding = count - found + (0 if found else self.padding)
            starved = dry and self.running and not self._was_dry
            self._was_dry = dry
            parts.append(np.zeros(count - found, np.int16))
            volume = self.volume
        if starved:
            self._starved()
        return with_volume(np.concatenate(parts), volume)

    def _rising(self, samples: Pcm) -> Pcm:
        if self._risen >= SHORT_FADE:
            return samples
        risen, self._risen = self._risen, self._risen + len(samples)
        return faded_in(samples, risen)

    # -- the event loop's thread

    def take_back(self, count: int) -> None:
        """Take back the last `count` samples of padding, which the output rewrites."""
        with self.lock:
            self.taken -= count
            self.padding -= count

    def run(self) -> None:
        with self.lock:
            self.running, self._was_dry = True, False

    def stop(self, unheard: int) -> None:
        """Give out silence from now on, and go back to the sample that sounds: the output drops the last `unheard`
        samples that it took."""
        with self.lock:
            self.rewind(unheard)
            self.running, self._tail = False, NOTHING

    def fade(self) -> None:
        """Give out a fade and then silence; playback continues at the fade's first sample, because all samples before
        it are heard."""
        with self.lock:
            if self.running and self._reel:
                place = self._reel.place
                if not len(self._tail):
                    self._tail = faded_out(self._taken_out(FADE))
                self._reel.place, self._risen = place, 0
                self._spans.clear()
            self.running = False

    def begin(self) -> None:
        """Forget the rest of a fade that the last output hasn't taken: another output begins."""
        with self.lock:
            self._tail = NOTHING

    def jump(self, reel: Reel | None, place: ReelPlace | None = None, *, run: bool) -> None:
        """Go to that place of that reel, after a fade of what sounds now; `run`: continue there at once."""
        with self.lock:
            if self.running and self._reel and not len(self._tail):
                self._tail = faded_out(self._taken_out(FADE))
            self._reel = reel
            if reel and place:
                reel.place = place
            self._risen = SHORT_FADE
            self._spans.clear()
            self.running, self._was_dry = run, False

    def rewind(self, dropped: int) -> None:
        """Go back to the sample that sounds, because the output has lost the last `dropped` samples that it took."""
        with self.lock:
            place = self.sounding(dropped)
            if dropped and place and self._reel and place[0] is self._reel:
                self._reel.place, self._risen, self._tail = place[1], 0, NOTHING
                self._spans.clear()  # they would name places that were never heard

    def sounding(self, delay: int) -> tuple[Reel, ReelPlace] | None:
        """The reel and the place of the sample that sounds, if the output sounds `delay` samples after it took them;
        the first one after a jump that hasn't sounded. None if nothing was taken since."""
        with self.lock:
            index = bisect_right(self._spans, self.taken - delay, key=lambda span: span.at) - 1
            if not self._spans:
                return None
            span = self._spans[max(index, 0)]
            passed = min(max(self.taken - delay - span.at, 0), span.length)
            return span.reel, ReelPlace(span.place.number, span.place.offset + passed)

    def _taken_out(self, count: int) -> Pcm:
        assert self._reel
        found = [samples for _, samples in self._reel.read(count)]
        return np.concatenate(found) if found else NOTHING
