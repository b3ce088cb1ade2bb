"""A dialect's view of its client: the identity, and fields of messages that may have any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from frontend.contract.errors import ApiError
from frontend.contract.urgency import Urgency
from frontend.speech.answer import ANSWERS, Delivery
from frontend.speech.asked import checked_text, client_of, is_fresh
from frontend.speech.voices import asked_speech
from shm import request_id


def listener_of(request: web.Request, context: str = "") -> dict[str, Any]:
    """The fields of a `SpeechRequest` that say who listens on a socket: contexts of different names are different
    listeners."""
    client = "/".join((client_of(request), request_id.current.get(), context))
    return {"client": client, "fresh": is_fresh(request)}


async def speak(
    request: web.Request,
    text: tuple[str, str],
    delivery: Delivery,
    voice: str | None,
    language: str | None,
    **more: Any,
) -> web.StreamResponse:
    """Answer a one-shot call.

    Args:
        text: the text, and the field that it stands in.
        voice: voice, language and `more` are those of `asked_speech`.

    Raises:
        TextError, SpeechError: nothing of the response has left yet.
    """
    answers = request.app[ANSWERS]
    spoken = checked_text(text[0], answers.settings, text[1])
    listener: dict[str, Any] = {"client": client_of(request), "fresh": is_fresh(request), "text": spoken}
    urgency = Urgency.LISTENING if delivery.streamed else Urgency.WHOLE
    return await answers.speak(
        request,
        spoken,
        delivery,
        lambda engine: asked_speech(engine, answers.settings, voice, language, urgency=urgency, **listener, **more),
    )


def text_of(message: Mapping[str, Any], field: str) -> str:
    """A field that is text; absent and null are "".

    Raises:
        ApiError: 400, it is something else.
    """
    value = message.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ApiError(400, f"`{field}` is not a string.", param=field, code="invalid_value")
    return value


def number_of(fields: Mapping[str, Any], field: str) -> float | None:
    """A field that is a number; None if it is absent or null.

    Raises:
        ApiError: 400, it is something else.
    """
    value = fields.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ApiError(400, f"`{field}` is not a number.", param=field, code="invalid_value")
    try:
        return float(value)
    except OverflowError as error:
        raise ApiError(400, f"`{field}` is too large.", param=field, code="invalid_value") from error


def object_of(fields: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """A field that is an object; absent and null are empty.

    Raises:
        ApiError: 400, it is something else.
    """
    value = fields.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ApiError(400, f"`{field}` is not an object.", param=field, code="invalid_value")
    return value
