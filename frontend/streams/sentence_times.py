"""Samples at which a stream's sentences begin for its listener."""

from __future__ import annotations

from frontend.contract.sentence_timing import SentenceTiming
from frontend.streams.planned import PlannedSegment
from frontend.streams.playback import Playback


class SentenceTimes:
    """Sentences whose audio has begun, each reported once. A segment holds at most one sentence's beginning."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._begun: list[SentenceTiming] = []
        self._told = -1
        """Number of the last sentence that was reported."""

    def tell(self, segment: PlannedSegment, ended: bool = False) -> None:
        """Report the sentence that begins with the segment, once its position is known; a silent one's at its end."""
        sentence = segment.segment.units[0].sentence if segment.segment.units else None
        if sentence is None or sentence.number <= self._told or not (self._playback.placed or ended):
            return
        _, start = self._playback.placed or (0, self._playback.position)
        self._told = sentence.number
        self._begun.append(SentenceTiming(sentence.number, sentence.text, start))

    def take(self) -> list[SentenceTiming]:
        """Return the sentences reported since the last call."""
        begun, self._begun = self._begun, []
        return begun
