"""Playback: the samples that its listener is given, and when."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.streams.joins import FADE, LONGEST_LEAD
from frontend.streams.playback import Playback
from frontend.streams.segments import PlannedSegment
from shm.audio import SAMPLE_RATE
from text.words.performer import Performer
from text.words.segment import Cut, Segment


@pytest.mark.parametrize(("asked", "speed", "seconds"), [(None, 1.0, 0.43), (None, 2.0, 0.215), (1.5, 2.0, 1.5)])
def test_a_silence_is_given_as_far_as_the_segments_pause_has_room(
    asked: float | None, speed: float, seconds: float
) -> None:
    playback = Playback()
    planned = PlannedSegment(Segment("a", "a", 1, Cut.SENTENCE, pause=asked), Performer((), "en-us"), speed, 0)
    speech = np.full(SAMPLE_RATE, 9000, np.int16)
    pieces = playback.push(np.concatenate((speech, np.zeros(2 * SAMPLE_RATE, np.int16))), planned)
    assert sum(map(len, pieces)) == SAMPLE_RATE + round(seconds * SAMPLE_RATE) - LONGEST_LEAD - FADE
