"""The score of a segment: for each phoneme of its script a duration, a pitch, an energy and a level.

The worker makes it after the model's prosody and the segment's inflections, and takes one back in their place
(`worker/split/inflections.py`). Whatever a score that comes back leaves as it was, or leaves out, stays the model's
own, to the bit.
"""

from __future__ import annotations

import struct

import msgspec

from shm.decoding import msgpack_decoder

UNIT_SECONDS = 0.025
"""A duration is a number of such units."""

FRAME_SECONDS = 0.0125
"""Pitch and energy have a value for each such frame of the phoneme: two for each unit."""

LOWEST_HERTZ, HIGHEST_HERTZ = 55.0, 520.0
"""Hz within which an edited pitch stays; it bends towards the limit from a fifth of an octave before it on."""

LEAST_ENERGY, MOST_ENERGY = -11.0, 11.0
"""Limits of an edited energy: 48 sentences of six voices had -10.1 to 9.9."""

MOST_UNITS = 80
"""Longest duration of a phoneme (2 s)."""

HERTZ_STEP = 0.1
ENERGY_STEP = 0.01
"""A score's pitches and energies are whole numbers of these steps."""

LAYOUT = 1
"""Version of `pack`'s bytes."""


class PhonemeScore(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One phoneme. `None` is the model's own, with the segment's inflections."""

    units: int | None = None
    pitch: tuple[int, ...] | None = None
    """Steps of `HERTZ_STEP` over the phoneme's time, evenly, whatever their number; 0: no voice."""
    energy: tuple[int, ...] | None = None
    """Steps of `ENERGY_STEP`, likewise."""
    volume: float = 0.0
    """Change of the level in dB."""


Score = tuple[PhonemeScore, ...]
"""One for each character of a segment's script; empty: the model's own."""

_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgpack_decoder(Score)


def pack(score: Score) -> bytes:
    """The score as the bytes of samples (16 bits each), so that it goes the way of a segment's sound."""
    data = _encode(score)
    return _LENGTH.pack(len(data)) + data + b"\0" * (len(data) % 2)


def unpack(data: bytes) -> Score:
    """The inverse of `pack`.

    Raises:
        ValueError: the bytes are no score.
    """
    try:
        [length] = _LENGTH.unpack_from(data)
        return _decode(data[_LENGTH.size : _LENGTH.size + length])
    except (struct.error, msgspec.DecodeError) as error:
        raise ValueError(f"{len(data)} bytes are no score: {error}") from error
