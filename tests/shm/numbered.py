"""Samples that tell their place: sample `i` of the source is different from its 65,535 neighbours."""

import numpy as np

from shm.audio import Pcm


def numbered(start: int, count: int) -> Pcm:
    """Samples `start` to `start + count` of the source, shape [count]."""
    return ((np.arange(start, start + count) * 7919 + 13) & 0xFFFF).astype(np.uint16).view(np.int16)


def joined(pieces: tuple[Pcm, ...]) -> list[int]:
    return [int(sample) for piece in pieces for sample in piece]
