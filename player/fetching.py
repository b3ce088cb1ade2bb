"""Fetches a text's audio from the front: server-sent events of `POST /v1/audio/speech`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import numpy as np

from client.answers import NoAnswer, RequestRefused, Waiting, audio_in
from client.asynchronous import AsyncClient
from player.reel import Assembly
from shm.playing import Item, Welcome

log = logging.getLogger(__name__)

FIRST_RETRY, LAST_RETRY = 0.1, 2.0
"""Shortest and longest delay in seconds before a request is made again."""

PATIENCE = 60.0
"""Seconds without any audio after which the text is given up, unless the server says when it will be served."""


class CannotFetch(Exception):
    """The front refuses the text, or its audio doesn't come. The message is for people."""


class Fetcher:
    """Asks the front that the last `Welcome` names."""

    def __init__(self, front: Callable[[], Awaitable[Welcome]]) -> None:
        """`front` waits until a front is known."""
        self._front = front
        self._client = AsyncClient()

    async def fetch(
        self, item: Item, sentence: int, speed: float, voice: str, into: Assembly, tell: Callable[[str], None]
    ) -> None:
        """Fetch the audio of the item's text into the assembly, from that sentence on until it ends, or until no more
        is wanted.

        A request of the same text that is still on its way gives its place to this one.

        Args:
            tell: called with the reason while the server has to be waited for (`Waiting`).

        Raises:
            CannotFetch: the front refuses the text, or its audio doesn't come.
            ConnectionError: the answer ended early; the caller asks again for what is missing.
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
            "user": f"player/{item.id}",
            "on_busy": "interrupt",
        }
        delay, waited, waiting = FIRST_RETRY, 0.0, Waiting(tell)
        while True:
            try:
                await self._request(body, into, waiting)
                return
            except (NoAnswer, RequestRefused) as error:
                if isinstance(error, RequestRefused) and not error.passes:
                    raise CannotFetch(str(error)) from error
                if into.sentences:
                    raise ConnectionError(str(error)) from error
                log.info("asking again for sentence %d: %s", sentence, error)
                if isinstance(error, RequestRefused) and error.later is not None:
                    try:
                        pause = waiting.seconds(error)
                    except RequestRefused:
                        raise CannotFetch(str(error)) from error
                elif waited > PATIENCE:
                    raise CannotFetch(str(error)) from error
                else:
                    pause = delay
                    waited, delay = waited + pause, min(2 * delay, LAST_RETRY)
                await asyncio.sleep(pause)

    async def _request(self, body: dict[str, Any], into: Assembly, waiting: Waiting) -> None:
        front = await self._front()
        self._client.use(front.url, front.key)
        async with aclosing(self._client.events("/v1/audio/speech", body)) as events:
            async for event in events:
                waiting.over()
                if not await _take(event, into):
                    return
        raise NoAnswer("the answer ended early")

    async def close(self) -> None:
        await self._client.close()


async def _take(event: dict[str, Any], into: Assembly) -> bool:
    """Take in one event; False if the rest isn't wanted."""
    match event:
        case {"type": "speech.audio.sentence", "number": number, "text": text, "sample": sample}:
            into.sentence(number, text, sample)
            into.arrived(event.get("real_time_factor"))
        case {"type": "speech.audio.words", "words": words}:
            for word in words:
                into.word(word["word"], word["start"])
        case {"type": "speech.audio.delta"}:
            if not into.audio(np.frombuffer(audio_in(event), "<i2")):
                return False
            into.arrived(None)
            await into.room()
        case {"type": "speech.audio.done"}:
            into.end()
            into.arrived(None)
            return False
        case {"type": "error", "error": {"message": message}}:
            raise NoAnswer(str(message))
    return True
