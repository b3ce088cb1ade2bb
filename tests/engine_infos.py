"""Engines as workers describe them, for tests that load none."""

from typing import Any

from shm.engine_info import EngineInfo, VoiceInfo
from worker.voices.kokoro_voices import kokoro_voice


def voices(*names: str) -> tuple[VoiceInfo, ...]:
    """Voices of Kokoro's, or with names of a user's own."""
    return tuple(map(kokoro_voice, names))


def kokoro(*names: str, **changes: Any) -> EngineInfo:
    """Kokoro with these voices, af_heart if none is named."""
    described: dict[str, Any] = {
        "name": "kokoro",
        "rank": 1,
        "provider": "CPUExecutionProvider",
        "model": "tiny.onnx",
        "speaks": "phonemes",
        "max_tokens": 510,
        "voices": voices(*(names or ("af_heart",))),
    }
    return EngineInfo(**described | changes)


def espeak(*names: str, **changes: Any) -> EngineInfo:
    """espeak-ng with these voices, af_heart if none is named."""
    described: dict[str, Any] = {
        "name": "espeak-ng",
        "provider": "native",
        "model": "espeak-ng",
        "speaks": "text",
        "max_tokens": 99,
        "voices": voices(*(names or ("af_heart",))),
    }
    return EngineInfo(**described | changes)
