"""Times at which a stream's words sound for its listener."""

from __future__ import annotations

from dataclasses import replace

from frontend.contract.word_timing import WordTiming
from frontend.streams.planned import PlannedSegment
from frontend.streams.playback import Playback
from frontend.timestamps.align import align


class WordTimes:
    """Words whose audio has begun, reported once per segment."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._words: list[WordTiming] = []
        self._told = -1
        """Index of the last segment whose words were reported."""

    def tell(self, segment: PlannedSegment, ended: bool = False) -> None:
        """Report the segment's words once its position in the stream is known; a silent segment's words at its end."""
        if segment.index == self._told or not (self._playback.placed or ended):
            return
        own, stream = self._playback.placed or (0, self._playback.position)
        self._told = segment.index
        marks = segment.marks or [(0, 0)]  # a segment without a sound has no marks
        words = align(segment.segment.words, marks, lambda sample: stream + max(sample - own, 0))
        performer = segment.segment.performer
        self._words += [replace(word, voice=performer.name) for word in words] if performer else words

    def take(self) -> list[WordTiming]:
        """Return the words reported since the last call."""
        words, self._words = self._words, []
        return words
