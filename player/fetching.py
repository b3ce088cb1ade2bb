"""Fetches a text's audio from the front: server-sent events of `POST /v1/audio/speech`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import urlencode

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


class WrittenPart:
    """The part of a text that is still being written, as a request's body: each iteration gives all of it, from its
    beginning to its end, as it comes."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The part so far."""
        self.ended = False
        self._news = asyncio.Event()

    def write(self, whole: str, rest: str | None) -> bool:
        """Take the part as it is now: whole sentences, and what follows them; None: nothing will.

        It ends with whole sentences, unless the next one has begun to be spoken. Returns False if the part begins
        otherwise than before, because what came last has changed the characters before it.
        """
        self.ended = rest is None or bool(whole.strip() and len(whole) >= len(self.text))
        text = whole if self.ended else whole + (rest or "")
        said, self.text = self.text, text
        self._news.set()
        return text.startswith(said)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        at = 0
        while at < len(self.text) or not self.ended:
            self._news.clear()
            if more := self.text[at:].encode():
                at = len(self.text)
                yield more
            else:
                await self._news.wait()


class Fetcher:
    """Asks the front that the last `Welcome` names."""

    def __init__(self, front: Callable[[], Awaitable[Welcome]]) -> None:
        """`front` waits until a front is known."""
        self._front = front
        self.client = AsyncClient()

    async def fetch(
        self,
        item: Item,
        sentence: int,
        speed: float,
        voice: str,
        into: Assembly,
        tell: Callable[[str], None],
        written: WrittenPart | None = None,
    ) -> None:
        """Fetch the audio of the item's text into the assembly, from that sentence on until it ends, or until no more
        is wanted.

        A request of the same text that is still on its way gives its place to this one.

        Args:
            tell: called with the reason while the server has to be waited for (`Waiting`).
            written: the text, if it is still being written.

        Raises:
            CannotFetch: the front refuses the text, or its audio doesn't come.
            ConnectionError: the answer ended early; the caller asks again for what is missing.
        """
        fields = {
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
        path, body = "/v1/audio/speech", written or fields | {"input": item.input}
        if written:
            path += "/text?" + urlencode({name: value for name, value in fields.items() if value is not None})
        delay, waited, waiting = FIRST_RETRY, 0.0, Waiting(tell)
        while True:
            try:
                await self._request(path, body, into, waiting)
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

    async def _request(self, path: str, body: Any, into: Assembly, waiting: Waiting) -> None:
        front = await self._front()
        self.client.use(front.url, front.key)
        async with aclosing(self.client.events(path, body)) as events:
            async for event in events:
                waiting.over()
                if not await _take(event, into):
                    return
        raise NoAnswer("the answer ended early")


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
