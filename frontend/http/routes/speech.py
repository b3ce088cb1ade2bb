"""Routes that make speech or show a text's pronunciation."""

from __future__ import annotations

from frontend.audio.formats import FORMATS
from frontend.http.access.rules import Access
from frontend.http.answers import sse
from frontend.http.openapi import answers
from frontend.http.phonemize import PhonemizeBody
from frontend.http.requests.schema import SpeechBody
from frontend.http.routes.route import JSON, Answer, Operation, Route, json_answer

FILES = tuple(dict.fromkeys(info.content_type for info in FORMATS.values()))

WITH_BODY = (400, 403, 408, 413, 415, 429, 503)
"""Status codes of the errors of all routes that take a body."""

SPEECH_HEADERS = ("X-Engine", "X-Sample-Rate", "X-Cache", "X-Speakable", "X-Primed-Silence")


SPEECH: tuple[Route, ...] = (
    Route(
        "post",
        "/v1/audio/speech",
        Access.KEY,
        lambda handlers: handlers.speech.post,
        Operation(
            "Speech",
            "Speak a text",
            {
                200: Answer(
                    "The audio, while it is made. A response that ends cleanly is complete; otherwise the connection "
                    "is cut before its last chunk.",
                    {**dict.fromkeys(FILES), sse.CONTENT_TYPE: None, JSON: answers.TimedSpeech},
                    SPEECH_HEADERS,
                )
            },
            "OpenAI's operation, and more. Fields that are not named are ignored. The body is read as JSON whatever "
            "its content type says.",
            (*WITH_BODY, 409, 500),
            SpeechBody,
            {"model": "kokoro", "voice": "af_heart", "input": "Hello.", "response_format": "mp3"},
            ("X-Session", "X-Request-Id", "Cache-Control"),
        ),
    ),
    Route(
        "get",
        "/v1/audio/speech",
        Access.LOCAL,
        lambda handlers: handlers.speech.get,
        Operation(
            "Speech",
            "Speak a text that stands in the address",
            {200: Answer("The audio, as from the POST.", dict.fromkeys(FILES), SPEECH_HEADERS)},
            "For players that take an address. Without configured keys it answers clients on the server's own machine "
            "only, and no page of another site.",
            (400, 403, 409, 429, 500, 503),
            request_headers=("X-Session", "X-Request-Id", "Cache-Control"),
            query=SpeechBody,
        ),
    ),
    Route(
        "post",
        "/dev/captioned_speech",
        Access.KEY,
        lambda handlers: handlers.speech.captioned,
        Operation(
            "Speech",
            "Speak a text, and say when each word sounds",
            {
                200: Answer(
                    "With `stream`: `false` one object; otherwise one a line, each word in the line in which it "
                    "begins or in one before. A line with an error ends an incomplete answer.",
                    {"application/x-ndjson": answers.CaptionedLine, JSON: answers.CaptionedSpeech},
                    SPEECH_HEADERS,
                )
            },
            "Kokoro-FastAPI's operation. 400 from an engine that can't tell when its words sound.",
            (*WITH_BODY, 409, 500),
            SpeechBody,
            {"voice": "af_heart", "input": "Hello.", "stream": False},
            ("X-Session", "X-Request-Id", "Cache-Control"),
        ),
    ),
    Route(
        "post",
        "/dev/phonemize",
        Access.KEY,
        lambda handlers: handlers.phonemizer.post if handlers.phonemizer else None,
        Operation(
            "Speech",
            "Show how a text would be pronounced",
            {200: json_answer("Word by word.", answers.Phonemized)},
            errors=WITH_BODY,
            body=PhonemizeBody,
            example={"input": "Hello.", "lang": "en-us"},
        ),
    ),
)
