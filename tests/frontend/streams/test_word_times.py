"""Word times as the listener hears them: the silence that a join removes before a word isn't counted."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.streams.joins import LONGEST_LEAD, Joiner
from frontend.streams.segments import PlannedSegment
from frontend.streams.stream import word_timings
from shm.audio import SAMPLE_RATE, Pcm
from text.words.performer import Performer
from text.words.segment import Cut, Segment, SpokenWord


def sound(silence: int, length: int = 4800) -> Pcm:
    return np.concatenate([np.zeros(silence), np.full(length, 9000)]).astype(np.int16)


@pytest.mark.parametrize("pieces", [1, 7])
def test_a_word_begins_where_it_is_heard(pieces: int) -> None:
    """Two segments, each of one word after a second of silence; the times are those of the sound in what was given."""
    joiner = Joiner()
    given: list[Pcm] = []
    told: list[float] = []
    for index in range(2):
        word = SpokenWord("word", "word", 0, 4)
        spoken = Segment("word", "word", 4, Cut.SENTENCE, (word,))
        segment = PlannedSegment(spoken, Performer((), "en-us"), 1.0, 0, index=index)
        segment.marks = [(0, SAMPLE_RATE), (4, SAMPLE_RATE + 4800)]
        for piece in np.array_split(sound(SAMPLE_RATE), pieces):
            given += [part.copy() for part in joiner.push(piece)]
        assert joiner.placed is not None
        told += [word.start * SAMPLE_RATE for word in word_timings(segment, *joiner.placed, SAMPLE_RATE)]
        joiner.end(Cut.SENTENCE, 1.0)
    given += joiner.finish()
    loud = np.flatnonzero(np.concatenate(given) > 8000)
    begins = [loud[0], loud[np.flatnonzero(np.diff(loud) > 1)[0] + 1]]
    assert told == pytest.approx(begins, abs=SAMPLE_RATE * 0.006)
    assert told[0] <= LONGEST_LEAD * SAMPLE_RATE, "a second of silence was taken away"
