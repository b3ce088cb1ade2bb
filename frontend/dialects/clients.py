"""What the dialects of other services share: their client's identity, and the answer to a one-shot call."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from frontend.contract.request import Urgency
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
