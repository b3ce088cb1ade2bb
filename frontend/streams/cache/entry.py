"""The samples of a cached segment, and their form in bytes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import msgspec
import numpy as np

from shm.audio import Pcm
from shm.marks import Mark


@dataclass(frozen=True, slots=True)
class CachedSegment:
    """A segment's samples (shape [n]) and, if requested, the marks: the times at which parts of its script sound."""

    samples: Pcm
    marks: tuple[Mark, ...] = ()

    @property
    def size(self) -> int:
        """Bytes that count against the cache's bound, including 256 for the Python objects."""
        return self.samples.nbytes + 16 * len(self.marks) + 256


class _Stored(msgspec.Struct, array_like=True, frozen=True):
    crc32: int
    pcm: bytes
    marks: tuple[Mark, ...]


_decode = msgspec.msgpack.Decoder(_Stored).decode


def to_bytes(segment: CachedSegment) -> bytes:
    """The segment as a record for a disk, with a CRC of its samples."""
    pcm = segment.samples.tobytes()
    return msgspec.msgpack.encode(_Stored(zlib.crc32(pcm), pcm, segment.marks))


def from_bytes(data: bytes) -> CachedSegment:
    """The inverse of `to_bytes`.

    Raises:
        ValueError: the bytes differ from the written ones.
    """
    try:
        stored = _decode(data)
    except msgspec.MsgspecError as error:
        raise ValueError(f"no cached segment: {error}") from error
    if zlib.crc32(stored.pcm) != stored.crc32 or len(stored.pcm) % 2:
        raise ValueError("a cached segment whose checksum is wrong")
    return CachedSegment(np.frombuffer(stored.pcm, np.int16), stored.marks)
