"""Routes that make speech or show a text's pronunciation."""

from __future__ import annotations

from frontend.audio.formats import FORMATS
from frontend.http.phonemize import PhonemizeBody
from frontend.http.routes import answer_types
from frontend.http.routes.route import JSON, Answer, Operation, Route, json_answer
from frontend.http.sentences import SentencesBody
from frontend.serving.access.rules import Access
from frontend.serving.errors import REFUSAL_STATUS
from frontend.speech import sse
from frontend.speech.body import DialogueBody, SpeechBody

FILES = tuple(dict.fromkeys(info.content_type for info in FORMATS.values()))

WITH_BODY = (400, 403, 408, 413, 415, 429, 503)
"""Status codes of the errors of all routes that take a body."""

SPEECH_HEADERS = (
    "X-Engine",
    "X-Sample-Rate",
    "X-Cache",
    "X-Speakable",
    "X-Primed-Silence",
    "X-Download-Path",
)

SPEECH_REQUEST_HEADERS = ("X-Session", "X-Request-Id", "Cache-Control", REFUSAL_STATUS)

SPEECH_CONTENT = {**dict.fromkeys(FILES), sse.CONTENT_TYPE: None, JSON: answer_types.TimedSpeech}
"""Content types of an answer with audio, with the types of those that are JSON."""

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
                    SPEECH_CONTENT,
                    SPEECH_HEADERS,
                )
            },
            "OpenAI's operation, and more. `X-Warning` names fields that have no effect. The body is read as JSON "
            "whatever its content type says.",
            (*WITH_BODY, 409, 500),
            SpeechBody,
            {"model": "kokoro", "voice": "af_heart", "input": "Hello.", "response_format": "mp3"},
            SPEECH_REQUEST_HEADERS,
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
            request_headers=SPEECH_REQUEST_HEADERS,
            query=SpeechBody,
        ),
    ),
    Route(
        "post",
        "/v1/audio/dialogue",
        Access.KEY,
        lambda handlers: handlers.speech.dialogue,
        Operation(
            "Speech",
            "Speak the turns of several voices",
            {200: Answer("The audio of all turns, as from `/v1/audio/speech`.", SPEECH_CONTENT, SPEECH_HEADERS)},
            "Takes the fields of a speech request, with `turns` in place of `input`. Each turn is spoken by its own "
            "voice, in that voice's language.",
            (*WITH_BODY, 409, 500),
            DialogueBody,
            {
                "turns": [{"voice": "af_heart", "text": "Who is there?"}, {"voice": "am_michael", "text": "It is me."}],
                "pause_between_turns": 0.3,
            },
            SPEECH_REQUEST_HEADERS,
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
            {200: json_answer("Word by word.", answer_types.Phonemized)},
            errors=WITH_BODY,
            body=PhonemizeBody,
            example={"input": "Hello.", "lang": "en-us"},
        ),
    ),
    Route(
        "post",
        "/v1/text/sentences",
        Access.KEY,
        lambda handlers: handlers.sentences.post,
        Operation(
            "Speech",
            "Divide a text into sentences",
            {200: json_answer("Line by line.", answer_types.Divided)},
            "Divides as speech does, and speaks nothing: for readers that let people go from sentence to sentence.",
            errors=WITH_BODY,
            body=SentencesBody,
            example={"paragraphs": ["Dr. Smith came. He left."], "lang": "en-us"},
        ),
    ),
)
