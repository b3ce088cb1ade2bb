"""ElevenLabs' sockets: `multi-stream-input` with several contexts, and `stream-input` with one.

Source: https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from frontend.contexts.context import Context
from frontend.contexts.events import Event, Spoken
from frontend.contexts.services import Services
from frontend.contexts.voices import find_voice
from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError
from frontend.http.access.identity import KEY_DUE, DueKey
from frontend.http.dialects.alignment import Alignments
from frontend.http.dialects.audio_formats import elevenlabs_output
from frontend.http.dialects.clients import new_voicing, number_of, object_of, text_of
from frontend.http.dialects.fields import ElevenLabsMessage
from frontend.http.dialects.socket import Session
from text.errors import TextError
from text.markup.marked import MarkupKind
from text.normalization.settings import RULES

DEFAULT_OUTPUT = "mp3_44100_128"
DEFAULT_CONTEXT = "default"
"""Name of the context of messages without a `context_id`."""

IDLE_SECONDS, LONGEST_IDLE_SECONDS = 20.0, 180.0

_POLICY_VIOLATION = 1008
_TRUE = ("true", "1")


class ElevenLabs:
    """One socket. Implements `frontend.http.dialects.dialect.Dialect`."""

    name = "elevenlabs"
    message_type = ElevenLabsMessage

    def __init__(self, session: Session, single: bool) -> None:
        """`single`: the socket has one context, and ends with it."""
        self._session = session
        self._single = single
        self._query = query = session.request.query
        self._key_due: DueKey | None = session.request.get(KEY_DUE)
        self._voicing = new_voicing(session.request, "")
        self._settled = query.get("auto_mode", "").lower() in _TRUE
        self._alignments: dict[str, Alignments] = {}
        self._idle_seconds = IDLE_SECONDS

    @property
    def idle_seconds(self) -> float:
        """Implements `Dialect.idle_seconds`. A client that owes its key has no longer than one that owes a header."""
        if self._key_due is None:
            return self._idle_seconds
        return min(self._idle_seconds, self._session.services.settings.header_timeout)

    async def begin(self) -> None:
        """Check the address.

        Raises:
            ApiError, Unavailable: voice, output format, normalisation or timeout are none of the server's.
        """
        self._idle_seconds = _idle_seconds(self._query.get("inactivity_timeout"))
        output = elevenlabs_output(self._query.get("output_format", DEFAULT_OUTPUT))
        voicing = replace(
            self._voicing,
            format=output.format,
            sample_rate=output.sample_rate,
            bit_rate=output.bit_rate,
            timestamps=True,
            rules_off=rules_off(self._query.get("apply_text_normalization")),
            markup=MarkupKind.SSML if self._query.get("enable_ssml_parsing", "").lower() in _TRUE else MarkupKind.NONE,
        )
        voice = self._session.request.match_info["voice"]
        self._voicing = find_voice(self._session.services.speaker, voicing, voice, self._query.get("language_code"))

    async def hear(self, message: Any) -> None:
        """Implements `Dialect.hear`."""
        self._check_key(message)
        key = DEFAULT_CONTEXT if self._single else text_of(message, _id_field(message)) or DEFAULT_CONTEXT
        if message.get("close_socket"):
            self._session.finish()
            return
        try:
            self._follow(key, message)
        except TextError as error:
            self._session.contexts.drop(key)
            await self._session.fail(None if error.status == 401 else key, error)

    def _follow(self, key: str, message: Mapping[str, Any]) -> None:
        context, text = self._session.contexts.get(key), text_of(message, "text")
        ends = bool(message.get("close_context")) or (self._single and message.get("text") == "")
        if context is None and text and not ends:
            context = self._open(key, message)
        elif context is not None and context.finished and text.strip():
            raise ApiError(400, f"The context {key[:64]!r} has been closed.", code="context_closed")
        if context is None:
            if self._single and ends:
                self._session.finish()
            return
        if text.strip():
            # Clients send whole words, and some leave out the space between two sentences.
            context.write(f"{text} " if self._settled else text, settled=self._settled)
        if message.get("flush") or (self._single and message.get("try_trigger_generation") and text.strip()):
            context.flush(report=False)
        if ends:
            context.finish()
            self._session.contexts.closing |= self._single

    def _open(self, key: str, message: Mapping[str, Any]) -> Context:
        speed = number_of(object_of(message, "voice_settings"), "speed")
        voicing: Voicing = replace(
            self._voicing, client=f"{self._voicing.client}/{key}", speed=self._voicing.speed if speed is None else speed
        )
        find_voice(self._session.services.speaker, voicing, None, None)  # the speed's range, and an engine that speaks
        context = self._session.contexts.open(key, voicing)
        self._alignments = {name: each for name, each in self._alignments.items() if self._session.contexts.get(name)}
        self._alignments[key] = Alignments()
        return context

    def _check_key(self, message: Mapping[str, Any]) -> None:
        if self._key_due is None:
            return
        offered = text_of(message, "xi-api-key") or text_of(message, "xi_api_key")
        offered = offered or re.sub(r"(?i)^bearer ", "", text_of(message, "authorization"))
        if not offered or not self._key_due.matches(offered):
            what = "That API key is none of this server's." if offered else "An API key is needed, as xi-api-key."
            raise ApiError(401, what, code="invalid_api_key" if offered else "missing_api_key")
        self._key_due = None

    async def warn(self, message: str, code: str) -> None:
        """Implements `Dialect.warn`: ElevenLabs has no warnings."""

    async def tell(self, key: str, context: Context, event: Event) -> None:
        """Implements `Dialect.tell`."""
        if not isinstance(event, Spoken):
            return
        alignments = self._alignments[key]
        alignments.add(event.words)
        if not event.audio:
            return
        written, said = alignments.cover(event.seconds) or (None, None)
        audio = base64.b64encode(event.audio).decode()
        times = {"alignment": written, "normalizedAlignment": said}
        await self._session.send({"audio": audio, "isFinal": None, **times, **self._names(key)})

    async def ended(self, key: str) -> None:
        """Implements `Dialect.ended`."""
        self._alignments.pop(key, None)
        await self._session.send({"audio": None, "isFinal": True, **self._names(key)})

    def error(self, key: str | None, body: dict[str, str | None], status: int) -> dict[str, Any]:
        """Implements `Dialect.error`."""
        names = {} if key is None else self._names(key)
        return {"error": body["code"], "code": _POLICY_VIOLATION, "message": body["message"], **names}

    def _names(self, key: str) -> dict[str, str]:
        """Both spellings of a context's name: clients read one or the other."""
        return {} if self._single else {"contextId": key, "context_id": key}


