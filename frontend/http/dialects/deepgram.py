"""Deepgram's socket: one text, binary audio, and messages for flushes.

Source: https://developers.deepgram.com/docs/tts-websocket
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from frontend.contexts.context import Context
from frontend.contexts.events import Event, Flushed
from frontend.contexts.services import Services
from frontend.contexts.voices import find_voice
from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError
from frontend.http.dialects.audio_formats import OutputFormat, named_output
from frontend.http.dialects.clients import new_voicing, text_of
from frontend.http.dialects.fields import DeepgramMessage
from frontend.http.dialects.socket import Session
from text.errors import TextError

ENCODINGS = ("linear16", "mulaw", "alaw")
"""The encodings of the socket; the one-shot call has more."""


_NUMBER = re.compile(r"\d{1,3}(?:\.\d{0,6})?")


class Deepgram:
    """One socket. Implements `frontend.http.dialects.dialect.Dialect`."""

    name = "deepgram"
    message_type = DeepgramMessage
    idle_seconds = 3600.0

    def __init__(self, session: Session) -> None:
        self._session = session
        self._voicing = new_voicing(session.request, "")
        self._texts = 0
        """Number of the text in hand; after a Clear, or after an error, another one begins."""
        self._sequence = 0
        """Flushes and clears that were answered."""

    async def begin(self) -> None:
        """Check the address, and greet.

        Raises:
            ApiError, Unavailable: voice or encoding are none of the server's.
        """
        query = self._session.request.query
        encoding = query.get("encoding", ENCODINGS[0])
        if encoding not in ENCODINGS:
            message = f"`encoding`: {encoding[:32]!r} is none of {', '.join(ENCODINGS)}."
            raise ApiError(400, message, param="encoding", code="invalid_encoding")
        services = self._session.services
        self._voicing = deepgram_voicing(services, self._voicing, query, named_output(encoding, rate_of(query)))
        engine = services.speaker.engine
        await self._session.send(
            {
                "type": "Metadata",
                "request_id": self._voicing.request_id,
                "model_name": query.get("model", ""),
                "model_version": engine.model if engine else "",
                "model_uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, engine.model_sha256 if engine else "")),
            }
        )

    async def hear(self, message: Any) -> None:
        """Implements `Dialect.hear`."""
        context = self._session.contexts.get(str(self._texts))
        match text_of(message, "type"):
            case "Speak":
                await self._write(context, text_of(message, "text"))
            case "Flush" if context is not None:
                await self._flush(context)
            case "Flush":
                await self._answer("Flushed")
            case "Clear":
                self._session.contexts.drop(str(self._texts))
                await self._answer("Cleared")
            case "Close":
                self._session.finish()
            case other:
                await self.warn(f"Messages of the type {other[:32]!r} are not known.", "UNKNOWN_MESSAGE")

    async def _write(self, context: Context | None, text: str) -> None:
        if context is None:
            if not text.strip():
                return
            self._texts += 1
            context = self._session.contexts.open(str(self._texts), self._voicing)
        try:
            context.write(text)
        except TextError as error:
            await self.warn(error.message, error.code or "")

    async def _flush(self, context: Context) -> None:
        """Flush, and leave out held text that is refused: every flush is answered."""
        try:
            context.flush()
        except TextError as error:
            await self.warn(error.message, error.code or "")
            context.flush()

    async def tell(self, key: str, context: Context, event: Event) -> None:
        """Implements `Dialect.tell`."""
        if isinstance(event, Flushed):
            await self._answer("Flushed")
        elif event.audio:
            await self._session.send_bytes(event.audio)

    async def ended(self, key: str) -> None:
        """Implements `Dialect.ended`: the socket's close says it."""

    def error(self, key: str | None, body: dict[str, str | None], status: int) -> dict[str, Any]:
        """Implements `Dialect.error`."""
        return {"type": "Error", "description": body["message"], "err_msg": body["message"], "code": body["code"]}

    async def _answer(self, kind: str) -> None:
        await self._session.send({"type": kind, "sequence_id": self._sequence})
        self._sequence += 1

    async def warn(self, message: str, code: str) -> None:
        """Implements `Dialect.warn`. Clients read one field or the other."""
        await self._session.send({"type": "Warning", "description": message, "warn_msg": message, "code": code})


def deepgram_voicing(services: Services, voicing: Voicing, query: Mapping[str, str], output: OutputFormat) -> Voicing:
    """The voicing that an address asks for; `model` names the voice.

    Raises:
        ApiError: 400, naming the parameter that is wrong.
        Unavailable: no engine can speak now.
    """
    speed = query.get("speed", "1")
    if not _NUMBER.fullmatch(speed):
        raise ApiError(400, f"`speed`: {speed[:32]!r} is not a number.", param="speed", code="invalid_value")
    voicing = replace(
        voicing,
        format=output.format,
        sample_rate=output.sample_rate,
        bit_rate=output.bit_rate,
        speed=float(speed),
    )
    return find_voice(services.speaker, voicing, query.get("model") or None, None)


def rate_of(query: Mapping[str, str], name: str = "sample_rate") -> float | None:
    """A whole number of the address; None if it is absent.

    Raises:
        ApiError: 400, it is something else.
    """
    value = query.get(name)
    if value is None:
        return None
    if not value.isdecimal() or len(value) > 9:
        raise ApiError(400, f"`{name}` is not a whole number.", param=name, code="invalid_value")
    return float(value)


def deepgram_socket(request: web.Request, services: Services) -> Session:
    """A session, not served yet."""
    return Session(request, services, Deepgram)
