"""The key under which a segment is cached and quarantined: equal keys mean equal samples."""

from __future__ import annotations

import hashlib

import msgspec

from shm.engine_info import EngineInfo
from shm.messages import Voice

_encode = msgspec.msgpack.Encoder().encode


def fingerprint(engine: EngineInfo, script: str, language: str, voice: Voice, speed: float) -> bytes:
    """A hash of 16 bytes.

    The hash covers the voice's numbers, not only its name: `EngineInfo.voices_sha256` is part of it, and so are the
    windows and statistics of the vocoder (`EngineInfo.rendering`). The execution provider isn't: two providers' samples
    of one model differ by rounding only.
    """
    how = (engine.name, engine.model, engine.model_sha256, engine.voices_sha256, engine.rendering)
    return hashlib.blake2b(_encode((how, script, language, voice, speed)), digest_size=16).digest()
