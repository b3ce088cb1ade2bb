"""Cartesia's socket: contexts by `context_id`, raw audio in JSON, word times in seconds.

Source: https://docs.cartesia.ai/api-reference/tts/websocket
"""

from __future__ import annotations

import base64
import time
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
from frontend.http.dialects.audio_formats import named_output
from frontend.http.dialects.clients import new_voicing, number_of, object_of, text_of
from frontend.http.dialects.fields import CartesiaMessage
from frontend.http.dialects.socket import Session
from text.errors import TextError

DEFAULT_DELAY_MS, LONGEST_DELAY_MS = 3000.0, 5000.0

SPEEDS = {"slowest": 0.6, "slow": 0.8, "normal": 1.0, "fast": 1.2, "fastest": 1.5}
"""The older API's names of speeds."""


class Cartesia:
    """One socket. Implements `frontend.http.dialects.dialect.Dialect`."""

    name = "cartesia"
    message_type = CartesiaMessage
    idle_seconds = 300.0

    def __init__(self, session: Session) -> None:
        self._session = session
        self._heard_at: dict[str, float] = {}
        self._flush_ids: dict[str, int] = {}

    async def begin(self) -> None:
        """Implements `Dialect.begin`: each message says all itself."""

    async def hear(self, message: Any) -> None:
        """Implements `Dialect.hear`. An error of a context leaves the socket open."""
        key = text_of(message, "context_id") or str(uuid.uuid4())
        try:
            await self._follow(key, message)
        except TextError as error:
            self._session.contexts.drop(key, remember=False)
            await self._session.fail(key, error)

    async def _follow(self, key: str, message: Mapping[str, Any]) -> None:
        if message.get("cancel"):
            if self._session.contexts.get(key):
                self._session.contexts.drop(key, remember=False)
                await self.ended(key)
            return
        text, goes_on = text_of(message, "transcript"), bool(message.get("continue"))
        context = self._session.contexts.get(key)
        if context is None:
            if not (text.strip() or goes_on):
                await self.ended(key)
                return
            context = self._open(key, message)
        elif context.finished and text.strip():
            raise ApiError(
                400, f"The context {key[:64]!r} takes no more text.", param="context_id", code="context_closed"
            )
        self._heard_at.setdefault(key, time.monotonic())
        context.write(text)
        if message.get("flush"):
            context.flush()
        elif context.voicing.patience == 0:
            context.flush(report=False)
        if not goes_on:
            context.finish()

    def _open(self, key: str, message: Mapping[str, Any]) -> Context:
        delay = number_of(message, "max_buffer_delay_ms")
        delay = DEFAULT_DELAY_MS if delay is None else min(max(delay, 0.0), LONGEST_DELAY_MS)
        request = self._session.request
        voicing = replace(
            cartesia_voicing(self._session.services, new_voicing(request, key), message),
            timestamps=bool(message.get("add_timestamps")),
            patience=delay / 1000,
        )
        for known in (self._heard_at, self._flush_ids):
            known.pop(key, None)
            for name in [each for each in known if not self._session.contexts.get(each)]:
                del known[name]
        return self._session.contexts.open(key, voicing)

    async def warn(self, message: str, code: str) -> None:
        """Implements `Dialect.warn`: Cartesia has no warnings."""

    async def tell(self, key: str, context: Context, event: Event) -> None:
        """Implements `Dialect.tell`."""
        if isinstance(event, Flushed):
            self._flush_ids[key] = event.number
            await self._send(key, "flush_done", 206, done=False, flush_done=True, flush_id=event.number)
            return
        if event.words:
            words = {
                "words": [word.word for word in event.words],
                "start": [word.start for word in event.words],
                "end": [word.end for word in event.words],
            }
            await self._send(key, "timestamps", 206, done=False, word_timestamps=words)
        if event.audio and self._session.contexts.get(key) is context:  # it may be cancelled while the client reads
            audio = base64.b64encode(event.audio).decode()
            took = (time.monotonic() - self._heard_at.get(key, time.monotonic())) * 1000
            flush = {"flush_id": self._flush_ids[key]} if key in self._flush_ids else {}
            await self._send(key, "chunk", 206, done=False, data=audio, step_time=round(took, 3), **flush)

    async def ended(self, key: str) -> None:
        """Implements `Dialect.ended`."""
        self._heard_at.pop(key, None)
        self._flush_ids.pop(key, None)
        await self._send(key, "done", 200, done=True)

    def error(self, key: str | None, body: dict[str, str | None], status: int) -> dict[str, Any]:
        """Implements `Dialect.error`."""
        text = {"title": "The request failed", "message": body["message"], "error": body["message"]}
        code = {"error_code": body["code"], "status_code": status}
        return {"type": "error", "done": True, **text, **code, "context_id": key}

    async def _send(self, key: str, kind: str, status: int, **fields: Any) -> None:
        await self._session.send({"type": kind, "status_code": status, "context_id": key, **fields})


def cartesia_voicing(services: Services, voicing: Voicing, message: Mapping[str, Any]) -> Voicing:
    """The voicing that a message of the socket or a body of the one-shot call asks for.

    Raises:
        ApiError: 400, naming the field that is wrong.
        Unavailable: no engine can speak now.
    """
    output = object_of(message, "output_format")
    container = text_of(output, "container") or "raw"
    encoding = text_of(output, "encoding") or "pcm_s16le"
    if container not in ("raw", "wav", "mp3") or (container == "wav" and encoding != "pcm_s16le"):
        message_text = f"`output_format`: {container} with {encoding} is not made here: raw, wav of pcm_s16le, or mp3."
        raise ApiError(400, message_text, param="output_format", code="invalid_output_format")
    name = encoding if container == "raw" else container
    found = named_output(name, number_of(output, "sample_rate"), number_of(output, "bit_rate"))
    speed = number_of(object_of(message, "generation_config"), "speed")
    if speed is None and message.get("speed") is not None:
        named = message["speed"]
        speed = SPEEDS.get(named) if isinstance(named, str) else number_of(message, "speed")
        if speed is None:
            raise ApiError(400, f"`speed` is none of {', '.join(SPEEDS)}.", param="speed", code="invalid_value")
    voicing = replace(
        voicing,
        format=found.format,
        sample_rate=found.sample_rate,
        bit_rate=found.bit_rate,
        speed=1.0 if speed is None else speed,
    )
    return find_voice(services.speaker, voicing, _voice_of(message), text_of(message, "language") or None)


def cartesia_socket(request: web.Request, services: Services) -> Session:
    """A session, not served yet."""
    return Session(request, services, Cartesia)


def _voice_of(message: Mapping[str, Any]) -> str:
    if isinstance(message.get("voice"), str):
        return text_of(message, "voice")
    voice = object_of(message, "voice")
    if name := text_of(voice, "id"):
        return name
    raise ApiError(400, '`voice` must be {"mode": "id", "id": NAME}.', param="voice", code="missing_required")
