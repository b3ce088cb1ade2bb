"""Floats to int16: exact where they fit, clipped where they don't, refused where they are no numbers."""

import numpy as np
import pytest

from worker.engine import EngineError
from worker.pcm import to_pcm


def test_every_level_is_exact():
    levels = np.arange(-32_767, 32_768)
    assert np.array_equal(to_pcm((levels / 32_767).astype(np.float32)), levels)


def test_too_loud_is_clipped_and_not_wrapped():
    assert to_pcm(np.array([1.5, -7.0, 3e38, -3e38], dtype=np.float32)).tolist() == [32_767, -32_767, 32_767, -32_767]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(EngineError, match="no numbers"):
        to_pcm(np.array([0.1, bad, 0.1], dtype=np.float32))


def test_no_audio_is_refused():
    with pytest.raises(EngineError, match="no audio"):
        to_pcm(np.zeros(0, dtype=np.float32))
