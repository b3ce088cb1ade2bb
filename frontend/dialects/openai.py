"""OpenAI: a text's audio, as a file or as events, and what this server adds to it: markup, times, several voices.

Source: https://platform.openai.com/docs/api-reference/audio/createSpeech
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from aiohttp import hdrs, web
from msgspec import Meta

from frontend.contexts.body import GrowingBody
from frontend.contract.errors import ApiError
from frontend.dialects.dialect import FILES, Dialect
from frontend.serving.errors import REFUSAL_STATUS
from frontend.serving.json_body import fields_of, query_of
from frontend.serving.no_effect import note_no_effect
from frontend.serving.route import JSON, WITH_BODY, Access, Answer, Routes
from frontend.serving.services import SERVICES
from frontend.speech import lines
from frontend.speech.accept import NEGOTIATED
from frontend.speech.answer import ANSWERS
from frontend.speech.asked import delivery_of, is_negotiable, markup_of, session_of, speech_request, text_of, turns_of
from frontend.speech.body import DialogueBody, SpeechBody, VoiceReference
from frontend.speech.framing import EVENTS, SpeechEvent, TimedSpeech
from shm.killpoint import killpoint
from text.markup.marked import MarkupKind


def _without_effect(fields: SpeechBody, *, captioned: bool, session_header: bool) -> list[str]:
    """Fields of which more than the body decides that they change nothing; `fields_of` names the others.

    Args:
        captioned: the request is for captioned speech.
        session_header: the request has a header X-Session.
    """
    dead = {
        "return_timestamps": bool(fields.return_timestamps) and not captioned,
        "timestamps": captioned and fields.timestamps == "word",
        "stream_format": captioned and fields.stream_format is not None,
        "voice_aliases": bool(fields.voice_aliases) and not _may_name_aliases(fields),
        "user": fields.user is not None and session_header,
        "on_busy": fields.on_busy is not None and fields.user is None and not session_header,
    }
    return [name for name, is_dead in dead.items() if is_dead]


def _may_name_aliases(fields: SpeechBody) -> bool:
    names = {name.casefold() for name in fields.voice_aliases or {}}
    voice = fields.voice.id if isinstance(fields.voice, VoiceReference) else fields.voice
    named = (voice, *(turn.voice or turn.voice_id for turn in turns_of(fields)[1]))
    tagged = markup_of(fields) in (MarkupKind.TAGS, MarkupKind.SSML) and fields.phonemes is None
    return tagged or any(voice is not None and voice.strip().casefold() in names for voice in named)


SPEECH_HEADERS = ("X-Engine", "X-Sample-Rate", "X-Cache", "X-Speakable", "X-Primed-Silence", "X-Download-Path")

SPEECH_CONTENT = {
    **dict.fromkeys(FILES),
    EVENTS: SpeechEvent,
    lines.CONTENT_TYPE: lines.SpeechLine,
    JSON: TimedSpeech,
}
"""Content types of an answer with audio, with the types of those that are JSON."""

REQUEST_HEADERS = ("X-Session", "X-Request-Id", "Cache-Control", REFUSAL_STATUS)

LAST_EVENT = "Last-Event-ID"

SPEAKS: Mapping[str, Any] = {
    "errors": (*WITH_BODY, 406, 409, 500),
    "request_headers": (*REQUEST_HEADERS, LAST_EVENT),
    "repeatable": True,
}
"""Fields of all routes that take a body and answer with its speech."""

ROUTES = Routes()


@ROUTES.add(
    "post",
    "/v1/audio/speech",
    Access.KEY,
    "Speech",
    Answer(
        "The audio, while it is made. A response that ends cleanly is complete; otherwise the connection "
        "is cut before its last chunk.",
        SPEECH_CONTENT,
        SPEECH_HEADERS,
    ),
    body=SpeechBody,
    example={"model": "kokoro", "voice": "af_heart", "input": "Hello.", "response_format": "mp3"},
    **SPEAKS,
)
async def speech(request: web.Request) -> web.StreamResponse:
    """Speak a text.

    OpenAI's operation, and more. `X-Warning` names fields that have no effect. The body is read as JSON whatever its
    content type says. `Accept` chooses the audio's format where the body names none.
    """
    return await speak(request, await fields_of(request, SpeechBody))


@ROUTES.add(
    "get",
    "/v1/audio/speech",
    Access.LOCAL,
    "Speech",
    Answer("The audio, as from the POST.", dict.fromkeys(FILES), SPEECH_HEADERS),
    errors=(400, 403, 406, 409, 429, 500, 503),
    request_headers=(*REQUEST_HEADERS, LAST_EVENT),
    query=SpeechBody,
)
async def speech_by_address(request: web.Request) -> web.StreamResponse:
    """Speak a text that stands in the address.

    For players that take an address. Without configured keys it answers clients on the server's own machine only, and
    no page of another site.
    """
    return await speak(request, query_of(request, SpeechBody))


@ROUTES.add(
    "post",
    "/v1/audio/speech/text",
    Access.KEY,
    "Speech",
    Answer("The audio, while the text comes.", SPEECH_CONTENT, SPEECH_HEADERS),
    errors=(*WITH_BODY, 406, 409, 500),
    request_headers=REQUEST_HEADERS,
    body=Annotated[str, Meta(description="The text, UTF-8, in pieces of any size.")],
    example="Hello.",
    body_type="text/plain",
    query=SpeechBody,
    streams_body=True,
)
async def growing_text(request: web.Request) -> web.StreamResponse:
    """Speak the body, a text that is still being written.

    A sentence sounds as soon as it has come: `llm | curl -sT - HOST/v1/audio/speech/text`. The fields of a speech
    request stand in the address. If the text stops, the answer waits; after five minutes it is cut.
    """
    fields = query_of(request, SpeechBody)
    for name in ("input", "text", "phonemes", "score"):
        if getattr(fields, name) is not None:
            raise ApiError(400, f"`{name}`: the text is the body.", param=name, code="invalid_value")
    fields.markup = fields.markup or MarkupKind.NONE
    return await speak(request, fields, body=GrowingBody(request.content, request.app[SERVICES]))


@ROUTES.add(
    "post",
    "/v1/audio/dialogue",
    Access.KEY,
    "Speech",
    Answer("The audio of all turns, as from `/v1/audio/speech`.", SPEECH_CONTENT, SPEECH_HEADERS),
    body=DialogueBody,
    example={
        "turns": [{"voice": "af_heart", "text": "Who is there?"}, {"voice": "am_michael", "text": "It is me."}],
        "pause_between_turns": 0.3,
    },
    **SPEAKS,
)
async def dialogue(request: web.Request) -> web.StreamResponse:
    """Speak the turns of several voices.

    Takes the fields of a speech request, with `turns` in place of `input`. Each turn is spoken by its own voice, in
    that voice's language.
    """
    return await speak(request, await fields_of(request, DialogueBody))


async def speak(
    request: web.Request,
    fields: SpeechBody,
    *,
    captioned: bool = False,
    usual: str | None = None,
    body: GrowingBody | None = None,
) -> web.StreamResponse:
    """Answer a request with its speech.

    Args:
        captioned: as `usual`, an argument of `delivery_of`.
        body: the text, if it is still being written.

    Raises:
        ApiError, SpeechError: nothing of the response has left yet.
    """
    answers = request.app[ANSWERS]
    text = "" if body else text_of(fields, answers.settings)
    accept = ""
    if is_negotiable(fields, captioned=captioned):
        request[NEGOTIATED] = True
        accept = ",".join(request.headers.getall(hdrs.ACCEPT, ()))
    last_event = request.headers.get(LAST_EVENT, "")
    delivery = delivery_of(
        fields, answers.settings, accept=accept, last_event=last_event, captioned=captioned, usual=usual
    )
    killpoint("parsed")
    named = bool(request.headers.get("X-Session"))
    note_no_effect(request, _without_effect(fields, captioned=captioned, session_header=named))
    session = session_of(request, fields.user)
    return await answers.speak(
        request,
        text,
        delivery,
        lambda engine: speech_request(request, fields, text, session, engine, answers.settings, delivery),
        session=session,
        on_busy=fields.on_busy,
        body=body,
    )


DIALECT = Dialect("openai", ROUTES, optional=False)
