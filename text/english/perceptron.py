"""Part-of-speech tags by an averaged perceptron with hashed features.

The model file is 1 MB and needs no vocabulary: a feature is the hash of a word, an ending, a shape or a tag, and
selects one row of the weights. `python -m benchmarks.training.tagger_training` makes the file.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
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
_SALTS = np.array([(place + 1) * _SALT & 0xFFFFFFFF for place in range(len(_FEATURES))], dtype=np.uint32)


def tag_code(tag: str) -> int:
    return zlib.crc32(tag.encode())


@lru_cache(maxsize=8192)
def _codes(text: str) -> tuple[int, int, int, int, int]:
    """Hashes of a token: lower-case word, endings of three and two letters, first letter with shape, shape."""
    lower = _DIGIT.sub("0", text.lower().replace("’", "'"))
    if text.isupper() and len(text) > 1:
        shape = "U"
    else:
        shape = "X" if text[:1].isupper() else "x" if text[:1].isalpha() else "."
    parts = (lower, lower[-3:], "2" + lower[-2:], shape + lower[:1], shape)
    return tuple(zlib.crc32(part.encode()) for part in parts)  # type: ignore[return-value]


@lru_cache(maxsize=8192)
def _packed(text: str) -> bytes:
    return struct.pack("=5I", *_codes(text))


def fixed_rows(texts: Sequence[str]) -> NDArray[np.int64]:
    """Rows of the features that depend on words alone, for each token of a sentence: array of shape (tokens, 17)."""
    edge = _packed(_EDGE) * 2
    codes = edge + b"".join(map(_packed, texts)) + edge
    # Row N holds the codes of the five tokens around token N: these rows overlap in memory.
    around = np.ndarray((len(texts), 25), dtype=np.uint32, buffer=codes, strides=(20, 4))
    mixed = around[:, _ONE] * _MIX + _SALTS
    mixed[:, _PAIRS] += around[:, _OTHER] * _SECOND
    mixed[:1, _SHAPE] += _SECOND
    mixed ^= mixed >> np.uint32(15)
    mixed *= _SECOND
    return (mixed >> np.uint32(32 - BITS)).astype(np.int64)


def tag_rows(before: int, second: int, texts: Sequence[str], place: int) -> list[int]:
    """Rows of the features that depend on the two tags before a token.

    Args:
        before, second: codes (`tag_code`) of the tag before and of the tag before that.
    """
    word, ending, *_ = _codes(texts[place])
    after = _codes(texts[place + 1] if place + 1 < len(texts) else _EDGE)[0]
    return [*_rows_of_tags(before, second), *_rows_with_words(before, word, ending, after)]


def _rows_of_tags(before: int, second: int) -> list[int]:
    return [_row(before, 0, 100), _row(before, second, 101)]


def _rows_with_words(before: int, word: int, ending: int, after: int) -> tuple[int, int, int]:
    return _row(before, word, 102), _row(before, ending, 103), _row(before, after, 104)


def _row(one: int, other: int, place: int) -> int:
    mixed = one * 0x9E3779B1 + other * 0x85EBCA77 + (place + 1) * _SALT & 0xFFFFFFFF
    mixed ^= mixed >> 15
    return (mixed * 0x85EBCA77 & 0xFFFFFFFF) >> (32 - BITS)


class Perceptron:
    """Tags tokens from left to right, each with the best tag given the words around and the two tags before."""

    def __init__(self, weights: NDArray[np.int8], classes: Sequence[str]) -> None:
        """Args:
        weights: array of shape (2**17, classes).
        """
        self._weights = weights
        self._classes = list(classes)
        self._codes = [tag_code(name) for name in classes]
        self._of_tags = lru_cache(4096)(self._sum_of_tags)

    @classmethod
    def load(cls, file: Path = MODEL) -> Perceptron:
        with np.load(file) as stored:
            return cls(stored["weights"], [str(name) for name in stored["classes"]])

    def save(self, file: Path) -> None:
        np.savez_compressed(file, weights=self._weights, classes=np.array(self._classes))

    def tags(self, texts: Sequence[str], given: Sequence[str]) -> list[str]:
        """Penn tags of a sentence's tokens.

        Args:
            given: a tag for each token; "" where the perceptron must choose.
        """
        if not texts:
            return []
        # The features come first here because numpy adds whole rows four times faster than parts of rows.
        fixed = np.add.reduce(self._weights.take(fixed_rows(texts).T, axis=0), axis=0, dtype=np.int32)
        codes = [*map(_codes, texts), _codes(_EDGE)]
        before = second = tag_code(_EDGE)
        found: list[str] = []
        for place, tag in enumerate(given):
            if tag:
                code = tag_code(tag)
            else:
                score = fixed[place]
                score += self._of_tags(before, second)
                word, ending, *_ = codes[place]
                for row in _rows_with_words(before, word, ending, codes[place + 1][0]):
                    score += self._weights[row]
                best = int(score.argmax())
                tag, code = self._classes[best], self._codes[best]
            found.append(tag)
            second, before = before, code
        return found

    def _sum_of_tags(self, before: int, second: int) -> NDArray[np.int32]:
        """Weights of the two features that depend on the two tags before a token alone."""
        total: NDArray[np.int32] = self._weights[_rows_of_tags(before, second)].sum(axis=0, dtype=np.int32)
        return total
