"""Inaudible joins: a stream's segments one after another, with the silence between them that the text demands.

An engine begins and ends every segment with silence of its own length, as if a text began and ended there. Between two
segments this silence is kept as far as the punctuation's pause allows; missing silence is added, the rest is cut off.
Every segment's first and last 5 ms are faded in and out: they are silence, unless the engine's sound begins or ends
abruptly, where the fade prevents a click.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm
from text.words.segment import Cut

LEAD = 0.020
"""Seconds of silence kept before the first audible sample: the soft beginning of a consonant."""

LONGEST_LEAD = 0.050
"""Seconds of silence kept before the first audible sample after a pause that has room for them: an f or h begins
inaudibly for up to 50 ms."""

TRAIL = 0.040
"""Seconds of silence kept after the last audible sample, even in a shorter pause: a vowel dies away slowly."""

FADE = 0.005

PAUSES: Mapping[Cut, float] = {
    Cut.PARAGRAPH: 0.7,
    Cut.SENTENCE: 0.43,
    Cut.CLAUSE: 0.36,
    Cut.PHRASE: 0.06,
    Cut.WORD: 0.06,
    Cut.INSIDE: 0.0,
    Cut.SEAM: 0.0,
}
"""Seconds of silence between segments at speed 1: at clauses and sentences the middle of the published model's own
pauses inside segments, so that one stream doesn't have two kinds of pauses."""


