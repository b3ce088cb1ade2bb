"""Levels of speech and of pauses."""

import numpy as np
import pytest

from benchmarks.measuring.hearing.level import pause_noise, speech_level

SECOND = 24_000


def tone(seconds, peak):
    return (peak * np.sin(np.arange(int(seconds * SECOND)) * 2 * np.pi * 200 / SECOND)).astype(np.int16)


def test_silence_around_speech_does_not_change_its_level():
    quiet = np.zeros(SECOND, np.int16)
    assert speech_level(np.concatenate((quiet, tone(1, 8000), quiet))) == pytest.approx(speech_level(tone(1, 8000)))
    assert speech_level(tone(1, 8000)) - speech_level(tone(1, 4000)) == pytest.approx(6.02, abs=0.01)


def test_silence_has_a_level_far_below_speech():
    assert speech_level(np.zeros(SECOND, np.int16)) == 0.0
    assert speech_level(np.zeros(0, np.int16)) == 0.0


def test_noise_in_pauses_is_told_where_samples_lie_alike():
    quiet = tone(0.5, 10)
    reference = np.concatenate((tone(0.5, 8000), quiet))
    louder = np.concatenate((tone(0.5, 8000), 4 * quiet))
    assert pause_noise(reference, louder) == pytest.approx(12, abs=0.6)
    assert pause_noise(reference, louder[1:]) is None
    assert pause_noise(tone(1, 8000), tone(1, 8000)) is None
