"""Word times in ElevenLabs' form: times of characters, relative to the audio that the message covers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from shm.timing import WordTiming


class Alignments:
    """Divides a context's words over its audio messages.

    An alignment covers exactly the audio since the last alignment: the last character's start and duration add up to
    its length. Clients add these sums up to know where the next alignment begins, unless times are `absolute`: seconds
    from the context's beginning, to which LiveKit's plugin adds nothing. A word is in the message in which
    it begins, with a space after it, because clients take a word as complete at its space.
    """

    def __init__(self, *, absolute: bool = False) -> None:
        self._absolute = absolute
        self._words: deque[WordTiming] = deque()
        self._covered_ms = 0
        self.covered_words: Sequence[WordTiming] = ()
        """The words of the latest alignment."""

    def __len__(self) -> int:
        """Words of which no message has told."""
        return len(self._words)

    @property
    def covered_ms(self) -> int:
        """Milliseconds of audio that the alignments so far cover."""
        return self._covered_ms

    def resume(self, covered_ms: int) -> None:
        """Continue after the alignments of a front that was killed, before any word is added."""
        self._covered_ms = covered_ms

    def add(self, words: Sequence[WordTiming]) -> None:
        """Take words that begin in audio to come."""
        self._words += words

    def cover(self, seconds: float) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The alignment of the written and of the normalised text for the audio up to that time (seconds from the
        context's beginning); None if no word begins in it."""
        found: list[WordTiming] = []
        while self._words and self._words[0].start < seconds:
            found.append(self._words.popleft())
        if not found:
            return None
        self.covered_words = found
        # Both ends are rounded on one clock, so that the sums don't drift from the audio.
        start, end = self._covered_ms, round(seconds * 1000)
        self._covered_ms = end
        origin = 0 if self._absolute else start
        spans = []
        for word, following in pairwise([*found, None]):
            assert word is not None
            begins = _within(round(word.start * 1000), start, end)
            limit = end if following is None else _within(round(following.start * 1000), begins, end)
            times = (begins, _within(round(word.end * 1000), begins, limit), limit)
            spans.append((times[0] - origin, times[1] - origin, times[2] - origin))
        written = [word.word for word in found]
        return _characters(written, spans), _characters([word.said or word.word for word in found], spans)


NO_CHARACTERS: dict[str, Any] = {"chars": [], "charStartTimesMs": [], "charDurationsMs": []}


def _characters(words: Sequence[str], spans: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """Three lists of equal length. A span has a word's begin and end, and the end of the space after it, in ms."""
    chars: list[str] = []
    starts: list[int] = []
    durations: list[int] = []
    for word, (begin, end, limit) in zip(words, spans, strict=True):
        edges = [begin + (end - begin) * place // len(word) for place in range(len(word) + 1)] if word else [end]
        chars += [*word, " "]
        starts += edges
        durations += [later - earlier for earlier, later in pairwise([*edges, limit])]
    return {"chars": chars, "charStartTimesMs": starts, "charDurationsMs": durations}


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))