class Joiner:
    """Joins one stream's segments. The result doesn't depend on the sizes of the pieces in which samples arrive.

    Call `push` with each segment's samples as they arrive, then `end`; after the last segment call `finish`. Returned
    samples are copies that share no memory with a ring.
    """

    def __init__(self, sample_rate: int = SAMPLE_RATE) -> None:
        """`sample_rate`: samples per second of the stream's engine."""
        self.sample_rate = sample_rate
        self._lead, self._longest_lead, self._trail = (
            round(each * sample_rate) for each in (LEAD, LONGEST_LEAD, TRAIL)
        )
        self._fade = round(FADE * sample_rate)
        self._rise: NDArray[np.float32] = np.linspace(0, 1, self._fade + 1, dtype=np.float32)[:-1]
        """Factors on the first samples of a segment; backwards, on its last ones."""
        self.position = 0
        """Samples returned so far."""
        self.placed: tuple[int, int] | None = None
        """Position of the current segment: its sample `placed[0]` is the stream's sample `placed[1]`. None until the
        segment sounds. Nothing is cut out inside a segment, so this pair places all its samples."""
        self._held: Pcm = _NOTHING
        """Samples of the current segment that may be the silence before its speech, or its end."""
        self._seen = 0
        """Samples received of the current segment."""
        self._last: Pcm = _NOTHING
        """End of the previous segment, from its last speech on, with all trailing silence that its engine made."""
        self._speech = 0
        """Number of samples in `_last` that are speech."""
        self._rising = 0
        """Number of samples of the current segment's fade-in that are done."""
        self._pause = 0
        """Samples wanted between the speech of the previous segment and that of the next one."""
        self._silent = 0
        """Samples of silence given since the current segment's latest speech."""
        self._drained = 0
        """Samples of the previous segment's trailing silence that were given before its pause."""
        self._asked = False
        """True if the text itself asks for that pause."""
        self._goes_on = False
        """True if the next samples are those of the same run: no silence of theirs is left out."""

    def push(self, samples: Pcm, pause: float = 0.0) -> list[Pcm]:
        """Take more samples of the current segment; return the samples that may be heard now.

        Args:
            samples: shape [n].
            pause: seconds of silence after the segment, if they are known (`pause_after`). As much silence as they have
                room for is heard at once, whether speech follows it or the segment ends; silence beyond that is held
                until that is known, and a listener without a buffer would hear a gap before the next samples come.
        """
        self._seen += len(samples)
        held = np.concatenate((self._held, self._faded(samples)))
        audible = _audible(held)
        before: list[Pcm] = []
        if self.placed is None and self._goes_on:
            before, self._last, self._goes_on = self._given(self._faded_out(self._last)), _NOTHING, False
            self._rising, self.placed = 0, (0, self.position)
            held = self._faded(held)
        elif self.placed is None:
            if not len(audible):
                self._held = held[-self._longest_lead :]
                return []
            begin = max(0, int(audible[0]) - min(max(self._lead, self._pause - self._trail), self._longest_lead))
            before = self._pause_before(margin=int(audible[0]) - begin)
            dropped = self._seen - len(held) + begin
            self._rising = 0
            self.placed = (dropped, self.position)
            held = self._faded(held[begin:])
            audible -= begin
        # The end of the speech, with enough samples to fade, is held until it is known if more speech follows.
        speech = int(audible[-1]) + 1 if len(audible) else -self._silent
        stays = max(self._trail, round(pause * self.sample_rate) - self._longest_lead) - self._fade
        sure = max(0, min(speech + stays, len(held) - self._fade))
        self._silent = max(0, sure - speech)
        self._held = held[sure:]
        return [*before, *self._given(held[:sure])]

    def _faded(self, samples: Pcm) -> Pcm:
        """Fade in the current segment's next samples: the first of them rise from 0."""
        rise = self._rise[self._rising : self._rising + len(samples)]
        if not len(rise) or self.placed is None:
            return samples
        self._rising += len(rise)
        return np.concatenate((np.rint(samples[: len(rise)] * rise).astype(np.int16), samples[len(rise) :]))

    def _pause_before(self, margin: int) -> list[Pcm]:
        """End of the previous segment, and the silence that its pause needs beyond that and the `margin` that
        follows."""
        room = max(self._trail, self._pause - margin) - self._drained
        tail, self._last = self._last[: self._speech + max(room, 0)], _NOTHING
        zeros, self._pause = self._pause - self._drained, 0
        if len(tail) or self._drained:
            zeros -= len(tail) - self._speech + margin
        self._drained = 0
        return self._given(self._faded_out(tail)) + self._given(np.zeros(max(zeros, 0), np.int16))

    def end(self, cut: Cut, speed: float, pause: float | None = None) -> None:
        """End the current segment.

        Args:
            cut, speed, pause: as for `pause_after`.
        """
        wanted = round(pause_after(cut, speed, pause) * self.sample_rate)
        if self.placed is None:
            self._pause = max(self._pause, wanted) if pause is None else self._pause + wanted
        else:
            audible = _audible(self._held)
            self._last, self._pause, self._drained = self._held, wanted, self._silent
            self._speech = int(audible[-1]) + 1 if len(audible) else 0
        self._asked = pause is not None
        if cut is Cut.SEAM and self.placed is not None:
            self._speech, self._drained, self._goes_on = len(self._held), 0, True
        self._held = _NOTHING
        self._seen = self._silent = 0
        self.placed = None

    def drain(self) -> list[Pcm]:
        """The end of the last segment, before it is known if another one follows; call it after `end`.

        A next segment's pause is shortened by the silence that is given here.
        """
        last, self._last = self._last, _NOTHING
        kept = last[: self._speech + max(0, max(self._trail, self._pause - self._longest_lead) - self._drained)]
        self._drained += len(kept) - self._speech
        self._speech = 0
        return self._given(self._faded_out(kept))

    def finish(self) -> list[Pcm]:
        """The end of the last segment, with as much of its own silence as its pause has room for.

        A stream that never sounded consists of its pause alone; a pause that the text asks for is kept whole.
        """
        last, self._last = self._last, _NOTHING
        if not self.position + len(last):
            return self._given(np.zeros(self._pause, np.int16))
        kept = last[: self._speech + max(0, max(self._trail, self._pause) - self._drained)]
        missing = self._speech + self._pause - self._drained - len(kept) if self._asked else 0
        return self._given(self._faded_out(kept)) + self._given(np.zeros(max(missing, 0), np.int16))

    def _faded_out(self, samples: Pcm) -> Pcm:
        """Fade out the samples: the last of them fall to 0. Few samples get the last part of the fade."""
        fall = self._rise[: len(samples)][::-1]
        kept = len(samples) - len(fall)
        return np.concatenate((samples[:kept], np.rint(samples[kept:] * fall).astype(np.int16)))

    def _given(self, samples: Pcm) -> list[Pcm]:
        self.position += len(samples)
        return [samples] if len(samples) else []


def pause_after(cut: Cut, speed: float, pause: float | None = None) -> float:
    """Seconds of silence after a segment.

    Args:
        cut: the kind of cut at which the segment ends.
        speed: the pace at which the segment is spoken; pauses are divided by it.
        pause: seconds of silence after it that the text asks for, whatever the cut.
    """
    return PAUSES[cut] / speed if pause is None else pause


_NOTHING: Pcm = np.zeros(0, np.int16)


def _audible(samples: Pcm) -> NDArray[np.intp]:
    return np.flatnonzero((samples > AUDIBLE) | (samples < -AUDIBLE))
