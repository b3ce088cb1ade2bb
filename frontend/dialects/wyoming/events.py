"""Wyoming's events: as clients send them, with limits (`wyoming.event.async_read_event` has none), and the server's
description.

An event is a line of JSON, `{"type", "data", "data_length", "payload_length"}`, then `data_length` bytes of more
JSON for `data`, then `payload_length` bytes of anything. Source: https://github.com/OHF-Voice/wyoming.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import version
from typing import Any

import msgspec
from wyoming.event import Event
from wyoming.info import Attribution, Info, TtsProgram, TtsVoice
from wyoming.tts import SynthesizeTextFormat

from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.serving.json_body import fields_in
from frontend.settings.front import FrontSettings
from frontend.speech.voices import asked_speech
from shm.engine_info import EngineInfo
from text.markup.marked import MarkupKind
from text.words.voice_spec import VoiceError, parse_voice


class _Voice(msgspec.Struct):
    name: str | None = None
    language: str | None = None


class TextFields(msgspec.Struct):
    """The fields of the events that have an effect: the library's own types check nothing."""

    text: str | None = None
    text_format: str | None = None
    voice: _Voice | None = None


def text_fields(event: Event) -> TextFields:
    return fields_in(event.data, TextFields)


def asked_by(fields: TextFields, engine: EngineInfo, settings: FrontSettings, **identity: Any) -> SpeechRequest:
    """The request of a `synthesize` or `synthesize-start`, without its text. The `speaker` of its voice is ignored,
    because no voice has several.

    Args:
        identity: the request's id and its client.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    form = fields.text_format or SynthesizeTextFormat.TEXT
    if form not in list(SynthesizeTextFormat):
        message = f"`text_format`: {form[:32]!r} is none of {', '.join(SynthesizeTextFormat)}."
        raise ApiError(400, message, param="text_format", code="invalid_value")
    voice = fields.voice or _Voice()
    name, language = voice.name, voice.language
    markup = MarkupKind.SSML if form == SynthesizeTextFormat.SSML else MarkupKind.NONE
    return asked_speech(engine, settings, name, language or None, markup=markup, **identity)


MAX_LINE_BYTES = 64 * 1024
"""The longest line. Clients send their texts after it, as `data`."""

_PIECE_BYTES = 64 * 1024
"""Bytes of a payload that are read at once."""

_TAGS = {"en-us": "en-US", "en-gb": "en-GB", "fr-fr": "fr-FR", "pt-br": "pt-BR", "cmn": "zh-CN"}
"""Language tags (BCP 47) where ours differ; Home Assistant compares tags with those of its own settings."""

_OURS = Attribution("kokoro-live", "")

log = logging.getLogger(__name__)


async def read_line(reader: asyncio.StreamReader) -> bytes | None:
    """An event's first line; None at the connection's end. A call that was cancelled has taken nothing.

    Raises:
        ApiError: 413, the line is too long; 400, the connection ended within it.
        ConnectionError: the client can't be reached any more.
    """
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise _cut() from error
        return None
    except asyncio.LimitOverrunError as error:
        raise _too_long("line", MAX_LINE_BYTES) from error
    except OSError as error:
        raise _lost(error) from error


async def read_rest(
    reader: asyncio.StreamReader, line: bytes, limit: int, reading: Callable[[int], AbstractContextManager[None]]
) -> tuple[Event, int]:
    """The event that begins with this line, and its length in bytes. Its payload is read and dropped: no event for
    speech has one.

    Args:
        limit: most bytes of the event's data, and of its payload.
        reading: gives a block in which so many bytes of data are read.

    Raises:
        ApiError: 400, it isn't an event, or the connection ended within it; 413, it is too long.
        ConnectionError: the client can't be reached any more.
        Unavailable: `reading` has no room for the data.
    """
    head = _object(line)
    kind, data = head.get("type"), head.get("data")
    if not isinstance(kind, str) or not isinstance(data, dict | None):
        raise _no_event("its `type` is not a string, or its `data` not an object")
    length = len(line)
    data_length, payload_length = _length(head, "data_length", limit), _length(head, "payload_length", limit)
    length += data_length + payload_length
    try:
        with reading(data_length):
            more = _object(await reader.readexactly(data_length)) if data_length else {}
        while payload_length:
            payload_length -= len(await reader.readexactly(min(payload_length, _PIECE_BYTES)))
    except asyncio.IncompleteReadError as error:
        raise _cut() from error
    except OSError as error:
        raise _lost(error) from error
    return Event(kind, (data or {}) | more), length


def _object(text: bytes) -> dict[str, Any]:
    try:
        decoded = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(400, f"The event is not JSON: {error}.", code="invalid_json") from error
    if not isinstance(decoded, dict):
        raise _no_event("it is not an object")
    return decoded


def _length(head: dict[str, Any], field: str, limit: int) -> int:
    length = head.get(field) or 0
    if not isinstance(length, int) or isinstance(length, bool) or length < 0:
        raise _no_event(f"its `{field}` is no number of bytes")
    if length > limit:
        raise _too_long(field, limit)
    return length


def _no_event(reason: str) -> ApiError:
    return ApiError(400, f"This is not a Wyoming event: {reason}.", code="invalid_event")


def _too_long(what: str, limit: int) -> ApiError:
    return ApiError(413, f"The event's {what} is longer than {limit} bytes: split the text.", code="event_too_long")


def _cut() -> ApiError:
    return ApiError(400, "The connection ended within an event.", code="incomplete_event")


def _lost(error: OSError) -> ConnectionError:
    """The end of the connection, whatever the system calls it: ETIMEDOUT is a `TimeoutError`, like an idle client's."""
    return ConnectionAbortedError(str(error))


class EventBytes:
    """Takes what the library writes: an event leaves whole, together with what it means."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def write(self, data: bytes) -> None:
        self.bytes += data

    def writelines(self, parts: Iterable[bytes]) -> None:
        self.bytes += b"".join(parts)

    async def drain(self) -> None:
        """Everything is taken at once."""


def info(engine: EngineInfo, blends: Sequence[str]) -> Info:
    """The answer to `describe`.

    Args:
        blends: voices in the grammar of `text.words.voice_spec`; those that the engine can't speak are left out.
    """
    voices = [_voice(name, engine) for name in (*engine.voice_names, *_spoken(blends, engine))]
    program = TtsProgram(
        name="kokoro-live",
        attribution=_OURS,
        installed=True,
        description="Kokoro's voices, streamed while they are made",
        version=version("kokoro-live"),
        voices=voices,
        supports_synthesize_streaming=True,
    )
    return Info(tts=[program])


def _spoken(blends: Sequence[str], engine: EngineInfo) -> list[str]:
    spoken = []
    for blend in blends:
        try:
            parse_voice(blend, engine.voices)
        except VoiceError as error:
            log.warning("--wyoming-blends: %s", error)
        else:
            spoken.append(blend)
    return spoken


def _voice(name: str, engine: EngineInfo) -> TtsVoice:
    """A voice or a blend, which has its heaviest voice's maker and language."""
    blend = parse_voice(name, engine.voices)
    heaviest, _ = max(blend, key=lambda part: part[1])
    voice = next(each for each in engine.voices if each.name == heaviest)
    gender = voice.gender if voice.name == name else None
    return TtsVoice(
        name=name,
        attribution=Attribution(voice.maker, voice.maker_page) if voice.maker else _OURS,
        installed=True,
        description=f"{voice.title}, {gender}" if voice.title and gender else name,
        version=None,
        languages=[_TAGS.get(voice.language, voice.language)],
    )
