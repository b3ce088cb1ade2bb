"""Part-of-speech tags by an averaged perceptron with hashed features.

The model file is 1 MB and needs no vocabulary: a feature is the hash of a word, an ending, a shape or a tag, and
selects one row of the weights. `python -m benchmarks.training.tagger_training` makes the file.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BITS = 17
"""Binary digits of a feature's hash; the weights have 2**17 rows."""

MODEL = Path(__file__).with_name("perceptron.npz")

_DIGIT = re.compile(r"\d")

_EDGE = ""
"""Text of the places before a sentence's first token and after its last one."""

_MIX = np.uint32(0x9E3779B1)
_SECOND = np.uint32(0x85EBCA77)
_SALT = 0xC2B2AE3D

_BEFORE2, _BEFORE, _HERE, _AFTER, _AFTER2 = range(0, 25, 5)
_WORD, _ENDING, _ENDING2, _START, _OF_SHAPE = range(5)
_FEATURES = (
    (_HERE + _WORD,),
    (_HERE + _ENDING,),
    (_HERE + _ENDING2,),
    (_HERE + _START,),
    (_HERE + _OF_SHAPE,),
    (_BEFORE + _WORD,),
    (_AFTER + _WORD,),
    (_BEFORE2 + _WORD,),
    (_AFTER2 + _WORD,),
    (_HERE + _WORD, _BEFORE + _WORD),
    (_HERE + _WORD, _AFTER + _WORD),
    (_AFTER + _ENDING,),
    (_AFTER + _ENDING, _HERE + _ENDING),
    (_AFTER + _OF_SHAPE, _HERE + _OF_SHAPE),
    (_BEFORE + _WORD, _AFTER + _WORD),
    (_BEFORE + _ENDING, _HERE + _ENDING),
    (_HERE + _WORD, _AFTER + _ENDING),
)
"""Codes of each feature that depends on words alone: one or two of the five codes of the five tokens around."""

_SHAPE = 4
"""Feature that also tells a sentence's first token from all others."""

_ONE = np.array([feature[0] for feature in _FEATURES])
_PAIRS = np.array([place for place, feature in enumerate(_FEATURES) if len(feature) == 2])
_OTHER = np.array([feature[1] for feature in _FEATURES if len(feature) == 2])
_SALTS, _TAG_SALTS = (
    np.array([(place + 1) * _SALT & 0xFFFFFFFF for place in places], dtype=np.uint32)
    for places in (range(len(_FEATURES)), range(100, 105))
)
_BESIDE_TAG = [_HERE + _WORD, _HERE + _ENDING, _AFTER + _WORD]
"""Codes that make a feature each with the tag before; the first two of such features have that tag and the second."""


@cache
def tag_code(tag: str) -> int:
    return zlib.crc32(tag.encode())


@lru_cache(maxsize=8192)
def _packed(text: str) -> bytes:
    """Hashes of a token: lower-case word, endings of three and two letters, first letter with shape, shape."""
    lower = _DIGIT.sub("0", text.lower().replace("’", "'"))
    if text.isupper() and len(text) > 1:
        shape = "U"
    else:
        shape = "X" if text[:1].isupper() else "x" if text[:1].isalpha() else "."
    parts = (lower, lower[-3:], "2" + lower[-2:], shape + lower[:1], shape)
    return struct.pack("=5I", *(zlib.crc32(part.encode()) for part in parts))


def hashes(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Codes of the five tokens around each token of a sentence, in a row of 25; the rows overlap in memory."""
    edge = _packed(_EDGE) * 2
    codes = edge + b"".join(map(_packed, texts)) + edge
    return np.ndarray((len(texts), 25), dtype=np.uint32, buffer=codes, strides=(20, 4))


def fixed_rows(around: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Rows of the features that depend on words alone, for each token of a sentence: array of shape (tokens, 17).

    Args:
        around: `hashes`.
    """
    mixed = around[:, _ONE] * _MIX + _SALTS
    mixed[:, _PAIRS] += around[:, _OTHER] * _SECOND
    mixed[:1, _SHAPE] += _SECOND
    return _rows(mixed)


def tag_rows(before: NDArray[np.uint32], second: NDArray[np.uint32], around: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Rows of the features that depend on the two tags before a token, for each of some tokens.

    Args:
        before, second: codes (`tag_code`) of the tag before and of the tag before that.
        around: the tokens' rows of `hashes`.
    """
    mixed = np.zeros((len(around), len(_TAG_SALTS)), dtype=np.uint32)
    mixed[:, 1], mixed[:, 2:] = second, around[:, _BESIDE_TAG]
    return _rows(mixed * _SECOND + (before * _MIX)[:, None] + _TAG_SALTS)


def _rows(mixed: NDArray[np.uint32]) -> NDArray[np.int64]:
    mixed ^= mixed >> np.uint32(15)
    mixed *= _SECOND
    return (mixed >> np.uint32(32 - BITS)).astype(np.int64)


class Perceptron:
    """Tags tokens from left to right, each with the best tag given the words around and the two tags before."""

    def __init__(self, weights: NDArray[np.int8], classes: Sequence[str]) -> None:
        """Args:
        weights: array of shape (2**17, classes).
        """
        self._weights = weights
        self._classes = list(classes)
        self._codes = np.array([tag_code(name) for name in classes], dtype=np.uint32)
        self._named = {tag_code(name): name for name in classes}

    @classmethod
    def load(cls, file: Path = MODEL) -> Perceptron:
        with np.load(file) as stored:
            return cls(stored["weights"], [str(name) for name in stored["classes"]])

    def save(self, file: Path) -> None:
        np.savez_compressed(file, weights=self._weights, classes=np.array(self._classes))

    def tags(self, texts: Sequence[str], given: Sequence[str]) -> list[str]:
        """Penn tags of a sentence's tokens.

        All tokens are tagged at once as if the tags before them were right, then those after a tag that has changed,
        until none changes: the tags are the same as one by one, in a few calls of numpy.

        Args:
            given: a tag for each token; "" where the perceptron must choose.
        """
        if not texts:
            return []
        around = hashes(texts)
        scores = self._sum(fixed_rows(around))
        codes = np.array([*map(tag_code, (_EDGE, _EDGE, *given))], dtype=np.uint32)
        free = np.array([not tag for tag in given])
        codes[2:][free] = self._codes[scores[free].argmax(axis=1)]
        places = free.nonzero()[0]
        while len(places):
            rows = tag_rows(codes[places + 1], codes[places], around[places])
            best = self._codes[(scores[places] + self._sum(rows)).argmax(axis=1)]
            changed = places[best != codes[places + 2]]
            codes[places + 2] = best
            after = np.zeros(len(texts) + 2, dtype=bool)
            after[changed + 1] = after[changed + 2] = True
            places = (after[: len(texts)] & free).nonzero()[0]
        return [tag or self._named[code] for tag, code in zip(given, codes[2:].tolist(), strict=True)]

    def _sum(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        # The features come first here because numpy adds whole rows four times faster than parts of rows.
        total: NDArray[np.int32] = np.add.reduce(self._weights.take(rows.T, axis=0), axis=0, dtype=np.int32)
        return total