def rules_off(wanted: str | None) -> tuple[str, ...]:
    """The normalisation rules that `apply_text_normalization` turns off: all of them, or none.

    Args:
        wanted: the parameter's value; None or "" if it is absent.

    Raises:
        ApiError: 400, the value is none of the service's.
    """
    if not wanted or wanted in ("auto", "on"):
        return ()
    if wanted == "off":
        return RULES
    message = f"`apply_text_normalization` is {wanted[:64]!r}; it must be auto, on or off."
    raise ApiError(400, message, param="apply_text_normalization", code="invalid_value")


def elevenlabs_socket(request: web.Request, services: Services, *, single: bool) -> Session:
    """A session, not served yet."""
    return Session(request, services, lambda session: ElevenLabs(session, single))


def _id_field(message: Mapping[str, Any]) -> str:
    return "context_id" if "context_id" in message else "contextId"


def _idle_seconds(wanted: str | None) -> float:
    if not wanted:
        return IDLE_SECONDS
    if not wanted.isdecimal() or len(wanted) > 9:
        message = f"`inactivity_timeout` is {wanted[:64]!r}; it must be a whole number of seconds."
        raise ApiError(400, message, param="inactivity_timeout", code="invalid_value")
    return min(max(float(wanted), 1.0), LONGEST_IDLE_SECONDS)
