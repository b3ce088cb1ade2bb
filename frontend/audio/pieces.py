"""Division of samples into chunks."""

from __future__ import annotations

from collections.abc import Iterator

from shm.audio import Pcm


def chunks(piece: Pcm, chunk_ms: int, sample_rate: int) -> Iterator[Pcm]:
    """Views of at most `chunk_ms` milliseconds, in order."""
    length = sample_rate * chunk_ms // 1000
    return (piece[start : start + length] for start in range(0, len(piece), length))
