"""Voices as products of two small matrices: a published table is one of rank 12 but for 1e-5."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

RANK = 12
"""Of the tables in this package: 2.0 MB for 54 voices. With 8, or in float16, lengths of some segments change."""

EMBEDDED = Path(__file__).with_name("kokoro-v1.0-voices.npz")
"""Kokoro v1.0's 54 voices, as `python -m worker.voice_tables` makes them from the published file."""

ARRAYS = frozenset(("names", "left", "right"))
"""What an archive of such voices has: str [voices], float32 [voices, rows, rank], float32 [voices, rank, 256]."""


class LowRankTable:
    """One voice. A row is computed when it is asked for; the whole table is never made."""

    def __init__(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> None:
        """`left`: shape [rows, rank]; `right`: shape [rank, 256]."""
        self._left = left
        self._right = right

    def __len__(self) -> int:
        return len(self._left)

    def __getitem__(self, row: int) -> NDArray[np.float32]:
        """The style, shape [1, 256].

        Computed in float64 and rounded: the order in which a machine's library adds then changes no digit of it.
        """
        left, right = self._left[row].astype(np.float64), self._right.astype(np.float64)
        style: NDArray[np.float32] = (left @ right).astype(np.float32)
        return style[np.newaxis]

    def tobytes(self) -> bytes:
        """The numbers that the voice is made of, for its checksum."""
        return self._left.tobytes() + self._right.tobytes()


def decomposed(table: NDArray[np.float32], rank: int = RANK) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The two factors, [rows, rank] and [rank, 256], whose product is nearest to the table [rows, 1, 256]."""
    styles = table[:, 0].astype(np.float64)
    # The singular vectors of the table are the eigenvectors of its 256 x 256 products: a tenth of an SVD's time.
    directions = np.linalg.eigh(styles.T @ styles).eigenvectors[:, : -rank - 1 : -1]
    return (styles @ directions).astype(np.float32), np.ascontiguousarray(directions.T, dtype=np.float32)


def low_rank_tables(archive: np.lib.npyio.NpzFile) -> dict[str, LowRankTable]:
    """The voices of an archive that has `ARRAYS`, by name.

    Raises:
        ValueError: the arrays don't fit each other, or hold values that are no numbers.
    """
    names, left, right = (archive[name] for name in ("names", "left", "right"))
    fit = left.ndim == right.ndim == 3 and left.shape[::2] == right.shape[:2] == (len(names), left.shape[2])
    if not fit or names.dtype.kind != "U" or left.dtype != np.float32 or right.dtype != np.float32:
        raise ValueError(f"names {names.shape}, left {left.shape} and right {right.shape} don't fit each other")
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ValueError("it has values that are no numbers")
    return {str(name): LowRankTable(left[index], right[index]) for index, name in enumerate(names)}


def write_low_rank(tables: dict[str, NDArray[np.float32]], file: IO[bytes], rank: int = RANK) -> None:
    """Write an archive of the voices, in alphabetical order."""
    factors = [decomposed(tables[name], rank) for name in sorted(tables)]
    left, right = (np.stack([pair[side] for pair in factors]) for side in (0, 1))
    np.savez(file, allow_pickle=False, names=np.array(sorted(tables)), left=left, right=right)
