"""The score of a text: how its phonemes would be spoken, to be edited and sent back."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import msgspec
from aiohttp import web

from frontend.contexts.services import SERVICES
from frontend.contract.errors import ApiError
from frontend.contract.speaker import engine_in_use
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.no_effect import note_no_effect
from frontend.serving.route import WITH_BODY, Access, Routes, json_answer
from frontend.speech.asked import check_length, delivery_of, speech_request, text_of
from frontend.speech.body import SpeechBody
from frontend.speech.scores import MAX_CHARACTERS, SpeechScore, speech_score

_OF_SENDING = (
    "response_format",
    "format",
    "sample_rate",
    "stream_format",
    "stream",
    "timestamps",
    "from_sentence",
    "visemes",
    "user",
    "on_busy",
    "volume_multiplier",
    "return_timestamps",
    "return_download_link",
    "download_format",
    "priority",
)
"""Fields of a speech request that say how audio is sent."""

ROUTES = Routes()


@ROUTES.add(
    "post",
    "/v1/audio/score",
    Access.KEY,
    "Speech",
    json_answer("The score, to be sent to `/v1/audio/speech` as `score`.", SpeechScore),
    errors=(*WITH_BODY, 500),
    body=SpeechBody,
    example={"voice": "af_heart", "input": "Hello."},
    repeatable=True,
)
async def score(request: web.Request) -> web.Response:
    """Show how a text would be spoken.

    Takes the fields of a speech request, and answers with the duration, pitch and energy of each phoneme in place of
    the audio. 400 from an engine that can't tell.
    """
    services = request.app[SERVICES]
    settings = services.settings
    fields = await fields_of(request, SpeechBody)
    if fields.score is not None:
        raise ApiError(400, "`score`: give a text.", param="score", code="invalid_value")
    note_no_effect(request, [name for name in _OF_SENDING if getattr(fields, name) is not None])
    fields = msgspec.structs.replace(fields, **dict.fromkeys(_OF_SENDING))
    text = text_of(fields, settings)
    check_length(len(text), settings, "input", MAX_CHARACTERS)
    engine = engine_in_use(services.speaker)
    if not engine.inflects:
        message = f"{engine.name} with {engine.model} gives no score, and takes none."
        raise ApiError(400, message, code="score_unavailable")
    asked = speech_request(request, fields, text, None, engine, settings, delivery_of(fields, settings))
    with (
        services.in_flight.answering(text),
        closing(services.speaker.open(replace(asked, score_only=True))) as stream,
    ):
        written = [each async for each in stream.scores()]
    return json_response(speech_score(written, asked.performer, asked.inflection))
