"""One-shot calls of the dialects: a whole text in one request, answered with audio or with lines of JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import closing

from aiohttp import hdrs, web

from frontend.audio.formats import bytes_per_second
from frontend.contexts.context import Context
from frontend.contexts.events import Spoken
from frontend.contexts.services import Services
from frontend.contexts.voicing import Voicing
from frontend.contract.errors import ApiError, SpeechError
from frontend.http.answers import speakable
from frontend.http.answers.delivery import AudioResponse
from frontend.http.answers.ending import cut, left, reset_on_close
from frontend.http.answers.sent_ahead import FRAMED, bound_send_buffer, taken
from frontend.http.connections.connection import ClientLeft
from frontend.http.errors import late_error_body
from frontend.monitoring.metrics import Event
from shm import request_id
from text.errors import TextError
from text.isolation.mishap import Mishap

log = logging.getLogger(__name__)


async def answer(
    request: web.Request,
    services: Services,
    voicing: Voicing,
    text: str,
    headers: Mapping[str, str],
    frame: Callable[[Spoken], bytes],
) -> web.StreamResponse:
    """Speak the text, and send it while it is made. The response begins with the first bytes of audio, so any earlier
    failure has its own status; a later one cuts the connection before the last chunk.

    Args:
        headers: of the answer, with its content type.
        frame: the bytes to send for an event; none for an empty result.

    Raises:
        ApiError, SpeechError: nothing of the response has left yet.
    """
    check_text(text, services.settings.max_input_characters)
    response = AudioResponse(headers={**headers, **_named(services, voicing)})
    with closing(Context(services, voicing, whole=True)) as context:
        context.write(text)
        context.finish()
        try:
            async for event in context:
                if not isinstance(event, Spoken) or not (data := frame(event)):
                    continue
                if not response.prepared:
                    response.headers.update(_speakable(context))
                await _write(request, response, data, voicing)
        except Exception as error:
            if left(request):
                raise ClientLeft from error
            if not response.prepared:
                raise
            if isinstance(error, TextError | SpeechError):
                log.error("%s is cut: %s", request_id.current.get(), error)
            else:
                Mishap.of(error).log(log, f"{request_id.current.get()} is cut")
            services.metrics.count(Event.CUT)
            services.metrics.errors.add(request_id.current.get(), f"cut: {late_error_body(error)['code']}")
            cut(request)
        else:
            reset_on_close(request, False)
    return response


async def _write(request: web.Request, response: AudioResponse, data: bytes, voicing: Voicing) -> None:
    if not response.prepared:
        await response.prepare(request)
        reset_on_close(request, True)
        rate = bytes_per_second(voicing.format, voicing.sample_rate, voicing.bit_rate)
        bound_send_buffer(request, rate * FRAMED)
    await response.write(data)
    await taken(request)


async def collect(services: Services, voicing: Voicing, text: str) -> tuple[list[Spoken], dict[str, str]]:
    """Speak the text; all its events at once, and the headers that tell of them.

    Raises:
        ApiError, SpeechError: the text can't be spoken whole, or is longer than `--max-clip-seconds`.
    """
    check_text(text, services.settings.max_input_characters)
    with closing(Context(services, voicing, whole=True)) as context:
        context.write(text)
        context.finish()
        events: list[Spoken] = []
        limit = services.settings.max_clip_seconds
        async for event in context:
            if isinstance(event, Spoken):
                events.append(event)
                if event.seconds > limit:
                    message = f"The audio is longer than {limit} seconds. Ask for it as a stream."
                    raise ApiError(400, message, param="text", code="clip_too_long")
        return events, {**_named(services, voicing), **_speakable(context)}


def check_text(text: str, longest: int) -> None:
    """
    Raises:
        ApiError: 400, the text is blank or too long.
    """
    if not text.strip():
        raise ApiError(400, "The text is blank: give something to speak.", param="text", code="unspeakable")
    if len(text) > longest:
        message = f"The text has {len(text)} characters; at most {longest} are taken."
        raise ApiError(400, message, param="text", code="string_above_max_length")


def _named(services: Services, voicing: Voicing) -> dict[str, str]:
    engine = services.speaker.engine
    return {"X-Sample-Rate": str(voicing.sample_rate), "X-Engine": engine.name if engine else ""}


def _speakable(context: Context) -> dict[str, str]:
    return {speakable.HEADER: "none"} if context.silent else {}


def typed(content_type: str) -> dict[str, str]:
    """The header that names a content type."""
    return {hdrs.CONTENT_TYPE: content_type}
