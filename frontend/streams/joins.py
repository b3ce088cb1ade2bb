"""Joins that can't be heard: a stream's segments one after another, with the silence between them that the text wants.

An engine begins and ends every segment with silence of its own length, as if a text began and ended there. Between two
segments stays as much of it as the pause of the punctuation has room for; missing silence is filled up, the rest is
cut off. Every segment's first and last 5 ms rise from and fall to 0: they are silence, unless the engine's sound
begins or ends at once, where they keep the join from clicking.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frontend.text.segment import Cut
from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm

LEAD = SAMPLE_RATE * 20 // 1000
"""Samples of silence that stay before the first audible one: the soft beginning of a consonant."""

LONGEST_LEAD = SAMPLE_RATE * 50 // 1000
"""The same after a pause that has room for it: an f or h begins below the audible for up to 50 ms."""

TRAIL = SAMPLE_RATE * 40 // 1000
"""Samples of silence that stay after the last audible one, even in a shorter pause: a vowel dies away slowly."""

FADE = SAMPLE_RATE * 5 // 1000

PAUSES: Mapping[Cut, float] = {
    Cut.PARAGRAPH: 0.7,
    Cut.SENTENCE: 0.43,
    Cut.CLAUSE: 0.36,
    Cut.PHRASE: 0.06,
    Cut.WORD: 0.06,
    Cut.INSIDE: 0.0,
}
"""Seconds between speech and speech at speed 1: at clauses and sentences the middle of the published model's own pauses
inside segments, so that one stream doesn't have two kinds."""


class Joiner:
    """One stream's joins. The result doesn't depend on how the samples of a segment come in pieces.

    For each segment: `push` its samples as they come, then `end`; after the last one `finish`. What is given is in
    memory of its own.
    """

    def __init__(self) -> None:
        self.position = 0
        """Samples given so far."""
        self.placed: tuple[int, int] | None = None
        """Where the present segment lies: its sample `placed[0]` is the stream's sample `placed[1]`. None until it
        sounds. Nothing is cut out inside a segment, so all its samples lie by that."""
        self._held: Pcm = _NOTHING
        """Of this segment: what may turn out to be the silence before its speech, or the end of it."""
        self._seen = 0
        """Samples of this segment."""
        self._last: Pcm = _NOTHING
        """The end of the segment before, from its last speech on, with all the silence that its engine made."""
        self._speech = 0
        """How many of those are speech."""
        self._rising = 0
        """How much of this segment's fade is behind it."""
        self._pause = 0
        """Samples wanted between that segment's speech and the next one's."""
        self._asked = False
        """The text asks for that pause itself."""

    def push(self, samples: Pcm) -> list[Pcm]:
        """More of the present segment (shape [n]); gives what may be heard now."""
        self._seen += len(samples)
        held = np.concatenate((self._held, self._faded(samples)))
        audible = _audible(held)
        before: list[Pcm] = []
        if self.placed is None:
            if not len(audible):
                self._held = held[-LONGEST_LEAD:]
                return []
            begin = max(0, int(audible[0]) - min(max(LEAD, self._pause - TRAIL), LONGEST_LEAD))
            before = self._pause_before(margin=int(audible[0]) - begin)
            dropped = self._seen - len(held) + begin
            self._rising = 0
            self.placed = (dropped, self.position)
            held = self._faded(held[begin:])
            audible -= begin
        # The end of the speech, and enough of it to fade, stays until it is known whether more follows.
        sure = max(0, min(int(audible[-1]) + 1 if len(audible) else 0, len(held) - FADE))
        self._held = held[sure:]
        return [*before, *self._given(held[:sure])]

    def _faded(self, samples: Pcm) -> Pcm:
        """The present segment's next samples, the first of them rising from 0."""
        rise = _RISE[self._rising : self._rising + len(samples)]
        if not len(rise) or self.placed is None:
            return samples
        self._rising += len(rise)
        return np.concatenate((np.rint(samples[: len(rise)] * rise).astype(np.int16), samples[len(rise) :]))

    def _pause_before(self, margin: int) -> list[Pcm]:
        """The end of the segment before, and what its pause wants beyond that and the `margin` that follows."""
        room = max(TRAIL, self._pause - margin)
        tail, self._last = self._last[: self._speech + room], _NOTHING
        zeros, self._pause = self._pause, 0
        if len(tail):
            zeros -= len(tail) - self._speech + margin
        return self._given(_faded_out(tail)) + self._given(np.zeros(max(zeros, 0), np.int16))

    def end(self, cut: Cut, speed: float, pause: float | None = None) -> None:
        """The present segment is whole.

        Args:
            cut: what it ends at.
            speed: the pace at which it is spoken: pauses are as much shorter.
            pause: seconds of silence after it that the text asks for, whatever the cut.
        """
        wanted = round((PAUSES[cut] / speed if pause is None else pause) * SAMPLE_RATE)
        if self.placed is None:
            self._pause = max(self._pause, wanted) if pause is None else self._pause + wanted
        else:
            audible = _audible(self._held)
            self._last, self._pause = self._held, wanted
            self._speech = int(audible[-1]) + 1 if len(audible) else 0
        self._asked = pause is not None
        self._held = _NOTHING
        self._seen = 0
        self.placed = None

    def finish(self) -> list[Pcm]:
        """The end of the last segment, with as much of its own silence as its pause has room for.

        What never sounded is its pause, and a pause that the text asks for is there whole.
        """
        last, self._last = self._last, _NOTHING
        if not self.position + len(last):
            return self._given(np.zeros(self._pause, np.int16))
        kept = last[: self._speech + max(TRAIL, self._pause)]
        missing = self._speech + self._pause - len(kept) if self._asked else 0
        return self._given(_faded_out(kept)) + self._given(np.zeros(max(missing, 0), np.int16))

    def _given(self, samples: Pcm) -> list[Pcm]:
        self.position += len(samples)
        return [samples] if len(samples) else []


_NOTHING: Pcm = np.zeros(0, np.int16)

_RISE: NDArray[np.float32] = np.linspace(0, 1, FADE + 1, dtype=np.float32)[:-1]


def _audible(samples: Pcm) -> NDArray[np.intp]:
    return np.flatnonzero((samples > AUDIBLE) | (samples < -AUDIBLE))


def _faded_out(samples: Pcm) -> Pcm:
    """The same samples, the last of them falling to 0. Fewer than `FADE`, they fall as if more had been before."""
    fall = _RISE[: len(samples)][::-1]
    kept = len(samples) - len(fall)
    return np.concatenate((samples[:kept], np.rint(samples[kept:] * fall).astype(np.int16)))
