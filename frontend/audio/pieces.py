"""Division of samples into chunks."""

from __future__ import annotations

from collections.abc import Iterator

from shm.audio import SAMPLE_RATE, Pcm


def chunks(piece: Pcm, chunk_ms: int) -> Iterator[Pcm]:
    """Views of at most `chunk_ms` milliseconds, in order."""
    length = SAMPLE_RATE * chunk_ms // 1000
    return (piece[start : start + length] for start in range(0, len(piece), length))
