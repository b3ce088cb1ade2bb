"""Word times of a segment: an engine's marks, mapped onto written words and onto seconds of the joined stream; and its
visemes, the shapes of a mouth that says its phonemes, for avatars.

The visemes' names are Oculus' (https://developers.meta.com/horizon/documentation/unity/audio-ovrlipsync-viseme-reference/),
their numbers Azure's (https://learn.microsoft.com/azure/ai-services/speech-service/how-to-speech-synthesis-viseme).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from shm.timing import Mark, VisemeTiming, WordTiming
from text.words.segment import SpokenWord

_DECIMALS = 4
"""A sample is 0.04 ms."""


def align(words: Sequence[SpokenWord], marks: Sequence[Mark], to_stream: Callable[[int], float]) -> list[WordTiming]:
    """A segment's words: starts don't fall, and a word ends at the next one's start or before.

    A word begins with the first mark inside it, and ends with the mark that is next after it. Without one of its own
    (an engine that runs words together) it has its share of the time between its neighbours' marks, by its length.
    A silent word (its range is empty) has no length and stands where the word before it ends. A part that only
    continues a word of the segment before (`written` is "") is left out: that word was told there.

    Args:
        words: with ranges in the script that don't overlap, in order.
        marks: all of the segment's, as `shm.messages.Marks` has them.
        to_stream: for a sample of the segment the seconds of the stream after which it is heard; they must not fall.

    Raises:
        ValueError: there are no marks.
    """
    if not marks:
        raise ValueError("a segment without marks can't be aligned")
    spans = _Spans(marks)
    sounding = [word for word in words if word.end > word.start]
    starts = [spans.start(word) for word in sounding]
    ends = [spans.end(word, following) for word, following in pairwise([*sounding, None]) if word]
    times = zip(map(to_stream, starts), map(to_stream, ends), strict=True)
    place = to_stream(starts[0] if starts else marks[-1][1])
    timings: list[WordTiming] = []
    for word in words:
        start, end = next(times) if word.end > word.start else (place, place)
        place = end
        if word.written:
            timing = WordTiming(word.written, word.said, round(start, _DECIMALS), round(end, _DECIMALS))
            if word.bookmarks or word.bookmarks_after:
                timing = replace(timing, bookmarks=word.bookmarks, bookmarks_after=word.bookmarks_after)
            timings.append(timing)
    return timings


def without_overlaps(words: Sequence[WordTiming]) -> list[WordTiming]:
    """A whole text's words, each ending at the next one's start at the latest.

    Across a join one may end later: an engine counts the silence that was taken away there to the word before it.
    """
    return [
        replace(word, end=max(word.start, min(word.end, following.start))) if following else word
        for word, following in pairwise([*words, None])
        if word
    ]


class _Spans:
    """Begin and end of a segment's words, in samples."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        # Positions before the first mark begin with the segment.
        anchors = marks if marks[0][0] == 0 else [(0, 0), *marks]
        self._anchor_places = [place for place, _ in anchors]
        self._anchor_samples = [sample for _, sample in anchors]
        self._places = [place for place, _ in marks]
        self._samples = [sample for _, sample in marks]

    def start(self, word: SpokenWord) -> int:
        own = self._own(word)
        return self._at(word.start) if own is None else own

    def end(self, word: SpokenWord, following: SpokenWord | None) -> int:
        after = bisect_left(self._places, word.end)
        if after < len(self._places) and (following is None or self._places[after] <= following.start):
            return self._samples[after]
        own = self._own(following) if following else None
        return self._at(word.end) if own is None else own

    def _own(self, word: SpokenWord) -> int | None:
        first = bisect_left(self._places, word.start)
        return self._samples[first] if first < len(self._places) and self._places[first] < word.end else None

    def _at(self, place: int) -> int:
        """Between two marks: as if every character took the same time."""
        return round(float(np.interp(place, self._anchor_places, self._anchor_samples)))


_TABLE = (
    ("pbm", "PP", 21),
    ("fv", "FF", 18),
    ("θ", "TH", 19),
    ("ð", "TH", 17),
    ("tdTʔʈɖ", "DD", 19),
    ("kɡŋxcɣɟ", "kk", 20),
    ("ʃʒʧʤɕʨʂʐʦʣ", "CH", 16),
    ("szç", "SS", 15),
    ("nɲɳ", "nn", 19),
    ("lʎɭ", "nn", 14),
    ("ɹrɾɽʁɻ", "RR", 13),
    ("hɦ", "aa", 12),
    ("æəʌɐaᵊ", "aa", 1),
    ("ɑɒ", "aa", 2),
    ("I", "aa", 11),
    ("W", "aa", 9),
    ("ɛeAøœ", "E", 4),
    ("ɜɚɝ", "E", 5),
    ("iɪjᵻɨyʝ", "ih", 6),
    ("ɔ", "oh", 3),
    ("oOQɤ", "oh", 8),
    ("Y", "oh", 10),
    ("ʊ", "ou", 4),
    ("wuɯɥβʋ", "ou", 7),
    (' ;:,.!?—…"()“”', "sil", 0),
)
VISEMES = {phoneme: (oculus, azure) for phonemes, oculus, azure in _TABLE for phoneme in phonemes}
"""Oculus' name and Azure's number of each phoneme of the model's alphabet that has a shape of its own."""

_STRESS = "ˈˌ"
"""The time of a stress mark is that of the phoneme after it; that of any other sign, of the phoneme before it."""


def visemes_of(
    word: SpokenWord, script: str, marks: Sequence[Mark], to_stream: Callable[[int], float]
) -> tuple[VisemeTiming, ...]:
    """The word's visemes, without gaps; none if the engine doesn't mark each phoneme.

    Args:
        script: the segment's, which is phonemes of the model's alphabet.
        marks: all of the segment's.
        to_stream: for a sample of the segment the seconds of the stream after which it is heard.
    """
    places = [place for place, _ in marks]

    def begins(place: int) -> float:
        return round(to_stream(marks[min(bisect_left(places, place), len(marks) - 1)][1]), 4)

    starts: list[tuple[int, int]] = []
    stressed = None
    for place in range(word.start, word.end):
        if script[place] in _STRESS:
            stressed = place
        elif script[place] in VISEMES:
            starts.append((place if stressed is None else stressed, place))
            stressed = None
    found: list[VisemeTiming] = []
    for number, (start, place) in enumerate(starts):
        end = begins(starts[number + 1][0] if number + 1 < len(starts) else word.end)
        oculus, azure = VISEMES[script[place]]
        if found and (found[-1].oculus, found[-1].azure) == (oculus, azure):
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(VisemeTiming(oculus, azure, begins(start), end))
    return tuple(found)
