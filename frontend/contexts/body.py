"""Body of a request that is a text which its client is still writing: it is read while it is spoken."""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from aiohttp import StreamReader

from frontend.contexts.journal import ContextNotes
from frontend.contexts.pending import PendingText, opening_of_held
from frontend.contract.errors import ApiError, SpeechError
from frontend.contract.request import SpeechRequest
from frontend.contract.speaker import SpeechStream
from frontend.serving.services import Services
from text.errors import TextError
from text.markup.marked import MarkupKind
from text.sentences.growth import Growth

IDLE_SECONDS = 300.0
"""Seconds without text, while nothing is spoken, after which the answer ends incomplete: a language model may use tools
between two pieces of a text."""

_PIECE = 4096
"""Most characters that are taken at once."""


class GrowingBody:
    """One body, UTF-8. Its client is slowed down when its text is further ahead than any text may be long."""

    def __init__(self, content: StreamReader, services: Services) -> None:
        self._content = content
        self._services = services
        self._stream: SpeechStream | None = None
        self._pending: PendingText | None = None
        self._failure: BaseException | None = None
        self._went_on = asyncio.Event()

    @asynccontextmanager
    async def growing(self, asked: SpeechRequest) -> AsyncIterator[SpeechRequest]:
        """Read the body for that request from here on; the request with its text, once a part of it can be spoken.

        Raises:
            ApiError: 400, the text is blank, no UTF-8, or has killed fronts; 408, none came.
        """
        services = self._services
        growth = Growth(asked.language, whole=asked.markup is not MarkupKind.NONE)
        limit = services.settings.max_input_characters
        opening = opening_of_held(services, asked)
        pending = PendingText(growth, services.in_flight, limit, None, lambda: self._stream, ContextNotes(), opening)
        self._pending, growing = pending, pending.growing
        reading = asyncio.create_task(self._read(pending, limit))
        try:
            await growing.more()
            self.check()
            if growing.first is None:
                raise ApiError(400, "The body is blank: give something to speak.", code="unspeakable")
            yield replace(asked, growing=growing, text=growing.first.text)
            for text in growing.texts:
                services.in_flight.clear(text)
        finally:
            reading.cancel()
            pending.stop_countdown()
            growing.end()
            growing.leave_board()

    def spoken_by(self, stream: SpeechStream) -> None:
        """Note the stream that speaks the text."""
        self._stream = stream

    def goes_on(self) -> None:
        """Note that more of it is spoken."""
        self._went_on.set()

    def check(self) -> None:
        """Called when all of the text so far is spoken.

        Raises:
            ApiError: the rest of the body couldn't be taken.
            ConnectionError: it never came.
        """
        if self._failure is not None:
            raise self._failure
        if self._pending is not None and self._pending.failure is not None:
            raise self._pending.failure

    async def _read(self, pending: PendingText, limit: int) -> None:
        decoder = getincrementaldecoder("utf-8")()
        try:
            while data := await self._more(pending):
                text = decoder.decode(data)
                for start in range(0, len(text), _PIECE):
                    piece = text[start : start + _PIECE]
                    while pending.growing.unread + pending.held + len(piece) > limit and pending.growing.unread:
                        self._went_on.clear()
                        await self._went_on.wait()
                    pending.write(piece)
            decoder.decode(b"", final=True)
            pending.end()
        except UnicodeDecodeError as error:
            self._failure = ApiError(400, f"The body is not UTF-8: {error.reason}.", code="invalid_text")
        except (TextError, SpeechError, OSError) as error:
            self._failure = error
        finally:
            pending.growing.end()

    async def _more(self, pending: PendingText) -> bytes:
        while True:
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    return await self._content.readany()
            except TimeoutError:
                if pending.seconds_left <= 0:
                    message = f"No text came for {IDLE_SECONDS:g} seconds."
                    raise ApiError(408, message, code="request_timeout") from None
