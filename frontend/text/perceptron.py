"""Part-of-speech tags by an averaged perceptron with hashed features.

The model file is 1 MB and needs no vocabulary: a feature is the hash of a word, an ending, a shape or a tag, and
selects one row of the weights. `python -m benchmarks.tagger_training` makes the file.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BITS = 17
"""Binary digits of a feature's hash; the weights have 2**17 rows."""

MODEL = Path(__file__).with_name("perceptron.npz")

_EDGE = ""
"""Text of the places before a sentence's first token and after its last one."""

_MIX = np.uint32(0x9E3779B1)
_SECOND = np.uint32(0x85EBCA77)
_SALT = 0xC2B2AE3D


def tag_code(tag: str) -> int:
    """Hash of a tag, for `row_of`."""
    return zlib.crc32(tag.encode())


@lru_cache(maxsize=8192)
def _codes(text: str) -> tuple[int, int, int, int, int]:
    """Hashes of a token: lower-case word, endings of three and two letters, first letter with shape, shape."""
    lower = "".join("0" if c.isdecimal() else c for c in text.lower().replace("’", "'"))
    if text.isupper() and len(text) > 1:
        shape = "U"
    else:
        shape = "X" if text[:1].isupper() else "x" if text[:1].isalpha() else "."
    parts = (lower, lower[-3:], "2" + lower[-2:], shape + lower[:1], shape)
    return tuple(zlib.crc32(part.encode()) for part in parts)  # type: ignore[return-value]


def fixed_rows(texts: Sequence[str]) -> NDArray[np.int64]:
    """Rows of the features that depend on words alone, for each token of a sentence: array of shape (tokens, 17)."""
    codes = np.array([_codes(_EDGE)] * 2 + [_codes(text) for text in texts] + [_codes(_EDGE)] * 2, dtype=np.uint32)
    count = len(texts)
    before2, before, here, after, after2 = (codes[start : start + count] for start in range(5))
    word, ending, ending2, start, shape = here.T
    first = np.zeros(count, dtype=np.uint32)
    first[:1] = 1
    pairs = [
        (word, 0),
        (ending, 0),
        (ending2, 0),
        (start, 0),
        (shape, first),
        (before[:, 0], 0),
        (after[:, 0], 0),
        (before2[:, 0], 0),
        (after2[:, 0], 0),
        (word, before[:, 0]),
        (word, after[:, 0]),
        (after[:, 1], 0),
        (after[:, 1], ending),
        (after[:, 4], shape),
        (before[:, 0], after[:, 0]),
        (before[:, 1], ending),
        (word, after[:, 1]),
    ]
    with np.errstate(over="ignore"):
        hashed = [one * _MIX + np.uint32(other) * _SECOND + _salt(place) for place, (one, other) in enumerate(pairs)]
        mixed = np.stack(hashed, axis=1)
        mixed ^= mixed >> np.uint32(15)
        mixed *= _SECOND
    return (mixed >> np.uint32(32 - BITS)).astype(np.int64)


def _salt(place: int) -> np.uint32:
    return np.uint32((place + 1) * _SALT & 0xFFFFFFFF)


def tag_rows(before: int, second: int, texts: Sequence[str], place: int) -> list[int]:
    """Rows of the features that depend on the two tags before a token.

    Args:
        before, second: codes (`tag_code`) of the tag before and of the tag before that.
    """
    here = _codes(texts[place])
    after = _codes(texts[place + 1] if place + 1 < len(texts) else _EDGE)
    pairs = ((before, 0), (before, second), (before, here[0]), (before, here[1]), (before, after[0]))
    return [_row(one, other, 100 + number) for number, (one, other) in enumerate(pairs)]


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

    @classmethod
    def load(cls, file: Path = MODEL) -> Perceptron:
        """Load the model that the package brings (10 ms, 4 MB)."""
        with np.load(file) as stored:
            return cls(stored["weights"], [str(name) for name in stored["classes"]])

    def save(self, file: Path) -> None:
        """Write the model, to be read by `load`."""
        np.savez_compressed(file, weights=self._weights, classes=np.array(self._classes))

    def tags(self, texts: Sequence[str], given: Sequence[str]) -> list[str]:
        """Penn tags of a sentence's tokens.

        Args:
            given: a tag for each token; "" where the perceptron must choose.
        """
        if not texts:
            return []
        fixed = self._weights[fixed_rows(texts)].sum(axis=1, dtype=np.int32)
        before = second = tag_code(_EDGE)
        found: list[str] = []
        for place, tag in enumerate(given):
            if tag:
                code = tag_code(tag)
            else:
                rows = tag_rows(before, second, texts, place)
                best = int((fixed[place] + self._weights[rows].sum(axis=0, dtype=np.int32)).argmax())
                tag, code = self._classes[best], self._codes[best]
            found.append(tag)
            second, before = before, code
        return found
