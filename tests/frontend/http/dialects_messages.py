"""The three services of the sockets: addresses, texts to speak, and errors in their own forms."""

from typing import Any

import aiohttp
import pytest

from frontend.settings.front import FrontSettings
from tests.frontend.http.dialects_desk import Message, next_json

ELEVENLABS = "/v1/text-to-speech/af_heart/multi-stream-input?output_format=pcm_24000"
CARTESIA = "/tts/websocket"
DEEPGRAM = "/v1/speak?model=af_heart"
VOICE = {"voice": {"mode": "id", "id": "af_heart"}, "output_format": {"encoding": "pcm_s16le", "sample_rate": 24000}}
KEYED = FrontSettings(api_keys=("open-sesame",))
SENTENCE = "This is the first sentence of them all. "

PATHS = pytest.mark.parametrize("path", [ELEVENLABS, CARTESIA, DEEPGRAM])


def code_of(path: str, message: Message) -> Any:
    """The error's code, in the dialect's own form."""
    if path is ELEVENLABS:
        assert message["code"] == 1008 and message["message"]
        return message["error"]
    if path is CARTESIA:
        assert message["type"] == "error" and message["done"] is True and message["status_code"] >= 400
        assert {"title", "message", "context_id"} <= message.keys()
        return message["error_code"]
    assert message["type"] == "Error" and message["description"] == message["err_msg"]
    return message["code"]


async def error_after(socket: aiohttp.ClientWebSocketResponse, path: str) -> Any:
    while "error" not in (message := await next_json(socket)) and message.get("type") not in ("error", "Error"):
        pass
    return code_of(path, message)


def speak(path: str, text: str, context: str = "a") -> Message:
    if path is ELEVENLABS:
        return {"text": text, "context_id": context}
    if path is CARTESIA:
        return {"transcript": text, "context_id": context, "continue": True, **VOICE}
    return {"type": "Speak", "text": text}
