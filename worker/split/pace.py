"""Durations at high speeds, and a sound in less time.

Asked for a high speed, the model swallows sounds: its pitch and energy no longer rise in the time that is left, and a
sentence's first phonemes fade in. So the prosody of a fast segment is that of the voice's own pace, in less time.
Pauses give the most and stops the least. The model's own limit stays: a unit (25 ms) for each sign of the script.

Above `MADE` the segment is made at that pace, and its sound is shortened by overlap-add of similar pieces (WSOLA:
Verhelst and Roelands, ICASSP 1993), at each phoneme by what it gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shm.audio import Pcm
from worker.engine import Utterance
from worker.split.inflections import lasting
from worker.split.segments.segment import Prosody
from worker.split.segments.windows import DURATION_SAMPLES, FRAME_SAMPLES

FAST = 1.25
"""Highest speed that the model is asked for by itself."""

MADE = FAST
"""Highest speed at which sound is made: above, it is shortened."""

_GIVES = {
    **dict.fromkeys(',.;:!?—…"()“”', 1.3),
    **dict.fromkeys("AIOQWYaeiouyæøœɐɑɒɔɘəɚɛɜɝɞɤɨɪɯɵʉʊʌʏᵊᵻː", 1.05),
    **dict.fromkeys("bcdkpqtɖɟɡɢɾʈʔʣʤʥʦʧʨ", 0.85),
}
"""Share that a phoneme gives up of its time; others give 1."""


def hastened(prosody: Prosody, script: str, speed: float) -> Prosody:
    """The prosody of a segment, made at the voice's own pace, at a speed above 1."""
    wanted = _shorter(prosody.durations, script, speed, np.minimum(prosody.durations, 1))
    # Rounded so that no error adds up; a phoneme that sounds keeps a unit.
    durations = np.diff(np.rint(np.cumsum(wanted)).astype(np.int64), prepend=0)
    return lasting(prosody, np.maximum(durations, np.minimum(prosody.durations, 1)))


def shares(own: NDArray[np.int64], made: NDArray[np.int64], utterance: Utterance) -> NDArray[np.float64]:
    """Share of its time in the sound that each phoneme keeps; `own` and `made`: durations at the voice's own pace, and
    in the sound. Words whose time is given keep all of it."""
    wanted = _shorter(own, utterance.script, utterance.speed, np.zeros(len(own)))
    kept = np.divide(wanted, made, out=np.ones(len(own)), where=made > 0)
    for span in utterance.inflected:
        if span.seconds:
            kept[span.start + 1 : span.end + 1] = 1.0
    return kept


def _shorter(own: NDArray[np.int64], script: str, speed: float, shortest: NDArray[Any]) -> NDArray[np.float64]:
    gives = np.array([1.0, *(_GIVES.get(phoneme, 1.0) for phoneme in script), 1.0])
    least, most = 0.0, 10.0  # exponents: of the shortest time and of the voice's own
    for _ in range(30):
        middle = (least + most) / 2
        if np.maximum(own * np.exp(-middle * gives), shortest).sum() > own.sum() / speed:
            least = middle
        else:
            most = middle
    shorter: NDArray[np.float64] = np.maximum(own * np.exp(-most * gives), shortest)
    return shorter


_PIECE = 160
"""Samples (6.7 ms) in which the sound passes from before what it leaves out to after it."""

_REACH = 240
"""Most samples by which a piece lies before or after its time, where it fits better: half a period of 50 Hz."""

_FLOOR = 1e4
"""Power below which samples are no sound that anything must fit."""


class Shortening:
    """A segment's sound in less time at its own pitch, as its blocks come.

    All sums that decide are of whole numbers that a float holds exactly, so that equal blocks give equal samples
    everywhere.
    """

    def __init__(self, durations: NDArray[np.int64], kept: NDArray[np.float64], begin: int, end: int) -> None:
        """`kept`: share of each of the durations; `begin`, `end`: frames at 80 Hz of the segment that are made."""
        made, heard = (
            np.concatenate([[0.0], np.cumsum(each)]) * DURATION_SAMPLES for each in (durations, durations * kept)
        )
        self._made = np.clip(made, begin * FRAME_SAMPLES, end * FRAME_SAMPLES)
        self._heard = np.interp(self._made, made, heard)
        self.heard = durations * kept, float(self._heard[0]) / DURATION_SAMPLES
        """Durations in the shorter sound, and units of them before its beginning."""
        self._made, self._heard = self._made - self._made[0], self._heard - self._heard[0]
        self._length = round(float(self._heard[-1]))
        self._before = np.zeros(0)
        """Samples that are still needed, from `_dropped` on."""
        self._dropped = 0
        self._next = 0
        """Sample at which the last piece goes on."""
        self._given = 0
        self._rise = 0.5 - 0.5 * np.cos(np.pi * (np.arange(_PIECE) + 0.5) / _PIECE)

    def shortened(self, sound: Iterable[tuple[int, Pcm, bool]]) -> Iterator[tuple[int, Pcm, bool]]:
        """The sound's blocks, each with its offset and a flag for the last one."""
        for _, made, last in sound:
            offset = self._given
            samples = self._samples(made, last)
            if len(samples):
                yield offset, samples, last

    def _samples(self, made: Pcm, last: bool) -> Pcm:
        """All that is certain after the sound's next samples; may be empty, unless they are the `last` ones."""
        silence = np.zeros(4 * _PIECE + 2 * _REACH if last else 0)
        self._before = np.concatenate([self._before, made, silence])
        pieces: list[NDArray[np.float64]] = []
        begin = self._given
        while self._given < self._length:
            middle = self._time()
            needed = max(middle + _REACH, self._next) + _PIECE
            if not last and (needed > self._dropped + len(self._before) or self._given + _PIECE >= self._length):
                break
            old, place = self._from(self._next), self._fitting(middle)
            pieces.append(old + (self._from(place) - old) * self._rise)
            self._next, self._given = place + _PIECE, self._given + _PIECE
        unneeded = max(min(self._next, self._time() - _REACH) - self._dropped, 0)
        self._before, self._dropped = self._before[unneeded:], self._dropped + unneeded
        found: Pcm = np.rint(np.concatenate([np.zeros(0), *pieces])).astype(np.int16)
        return found[: self._length - begin]

    def _time(self) -> int:
        return round(float(np.interp(self._given, self._heard, self._made)))

    def _from(self, sample: int, count: int = _PIECE) -> NDArray[np.float64]:
        begin = sample - self._dropped
        return self._before[begin : begin + count]

    def _fitting(self, middle: int) -> int:
        """The sample near `middle` from which on the sound is most like what would come by itself."""
        first = max(middle - _REACH, 0)
        if first <= self._next <= middle + _REACH:
            return self._next
        near = self._from(first, middle + _REACH - first + _PIECE)
        power = np.cumsum(np.concatenate([[0.0], near * near]))
        likeness = np.correlate(near, self._from(self._next)) / np.sqrt(
            power[_PIECE:] - power[:-_PIECE] + _PIECE * _FLOOR
        )
        return first + int(np.argmax(likeness))
