"""Fetches a text's audio from the front: server-sent events of `POST /v1/audio/speech`."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

import aiohttp
import msgspec
import numpy as np

from player.reel import Assembly
from shm.playing import Item, Welcome

log = logging.getLogger(__name__)

FIRST_RETRY, LAST_RETRY = 0.1, 2.0
"""Shortest and longest delay in seconds before a request is made again."""

PATIENCE = 60.0
"""Seconds without any audio after which the text is given up."""

_LONGEST_EVENT = 1 << 20


class CannotFetch(Exception):
    """The front refuses the text, or its audio doesn't come. The message is for people."""


class Fetcher(Protocol):
    """Fetches audio into an assembly. Tests have one that needs no server."""

    async def fetch(self, item: Item, sentence: int, speed: float, voice: str, into: Assembly, host: FetchHost) -> None:
        """Fetch the text's audio from that sentence on until it ends, or until the assembly wants no more.

        Raises:
            CannotFetch: it doesn't come.
        """
        ...


class FetchHost(Protocol):
    """The object that a running fetch asks for room, and tells of audio."""

    async def room(self) -> None:
        """Wait until more audio is wanted."""
        ...

    def arrived(self, real_time_factor: float | None) -> None:
        """Audio has arrived; the factor is the front's last prediction."""
        ...


class _Cut(Exception):
    """The answer ended early; the rest may come with another request."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class HttpFetcher:
    """Asks the front that the last `Welcome` names."""

    def __init__(self, front: Callable[[], Awaitable[Welcome]]) -> None:
        """`front` waits until a front is known."""
        self._front = front
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self, item: Item, sentence: int, speed: float, voice: str, into: Assembly, host: FetchHost) -> None:
        """Makes one request. The caller asks again for what is missing.

        Raises:
            CannotFetch: the front refuses the text.
            ConnectionError: the answer ended early.
        """
        body = {
            "input": item.input,
            "voice": voice,
            "speed": speed,
            "lang": item.lang,
            "markup": item.markup,
            "response_format": "pcm",
            "stream_format": "sse",
            "timestamps": "sentence",
            "from_sentence": sentence,
        }
        delay, waited = FIRST_RETRY, 0.0
        while True:
            try:
                await self._request(body, into, host)
                return
            except _Cut as cut:
                if into.sentences:
                    raise ConnectionError(str(cut)) from cut
                if waited > PATIENCE:
                    raise CannotFetch(str(cut)) from cut
                log.info("asking again for sentence %d: %s", sentence, cut)
                pause = min(cut.retry_after or delay, PATIENCE)
                await asyncio.sleep(pause)
                waited, delay = waited + pause, min(2 * delay, LAST_RETRY)

    async def _request(self, body: dict[str, Any], into: Assembly, host: FetchHost) -> None:
        front = await self._front()
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, connect=5.0)
            self._session = aiohttp.ClientSession(timeout=timeout, read_bufsize=1 << 16)
        headers = {"Authorization": f"Bearer {front.key}", "X-Session": "player"}
        try:
            async with self._session.post(f"{front.url}/v1/audio/speech", json=body, headers=headers) as response:
                if response.status != 200:
                    _refuse(response, await response.read())
                async for event in _events(response.content):
                    if not await _take(event, into, host):
                        return
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise _Cut(str(error) or type(error).__name__) from error
        raise _Cut("the answer ended early")

    async def close(self) -> None:
        """Close the connections."""
        if self._session:
            await self._session.close()


def _refuse(response: aiohttp.ClientResponse, body: bytes) -> None:
    try:
        said = str(msgspec.json.decode(body)["error"]["message"])
    except (msgspec.DecodeError, KeyError, TypeError):
        said = f"the front answers with {response.status}"
    if response.status in (429, 500, 502, 503, 504):
        after = response.headers.get("Retry-After", "")
        raise _Cut(said, float(after) if after.isdigit() else None)
    raise CannotFetch(said)


async def _events(content: aiohttp.StreamReader) -> AsyncIterator[dict[str, Any]]:
    rest = b""
    async for part in content.iter_any():
        *whole, rest = (rest + part).split(b"\n\n")
        for event in whole:
            for line in event.split(b"\n"):
                if line.startswith(b"data: "):
                    yield msgspec.json.decode(line[6:])
        if len(rest) > _LONGEST_EVENT:
            raise aiohttp.ClientPayloadError("an event that is too long")


async def _take(event: dict[str, Any], into: Assembly, host: FetchHost) -> bool:
    """Take in one event; False if the rest isn't wanted."""
    match event:
        case {"type": "speech.audio.sentence", "number": number, "text": text, "sample": sample}:
            into.sentence(number, text, sample)
            host.arrived(event.get("real_time_factor"))
        case {"type": "speech.audio.words", "words": words}:
            for word in words:
                into.word(word["word"], word["start"])
        case {"type": "speech.audio.delta", "audio": audio}:
            if not into.audio(np.frombuffer(base64.b64decode(audio), "<i2")):
                return False
            host.arrived(None)
            await host.room()
        case {"type": "speech.audio.done"}:
            into.end()
            host.arrived(None)
            return False
        case {"type": "error", "error": {"message": message}}:
            raise _Cut(str(message))
    return True
