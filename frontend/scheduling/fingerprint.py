"""What makes two segments the same work, and so the same samples."""

from __future__ import annotations

import hashlib

import msgspec

from shm.engine_info import EngineInfo
from shm.messages import Voice

_encode = msgspec.msgpack.Encoder().encode


def fingerprint(engine: EngineInfo, script: str, language: str, voice: Voice, speed: float) -> bytes:
    """16 bytes. The voice counts by its numbers, not by its name: `EngineInfo.voices_sha256` is among what is hashed.

    The provider isn't: what another one makes of the same model differs by rounding.
    """
    what = (engine.name, engine.model, engine.model_sha256, engine.voices_sha256, script, language, voice, speed)
    return hashlib.blake2b(_encode(what), digest_size=16).digest()
