"""Marks: the times at which parts of a script sound, and their encoding in bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

Mark = tuple[int, int]
"""Mark: a place in a script, in characters, and the sample of its segment at which that place begins to sound."""

_MARK = struct.Struct("<HI")

MAX_MARKS = 64
"""Largest number of marks in one record, which keeps the record below `shm.messages.MAX_COMMIT_BYTES`."""


def pack_marks(marks: Sequence[Mark]) -> bytes:
    """Encode at most `MAX_MARKS` marks, in the form of `shm.messages.Marks.packed`."""
    return b"".join(_MARK.pack(*mark) for mark in marks)


def unpack_marks(packed: bytes) -> list[Mark]:
    """Decode marks that `pack_marks` encoded.

    Raises:
        ValueError: the bytes aren't whole marks.
    """
    try:
        return list(_MARK.iter_unpack(packed))
    except struct.error as error:
        raise ValueError(f"{len(packed)} bytes are no marks") from error
