"""Speech servers as an agent asks them: a text that is being written in, the audio out, by each protocol."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from wyoming.audio import AudioChunk
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.tts import SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped, SynthesizeVoice

from benchmarks.growing_text import FIELDS, FRESH

_SENTENCE = re.compile(r"(?<=[.!?])\s+")

Written = AsyncIterator[str]
"""An answer's tokens, as they are written."""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    voice: str
    key: str
    session: aiohttp.ClientSession

    @property
    def headers(self) -> dict[str, str]:
        return {**FRESH, "Authorization": f"Bearer {self.key}", "xi-api-key": self.key, "X-API-Key": self.key}

    def socket(self, path: str) -> aiohttp.client._WSRequestContextManager:
        return self.session.ws_connect(self.url + path, headers=self.headers, max_msg_size=0)


@asynccontextmanager
async def meanwhile(sending: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Send within the block, while the answer is heard; sending is given up when the listener leaves."""
    task = asyncio.create_task(sending)
    try:
        yield
        await task
    finally:
        task.cancel()


async def messages(socket: aiohttp.ClientWebSocketResponse[bool]) -> AsyncIterator[Any]:
    """Messages until the listener has all.

    Raises:
        ConnectionError: the socket closes before.
    """
    async for message in socket:
        if message.type is aiohttp.WSMsgType.ERROR:
            break
        yield message
    raise ConnectionError(f"closed with {socket.close_code}")


async def sentences_of(written: Written) -> AsyncIterator[str]:
    """Sentences as soon as the next one has begun, as agents cut them for servers that take whole texts."""
    text = ""
    async for token in written:
        text += token
        *whole, text = _SENTENCE.split(text)
        for sentence in whole:
            yield sentence
    if text.strip():
        yield text


async def by_openai(server: Server, written: Written) -> AsyncIterator[bytes]:
    async for sentence in sentences_of(written):
        body = {"model": "tts-1", "input": sentence, "voice": server.voice, "response_format": "pcm"}
        async with server.session.post(f"{server.url}/v1/audio/speech", json=body, headers=server.headers) as answer:
            answer.raise_for_status()
            async for data in answer.content.iter_any():
                yield data


async def by_elevenlabs(server: Server, written: Written) -> AsyncIterator[bytes]:
    query = "model_id=eleven_flash_v2_5&output_format=pcm_24000"
    async with server.socket(f"/v1/text-to-speech/{server.voice}/stream-input?{query}") as socket:

        async def send() -> None:
            await socket.send_json({"text": " "})
            async for token in written:
                await socket.send_json({"text": token})
            await socket.send_json({"text": ""})

        async with meanwhile(send()):
            async for message in messages(socket):
                told = message.json()
                if told.get("audio"):
                    yield base64.b64decode(told["audio"])
                if told.get("isFinal"):
                    break


async def by_cartesia(server: Server, written: Written) -> AsyncIterator[bytes]:
    fields = {**FIELDS, "voice": {"mode": "id", "id": server.voice}, "context_id": "answer"}
    async with server.socket("/tts/websocket?cartesia_version=2026-03-01") as socket:

        async def send() -> None:
            async for token in written:
                await socket.send_json({**fields, "transcript": token, "continue": True})
            await socket.send_json({**fields, "transcript": "", "continue": False})

        async with meanwhile(send()):
            async for message in messages(socket):
                match message.json():
                    case {"type": "chunk", "data": data}:
                        yield base64.b64decode(data)
                    case {"type": "done"}:
                        break
                    case {"type": "error"} as told:
                        raise ConnectionError(str(told))


async def by_deepgram(server: Server, written: Written) -> AsyncIterator[bytes]:
    async with server.socket(f"/v1/speak?encoding=linear16&sample_rate=24000&model={server.voice}") as socket:

        async def send() -> None:
            async for token in written:
                await socket.send_json({"type": "Speak", "text": token})
            await socket.send_json({"type": "Flush"})

        async with meanwhile(send()):
            async for message in messages(socket):
                if message.type is aiohttp.WSMsgType.BINARY:
                    yield message.data
                elif message.json()["type"] == "Flushed":
                    break


async def by_wyoming(server: Server, written: Written) -> AsyncIterator[bytes]:
    address = urlsplit(server.url)
    async with AsyncTcpClient(address.hostname or "127.0.0.1", address.port or 10200) as client:

        async def send() -> None:
            await client.write_event(SynthesizeStart(voice=SynthesizeVoice(name=server.voice)).event())
            async for token in written:
                await client.write_event(SynthesizeChunk(token).event())
            await client.write_event(SynthesizeStop().event())

        async with meanwhile(send()):
            while event := await client.read_event():
                if AudioChunk.is_type(event.type):
                    yield AudioChunk.from_event(event).audio
                elif Error.is_type(event.type):
                    raise ConnectionError(Error.from_event(event).text)
                elif SynthesizeStopped.is_type(event.type):
                    break
            else:
                raise ConnectionError("closed")


async def by_espeak(server: Server, written: Written) -> AsyncIterator[bytes]:
    async for sentence in sentences_of(written):
        process = await asyncio.create_subprocess_exec(
            "espeak-ng", "--stdout", "--", sentence, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout
        try:
            await process.stdout.readexactly(44)  # the WAV's header
            while data := await process.stdout.read(1 << 14):
                yield data
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


Way = Callable[[Server, Written], AsyncIterator[bytes]]
WAYS: dict[str, Way] = {
    "elevenlabs": by_elevenlabs,
    "cartesia": by_cartesia,
    "deepgram": by_deepgram,
    "openai": by_openai,
    "wyoming": by_wyoming,
    "espeak-ng": by_espeak,
}
