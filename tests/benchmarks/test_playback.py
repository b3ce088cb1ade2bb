"""Samples that count as audible, and pauses that count as gaps."""

import numpy as np
import pytest

from benchmarks.measuring.playback import FirstAudible, play
from shm.audio import SAMPLE_RATE

SECOND = 2 * SAMPLE_RATE
"""Bytes."""


def pcm(*samples: int) -> bytes:
    return np.array(samples, dtype="<i2").tobytes()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_first_audible_sample_is_found_however_the_bytes_are_cut(size: int) -> None:
    """Silence up to the threshold, then -65: sample 5, in whichever piece its second byte is."""
    data = pcm(0, 64, -64, 0, 10, -65, 0, 3000)
    first = FirstAudible()
    found = [start for start in range(0, len(data), size) if first.push(data[start : start + size])]
    assert first.sample == 5
    assert len(found) == 1
    assert found[0] <= 11 < found[0] + size


def test_silence_is_never_audible() -> None:
    first = FirstAudible()
    assert not first.push(pcm(*[64, -64] * 500))
    assert first.sample is None


def test_the_loudest_negative_sample_is_audible() -> None:
    first = FirstAudible()
    assert first.push(pcm(-32768))


def test_what_comes_ahead_of_its_time_has_no_gap() -> None:
    """A second of audio at 0, then at 0.5 and 1.9: each before the listener has nothing left."""
    found = play([(0.0, SECOND), (0.5, SECOND), (1.9, SECOND)])
    assert (found.underruns, found.gap_seconds, found.audio_seconds) == (0, 0.0, 3.0)


def test_each_late_piece_is_one_gap_and_moves_the_clock() -> None:
    """Due at 11 and there at 11.5: half a second's gap; then 13 is due at 12.5, and the next in time at 13.9."""
    found = play([(10.0, SECOND), (11.5, SECOND), (13.0, SECOND), (13.9, SECOND)])
    assert found.underruns == 2
    assert found.gap_seconds == pytest.approx(1.0)


def test_less_than_a_player_has_in_hand_is_no_gap() -> None:
    """A piece 10 ms late is none; but lateness adds up until it is one."""
    tenth = SECOND // 10
    assert not play([(0.0, tenth), (0.11, tenth)]).underruns
    assert play([(0.0, tenth), (0.11, tenth), (0.22, tenth), (0.33, tenth)]).underruns == 1


def test_a_stream_without_a_byte_has_no_audio() -> None:
    assert play([]).audio_seconds == 0
