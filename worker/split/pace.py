"""Durations at high speeds.

Asked for a high speed, the model swallows sounds: its pitch and energy no longer rise in the time that is left, and a
sentence's first phonemes fade in. So the prosody of a fast segment is that of the voice's own pace, in less time.
Pauses give the most and stops the least. The model's own limit stays: a unit (25 ms) for each sign of the script.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worker.split.inflections import lasting
from worker.split.segments.segment import Prosody

FAST = 1.25
"""Highest speed that the model is asked for by itself."""

_GIVES = {
    **dict.fromkeys(',.;:!?—…"()“”', 1.3),
    **dict.fromkeys("AIOQWYaeiouyæøœɐɑɒɔɘəɚɛɜɝɞɤɨɪɯɵʉʊʌʏᵊᵻː", 1.05),
    **dict.fromkeys("bcdkpqtɖɟɡɢɾʈʔʣʤʥʦʧʨ", 0.85),
}
"""Share that a phoneme gives up of its time; others give 1."""


def hastened(prosody: Prosody, script: str, speed: float) -> Prosody:
    """The prosody of a segment, made at the voice's own pace, at a speed above 1."""
    own = prosody.durations.astype(float)
    gives = np.array([1.0, *(_GIVES.get(phoneme, 1.0) for phoneme in script), 1.0])
    least, most = 0.0, 10.0  # exponents: of the shortest time and of the voice's own
    for _ in range(30):
        middle = (least + most) / 2
        if _given(own, gives, middle).sum() > own.sum() / speed:
            least = middle
        else:
            most = middle
    wanted = _given(own, gives, most)
    # Rounded so that no error adds up; a phoneme that sounds keeps a unit.
    durations = np.diff(np.rint(np.cumsum(wanted)).astype(np.int64), prepend=0)
    return lasting(prosody, np.maximum(durations, np.minimum(prosody.durations, 1)))


def _given(own: NDArray[np.float64], gives: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    shorter: NDArray[np.float64] = np.maximum(own * np.exp(-exponent * gives), np.minimum(own, 1))
    return shorter
