"""The frames of a short segment that run, and how many frames each of them counts for."""

import numpy as np
import pytest

from worker.split.segments.segment import Prosody
from worker.split.silence import shortened


def prosody(units, audible, first_pad=None):
    """A segment of so many units of 25 ms, with audible energy in a range of them."""
    energy = np.full((1, 2 * units), -9.0)
    energy[:, 2 * audible[0] : 2 * audible[1]] = 5.0
    pad = audible[0] if first_pad is None else first_pad
    durations = np.array([pad, units - pad - 1, 1])
    return Prosody(np.zeros(0), np.zeros((1, 2 * units)), energy, durations, np.zeros((1, 256)))


def test_silence_is_sampled_and_speech_is_complete():
    """61 units, of which 14 to 42 are audible: 12 are the lead, and four after the last audible one are heard."""
    part = shortened(prosody(61, (14, 42)))
    units, weights = part.frames[::2] // 2, part.weights[::2]
    assert dict(zip(units.tolist(), weights.tolist(), strict=True)) == (
        {0: 1, 6: 11} | dict.fromkeys(range(12, 46), 1) | {49: 7, 56: 7, 60: 1}
    )
    assert part.frames[part.begin] == 24 and part.heard == 2 * (46 - 12)


@pytest.mark.parametrize("units", [3, 20, 67])
@pytest.mark.parametrize("begin", [0, 2, 3, 4, 30])
@pytest.mark.parametrize("silent_end", [0, 2, 3, 4, 25])
def test_every_frame_counts_once(units, begin, silent_end):
    begin = min(begin, units - 1)
    given = prosody(units, (begin, max(begin + 1, units - silent_end)))
    part = shortened(given)
    assert part.weights.sum() == given.frames
    assert np.all(np.diff(part.frames) > 0) and {part.frames[0], part.frames[-1]} == {0, given.frames - 1}
    heard = part.frames[part.begin : part.begin + part.heard]
    assert np.array_equal(heard, np.arange(given.lead, given.lead + part.heard)), "without a gap"
    assert np.all(part.weights[part.begin : part.begin + part.heard] == 1)
    audible = np.flatnonzero(given.energy.ravel() > 0)
    assert set(audible) <= set(heard)


def test_a_segment_without_energy_is_heard_to_its_end():
    """Silence that the energy doesn't explain may be a whisper."""
    part = shortened(prosody(30, (0, 0), first_pad=9))
    assert part.frames[part.begin + part.heard - 1] == 59
