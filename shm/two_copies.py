"""Two copies of a short record in shared memory: a writer that is killed at any store leaves the older or the new one.

  copy: | generation, 8 bytes | length, 4 | CRC-32, 4 | payload |

A record is written into the copy that holds the older one, and counts from the moment at which its CRC is right.
"""

from __future__ import annotations

import mmap
import struct
import zlib

_HEAD = struct.Struct("<QII")
HEAD_BYTES = _HEAD.size


def newest(memory: mmap.mmap | bytearray, at: int, copy_bytes: int) -> tuple[int, bytes]:
    """The newer of two copies that are right: its generation and payload; 0 and nothing if none is.

    Args:
        at: the first copy's first byte.
        copy_bytes: bytes of one copy.
    """
    found = (0, b"")
    for start in (at, at + copy_bytes):
        generation, length, crc = _HEAD.unpack_from(memory, start)
        if generation > found[0] and 0 < length <= copy_bytes - HEAD_BYTES:
            payload = bytes(memory[start + HEAD_BYTES : start + HEAD_BYTES + length])
            if zlib.crc32(payload, generation & 0xFFFFFFFF) == crc:
                found = generation, payload
    return found


def copy_of(generation: int, payload: bytes, copy_bytes: int) -> tuple[int, bytes]:
    """Place of a record of that generation, in bytes from the first copy's first byte on, and its bytes."""
    head = _HEAD.pack(generation, len(payload), zlib.crc32(payload, generation & 0xFFFFFFFF))
    return (generation % 2) * copy_bytes, head + payload
