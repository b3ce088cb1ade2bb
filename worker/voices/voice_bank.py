"""Kokoro's voices: style vectors read from files, and blends of them."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shm.messages import Voice
from worker.engine import EngineError, EngineUnavailable
from worker.session import STYLE_SIZE

ARRAYS = frozenset(("names", "left", "right"))
"""Arrays of a low-rank archive: str [voices], float32 [voices, rows, rank], float32 [voices, rank, 256]."""


class LowRankTable:
    """A voice as a product of two small matrices. Each row is computed on request; the whole table is never built."""

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


def low_rank_tables(archive: np.lib.npyio.NpzFile) -> dict[str, LowRankTable]:
    """Voices by name, from an archive with `ARRAYS`."""
    names, left, right = (archive[name] for name in ("names", "left", "right"))
    fit = left.ndim == right.ndim == 3 and left.shape[::2] == right.shape[:2] == (len(names), left.shape[2])
    if not fit or names.dtype.kind != "U" or left.dtype != np.float32 or right.dtype != np.float32:
        raise ValueError(f"names {names.shape}, left {left.shape} and right {right.shape} don't fit each other")
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ValueError("it has values that are no numbers")
    return {str(name): LowRankTable(left[index], right[index]) for index, name in enumerate(names)}


MIN_ROWS = 510
"""Smallest number of rows of a voice: one style for each count of phonemes up to this."""

Array = NDArray[np.float32]
Table = Array | LowRankTable
"""One voice: an array [rows, 1, 256], or what computes its rows. Row n - 1 is the style for n phonemes, as in
hexgrad's and kokoro-onnx's code."""


class VoiceBank:
    """All voices of a file or folder, in memory: 28 MB for the published 54, 2 MB for the same voices as low-rank
    tables. Read-only, so any thread may use it."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self.names = tuple(sorted(tables))
        self.checksums = {name: hashlib.sha256(tables[name].tobytes()).hexdigest() for name in self.names}
        """Hexadecimal sha256 of each voice's values."""
        self.sha256 = hashlib.sha256(repr(self.checksums).encode()).hexdigest()
        """Hexadecimal sha256 of all voices' names and values, independent of the file that they come from."""

    @classmethod
    def open(cls, path: Path) -> VoiceBank:
        """Voices from an npz archive of voices or of low-rank tables, from a single voice's `.bin` of raw float32, or
        from a folder of such `.bin` files.

        Everything is read and checked now, so no stream fails later.

        Raises:
            EngineUnavailable: a file is missing or damaged, or a voice has a wrong shape or a value that isn't a finite
                number.
        """
        try:
            tables = _read(path)
        except (EOFError, KeyError, OSError, ValueError, zipfile.BadZipFile, zlib.error) as error:
            raise EngineUnavailable(
                f"the voices in {path} can't be read ({error or type(error).__name__}): "
                "run `kokoro-live models fetch`, or name others with --voices"
            ) from error
        if not tables:
            raise EngineUnavailable(f"there are no voices in {path}: name an npz archive, a .bin or a folder of those")
        return cls({name: _checked(table, path, name) for name, table in tables.items()})

    def style(self, voice: Voice, tokens: int) -> NDArray[np.float32]:
        """Weighted mean of the voices' rows for `tokens` tokens, shape [1, 256]; the last row if there are more tokens
        than rows.

        Raises:
            EngineError: a voice doesn't exist.
        """
        if missing := [name for name, _ in voice if name not in self._tables]:
            raise EngineError(f"there is no voice named {', '.join(missing)}")
        rows = [self._tables[name][min(tokens, len(self._tables[name])) - 1] for name, _ in voice]
        weights = [weight for _, weight in voice]
        return np.average(rows, axis=0, weights=weights).astype(np.float32)


def _read(path: Path) -> dict[str, NDArray[Any]] | dict[str, LowRankTable]:
    if path.is_dir():
        return {file.stem: _raw(file) for file in sorted(path.glob("*.bin"))}
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return {path.stem: _raw(path)}
        file.seek(0)
        # np.load, if given a path, leaves the file open when the archive turns out to be damaged.
        with np.load(file, allow_pickle=False) as archive:
            if set(archive.files) == ARRAYS:
                return low_rank_tables(archive)
            return {name: archive[name] for name in archive.files}


def _raw(path: Path) -> Array:
    data = path.read_bytes()
    if len(data) % (STYLE_SIZE * 4):
        raise ValueError(
            f"{path.name} is no npz archive, and its {len(data):,} bytes aren't rows of {STYLE_SIZE} floats"
        )
    return np.frombuffer(data, dtype="<f4").reshape(-1, 1, STYLE_SIZE)


def _checked(table: NDArray[Any] | LowRankTable, path: Path, name: str) -> Table:
    if isinstance(table, LowRankTable):
        if table[0].shape != (1, STYLE_SIZE) or len(table) < MIN_ROWS:
            raise EngineUnavailable(f"{path}: voice {name} has {len(table)} styles of {table[0].size} values")
        return table
    if table.ndim != 3 or table.shape[1:] != (1, STYLE_SIZE) or len(table) < MIN_ROWS or table.dtype.kind != "f":
        raise EngineUnavailable(
            f"{path}: voice {name} is {table.dtype}{list(table.shape)}, not floats "
            f"[{MIN_ROWS}, 1, {STYLE_SIZE}]; fetch it again with `kokoro-live models fetch`"
        )
    if not np.isfinite(table).all():
        raise EngineUnavailable(
            f"{path}: voice {name} has values that are no numbers; fetch it again with `kokoro-live models fetch`"
        )
    return table.astype(np.float32)
