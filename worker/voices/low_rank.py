"""Low-rank voices: each voice as a product of two small matrices. A published table has rank 12, except for 1e-5."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

RANK = 12
"""Rank of the embedded tables: 2.0 MB for 54 voices. With rank 8, or in float16, the lengths of some segments change.
"""

EMBEDDED = Path(__file__).with_name("kokoro-v1.0-voices.npz")
"""File with Kokoro v1.0's 54 voices, made by `python -m worker.models.voice_tables` from the published file."""

ARRAYS = frozenset(("names", "left", "right"))
"""Arrays of a low-rank archive: str [voices], float32 [voices, rows, rank], float32 [voices, rank, 256]."""


class LowRankTable:
    """One low-rank voice. Each row is computed on request; the whole table is never built."""

    def __init__(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> None:
        """
        Args:
            left: shape [rows, rank].
            right: shape [rank, 256].
        """
        self._left = left
        self._right = right

    def __len__(self) -> int:
        return len(self._left)

    def __getitem__(self, row: int) -> NDArray[np.float32]:
        """The style vector for a row, shape [1, 256].

        The product is computed in float64 and rounded, so that it is the same whatever order a machine's library adds
        in.
        """
        left, right = self._left[row].astype(np.float64), self._right.astype(np.float64)
        style: NDArray[np.float32] = (left @ right).astype(np.float32)
        return style[np.newaxis]

    def tobytes(self) -> bytes:
        """Bytes of the two matrices, for the voice's checksum."""
        return self._left.tobytes() + self._right.tobytes()


def decomposed(table: NDArray[np.float32], rank: int = RANK) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The two factors, [rows, rank] and [rank, 256], whose product is nearest to the table [rows, 1, 256]."""
    styles = table[:, 0].astype(np.float64)
    # The singular vectors of the table are the eigenvectors of its 256 x 256 products, which are found sooner.
    directions = np.linalg.eigh(styles.T @ styles).eigenvectors[:, : -rank - 1 : -1]
    return (styles @ directions).astype(np.float32), np.ascontiguousarray(directions.T, dtype=np.float32)


def low_rank_tables(archive: np.lib.npyio.NpzFile) -> dict[str, LowRankTable]:
    """Voices by name, from an archive with `ARRAYS`.

    Raises:
        ValueError: the arrays don't fit each other, or hold values that aren't finite numbers.
    """
    names, left, right = (archive[name] for name in ("names", "left", "right"))
    fit = left.ndim == right.ndim == 3 and left.shape[::2] == right.shape[:2] == (len(names), left.shape[2])
    if not fit or names.dtype.kind != "U" or left.dtype != np.float32 or right.dtype != np.float32:
        raise ValueError(f"names {names.shape}, left {left.shape} and right {right.shape} don't fit each other")
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ValueError("it has values that are no numbers")
    return {str(name): LowRankTable(left[index], right[index]) for index, name in enumerate(names)}


def write_low_rank(tables: dict[str, NDArray[np.float32]], file: IO[bytes], rank: int = RANK) -> None:
    """Write a low-rank archive of the voices, in alphabetical order."""
    factors = [decomposed(tables[name], rank) for name in sorted(tables)]
    left, right = (np.stack([pair[side] for pair in factors]) for side in (0, 1))
    np.savez(file, allow_pickle=False, names=np.array(sorted(tables)), left=left, right=right)
