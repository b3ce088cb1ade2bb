"""Has Home Assistant's Wyoming integration speak: its own files, unchanged; stubs replace the rest of Home Assistant.

Usage: python home_assistant_speaks.py FOLDER HOST PORT. FOLDER has `homeassistant/components/wyoming` of its wheel.
Prints one JSON object: the voices by language, the bytes of a whole text's audio, and whether the same text in pieces
has the same audio.
"""

from __future__ import annotations

import asyncio
import importlib
import io
import json
import sys
import wave
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

PIECES = ["Hello there, this is ", "a first sentence. And here ", "comes the second one, ", "token by token."]


@dataclass
class Voice:
    voice_id: str
    name: str


@dataclass
class Answer:
    """`homeassistant.components.tts.TTSAudioResponse`."""

    extension: str
    data_gen: AsyncIterator[bytes]


def stub(name: str, **members: object) -> None:
    """A module in which everything else is a mock."""
    module = ModuleType(name)
    module.__getattr__ = lambda _: MagicMock()  # type: ignore[method-assign]
    vars(module).update(members, __path__=[])
    sys.modules[name] = module


def load(folder: str) -> tuple[Any, Any]:
    for name in ("", ".config_entries", ".core", ".const", ".helpers", ".helpers.entity_platform"):
        stub(f"homeassistant{name}")
    stub("homeassistant.core", callback=lambda function: function)
    stub("homeassistant.exceptions", HomeAssistantError=Exception)
    entity = type("TextToSpeechEntity", (), {})
    tts = {"TextToSpeechEntity": entity, "ATTR_VOICE": "voice", "Voice": Voice, "TTSAudioResponse": Answer}
    stub("homeassistant.components.tts", **tts)
    stub("homeassistant.components", tts=sys.modules["homeassistant.components.tts"])
    stub("homeassistant.components.wyoming")
    sys.modules["homeassistant.components.wyoming"].__path__ = [
        str(Path(folder, "homeassistant", "components", "wyoming"))
    ]
    stub("homeassistant.components.wyoming.models")
    return tuple(importlib.import_module(f"homeassistant.components.wyoming.{name}") for name in ("tts", "data"))  # type: ignore[return-value]


def frames(data: bytes) -> bytes:
    with wave.open(io.BytesIO(data)) as reader:
        assert (reader.getframerate(), reader.getsampwidth(), reader.getnchannels()) == (24_000, 2, 1)
    return data[44:]


async def speak(folder: str, host: str, port: int) -> dict[str, Any]:
    tts, data = load(folder)
    service = await data.WyomingService.create(host, port)
    assert service.get_name() == "kokoro-live"
    tasks = []

    class Entry:
        entry_id = "1"

        def async_create_background_task(self, _hass: Any, work: Any, _name: str) -> None:
            tasks.append(asyncio.create_task(work))

    provider = tts.WyomingTtsProvider(Entry(), service)
    provider.hass = None
    assert provider.async_supports_streaming_input()
    options = {"voice": "bf_emma"}
    kind, whole = await provider.async_get_tts_audio("".join(PIECES), "en-GB", options)

    async def pieces() -> AsyncIterator[str]:
        for piece in PIECES:
            yield piece

    answer = await provider.async_stream_tts_audio(SimpleNamespace(options=options, message_gen=pieces()))
    streamed = b"".join([part async for part in answer.data_gen])
    await asyncio.gather(*tasks)
    voices = {
        tag: [voice.voice_id for voice in provider.async_get_supported_voices(tag)]
        for tag in provider._attr_supported_languages
    }
    assert kind == answer.extension == "wav"
    return {"voices": voices, "whole": len(frames(whole)), "same": frames(whole) == frames(streamed)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(speak(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
