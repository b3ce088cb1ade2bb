"""Every operation of the API, one entry each: what is asked, what is answered. A new route needs one here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from frontend.audio.formats import FORMATS
from frontend.http.answers import sse
from frontend.http.openapi import answers
from frontend.http.phonemize import PhonemizeBody
from frontend.http.requests.schema import SpeechBody

JSON = "application/json"
FILES = tuple(dict.fromkeys(info.content_type for info in FORMATS.values()))

WITH_BODY = (400, 403, 408, 413, 415, 429, 503)
"""The errors of whatever takes a body."""

SPEECH_HEADERS = ("X-Engine", "X-Sample-Rate", "X-Cache", "X-Primed-Silence")


@dataclass(frozen=True, slots=True)
class Answer:
    """One successful (or, for `/ready`, expected) answer: its content types, each with its type; None: bytes."""

    description: str
    content: Mapping[str, Any]
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """A method on a path. What is under `/v1` also answers without it, which is not listed again."""

    method: str
    path: str
    tag: str
    summary: str
    answers: Mapping[int, Answer]
    description: str = ""
    errors: tuple[int, ...] = (403,)
    body: Any = None
    example: dict[str, Any] = field(default_factory=dict)
    """A body that works."""
    request_headers: tuple[str, ...] = ()


def _json(description: str, kind: Any, headers: tuple[str, ...] = ()) -> Answer:
    return Answer(description, {JSON: kind}, headers)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "post",
        "/v1/audio/speech",
        "Speech",
        "Speak a text",
        {
            200: Answer(
                "The audio, while it is made. A response that ends cleanly is complete; otherwise the connection is "
                "cut before its last chunk.",
                {**dict.fromkeys(FILES), sse.CONTENT_TYPE: None, JSON: answers.TimedSpeech},
                SPEECH_HEADERS,
            )
        },
        "OpenAI's operation, and more. Fields that are not named are ignored. The body is read as JSON whatever its "
        "content type says.",
        (*WITH_BODY, 409, 500),
        SpeechBody,
        {"model": "kokoro", "voice": "af_heart", "input": "Hello.", "response_format": "mp3"},
        ("X-Session", "X-Request-Id", "Cache-Control"),
    ),
    Operation(
        "post",
        "/dev/captioned_speech",
        "Speech",
        "Speak a text, and say when each word sounds",
        {
            200: Answer(
                "With `stream`: `false` one object; otherwise one a line, each word in the line in which it begins.",
                {"application/x-ndjson": answers.CaptionedSpeech, JSON: answers.CaptionedSpeech},
                SPEECH_HEADERS,
            )
        },
        "Kokoro-FastAPI's operation. 400 from an engine that can't tell when its words sound.",
        (*WITH_BODY, 409, 500),
        SpeechBody,
        {"voice": "af_heart", "input": "Hello.", "stream": False},
        ("X-Session", "X-Request-Id", "Cache-Control"),
    ),
    Operation(
        "post",
        "/dev/phonemize",
        "Speech",
        "Show how a text would be pronounced",
        {200: _json("Word by word.", answers.Phonemized)},
        errors=WITH_BODY,
        body=PhonemizeBody,
        example={"input": "Hello.", "lang": "en-us"},
    ),
    Operation(
        "get", "/v1/models", "Lists", "The models", {200: _json("All mean the one model here.", answers.ModelList)}
    ),
    Operation(
        "get",
        "/v1/models/{id}",
        "Lists",
        "One model",
        {200: _json("It is known.", answers.Model)},
        errors=(403, 404),
    ),
    Operation(
        "get",
        "/v1/audio/models",
        "Lists",
        "The models, for Open WebUI",
        {200: _json("The models.", answers.AudioModels)},
    ),
    Operation(
        "get",
        "/v1/audio/voices",
        "Lists",
        "The voices of the engine that speaks",
        {200: _json("The voices.", answers.Voices)},
        errors=(403, 503),
    ),
    Operation(
        "get",
        "/voices",
        "Lists",
        "The same as /v1/audio/voices",
        {200: _json("The voices.", answers.Voices)},
        errors=(403, 503),
    ),
    Operation(
        "get",
        "/health",
        "Server",
        "Is it alive?",
        {200: _json("It is, whatever is being spoken.", answers.Alive)},
    ),
    Operation(
        "get",
        "/ready",
        "Server",
        "Can it speak?",
        {
            200: _json("It can.", answers.Ready),
            503: _json("It can't, and why.", answers.NotReady, ("Retry-After",)),
        },
    ),
    Operation(
        "get",
        "/status",
        "Server",
        "What it does, and how it fares",
        {200: _json("Counts begin with the process that counts.", answers.Status)},
    ),
    Operation(
        "get",
        "/metrics",
        "Server",
        "The same for Prometheus",
        {200: Answer("In the text format that `Accept` asks for.", {"text/plain": None})},
    ),
    Operation(
        "get",
        "/openapi.json",
        "Server",
        "This description",
        {200: _json("OpenAPI 3.1.", answers.OpenApiDocument)},
    ),
    Operation(
        "get",
        "/docs",
        "Server",
        "This description, to read",
        {200: Answer("A page that needs nothing from elsewhere.", {"text/html": None})},
    ),
)
