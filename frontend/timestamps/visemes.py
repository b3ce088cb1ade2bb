"""Visemes: the shapes of a mouth that says a segment's phonemes, for avatars.

The names are Oculus' (https://developers.meta.com/horizon/documentation/unity/audio-ovrlipsync-viseme-reference/), the
numbers Azure's (https://learn.microsoft.com/azure/ai-services/speech-service/how-to-speech-synthesis-viseme).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from shm.timing import Mark, VisemeTiming
from text.words.segment import SpokenWord

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
