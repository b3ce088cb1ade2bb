"""Reads what the miniature model was heard to say, with nothing of the product: words, order, samples and pauses.

The miniature's samples say which token they belong to and where in their segment they are, so the phonemes of every
segment can be read back from the audio. They are compared with a pronouncing dictionary's, word by word.
"""

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

import numpy as np
from num2words import num2words
from numpy.typing import NDArray

from tests.miniature import SPAN, expected, phase_of, token_at, vocabulary

RATE = 24_000
FADE = 120
"""Samples at either end of a segment that may be softer than the model made them: 5 ms."""

PAD = 0
PLAIN = re.compile(r"[A-Za-z0-9 .,!?'\n]*")
"""Texts that are read back: others need more than a dictionary."""

REDUCED = {"a": {"ɐ"}, "the": {"ðə", "ði"}, "to": {"tə", "tʊ", "tu"}, "and": {"ænd", "ənd", "ən"}, "an": {"ɐn", "æn"}}
"""Words whose sound depends on their neighbours."""

PAUSES = {".": (0.3, 0.9), "!": (0.3, 0.9), "?": (0.3, 0.9), ",": (0.2, 0.5), "": (0.0, 0.9)}
"""Shortest and longest silence, in seconds at speed 1, after a segment that ends so."""

_PHONEMES = {number: phoneme for phoneme, number in vocabulary.items()}


@dataclass(frozen=True)
class Heard:
    """A segment, and the silence after it."""

    phonemes: str
    pause: float
    """Seconds."""


def read(samples: NDArray[np.int16], speed: float = 1.0) -> Iterator[Heard]:
    """The segments of a whole stream.

    Raises:
        AssertionError: a sample isn't the one that belongs there, or a segment isn't whole.
    """
    span = round(SPAN / speed)
    place = 0
    while place < len(samples):
        tokens = [int(token) for token in token_at(samples[place + span // 2 :: span])]
        assert tokens[0] == PAD, f"no segment begins at sample {place}"
        tokens = tokens[1 : tokens.index(PAD, 1)]
        due = expected(tokens, speed)
        got = samples[place : place + len(due)]
        assert np.array_equal(got[FADE:-FADE], due[FADE:-FADE]), f"the segment at sample {place} is not whole"
        assert (phase_of(got[FADE:-FADE]) == np.arange(FADE, len(got) - FADE) % 360).all()
        for end in (slice(0, FADE), slice(-FADE, None)):
            assert (np.abs(got[end].astype(int)) <= np.abs(due[end].astype(int))).all()
        place += len(due)
        sounds = np.flatnonzero(samples[place:])
        silence = int(sounds[0]) - 1 if len(sounds) else len(samples) - place  # a fade begins with 0
        place += silence
        yield Heard("".join(_PHONEMES[token] for token in tokens), silence / RATE)


def check(text: str, samples: NDArray[np.int16], speed: float = 1.0) -> None:
    """Each word of a plain text was said once, in order, as the dictionary has it, with pauses where it stops.

    Raises:
        AssertionError: it wasn't.
    """
    if not PLAIN.fullmatch(text):
        return
    segments = list(read(samples, speed))
    said = " ".join(segment.phonemes for segment in segments).split()
    sounds = [sound for word in said if (sound := _bare(word))]
    words = list(_words(text))
    assert len(sounds) == len(words), f"{words} were to be said, and {sounds} were"
    for word, sound in zip(words, sounds, strict=True):
        known = _pronunciations(word)
        assert not known or sound in known, f"{word!r} was {sound!r}, which is none of {known}"
    for segment in segments[:-1]:
        mark = segment.phonemes[-1] if segment.phonemes[-1] in PAUSES else ""
        shortest, longest = PAUSES[mark]
        assert shortest <= segment.pause * speed <= longest, f"{segment.pause:.3f} s after {segment.phonemes!r}"


def _words(text: str) -> Iterator[str]:
    for written in text.split():
        word = written.strip(".,!?'")
        if word.isdigit():
            # American English has no "and" after the hundreds.
            yield from (part for part in re.findall(r"[a-z]+", num2words(int(word))) if part != "and")
        elif word:
            yield word


def _bare(phonemes: str) -> str:
    """Phonemes without stress and punctuation; a flapped t has two signs."""
    return re.sub(r"[ˈˌ.,!?;:—…\"“”()]", "", phonemes).replace("ɾ", "T")


@functools.cache
def _pronunciations(word: str) -> frozenset[str]:
    """All that the dictionary has; empty if it doesn't have the word."""
    if word.lower() in REDUCED:
        return frozenset(REDUCED[word.lower()])
    found: set[str] = set()
    for name in (word, word.lower(), word.capitalize()):
        for dictionary in _dictionaries():
            entry = dictionary.get(name)
            values = entry.values() if isinstance(entry, dict) else [entry]
            found |= {_bare(value) for value in values if value}
    return frozenset(found)


@functools.cache
def _dictionaries() -> list[dict[str, str | dict[str, str | None]]]:
    """Misaki's American ones, read as files."""
    folder = resources.files("misaki") / "data"
    return [json.loads((folder / f"us_{name}.json").read_text(encoding="utf-8")) for name in ("gold", "silver")]
