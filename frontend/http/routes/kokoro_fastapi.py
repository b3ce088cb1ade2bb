"""Routes that Kokoro-FastAPI has besides OpenAI's, so that its clients need no change."""

from __future__ import annotations

from frontend.http.routes import answer_types
from frontend.http.routes.route import JSON, Answer, Operation, Route, json_answer
from frontend.http.routes.speech import FILES, SPEECH_CONTENT, SPEECH_HEADERS, SPEECH_REQUEST_HEADERS, WITH_BODY
from frontend.http.ssml_translation import SsmlBody
from frontend.serving.access.rules import Access
from frontend.speech.body import DialogueBody, SpeechBody

KOKORO_FASTAPI: tuple[Route, ...] = (
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
                    {"application/x-ndjson": answer_types.CaptionedLine, JSON: answer_types.CaptionedSpeech},
                    SPEECH_HEADERS,
                )
            },
            "Kokoro-FastAPI's operation. 400 from an engine that can't tell when its words sound.",
            (*WITH_BODY, 409, 500),
            SpeechBody,
            {"voice": "af_heart", "input": "Hello.", "stream": False},
            SPEECH_REQUEST_HEADERS,
        ),
    ),
    Route(
        "post",
        "/dev/dialogue",
        Access.KEY,
        lambda handlers: handlers.speech.tagged_dialogue,
        Operation(
            "Kokoro-FastAPI",
            "The same as /v1/audio/dialogue, and its turns may have tags",
            {200: Answer("The audio of all turns.", SPEECH_CONTENT, SPEECH_HEADERS)},
            "Without `markup` and `allow_voice_tags`, the turns are read with `markup`: `tags`.",
            errors=(*WITH_BODY, 409, 500),
            body=DialogueBody,
            example={"inputs": [{"voice_id": "af_heart", "text": "Hello."}]},
            request_headers=SPEECH_REQUEST_HEADERS,
        ),
    ),
    Route(
        "post",
        "/dev/generate_from_phonemes",
        Access.KEY,
        lambda handlers: handlers.speech.from_phonemes,
        Operation(
            "Kokoro-FastAPI",
            "Speak phonemes",
            {200: Answer("The audio; WAV where no format is named.", SPEECH_CONTENT, SPEECH_HEADERS)},
            "The same as `/v1/audio/speech` with `phonemes`.",
            (*WITH_BODY, 409, 500),
            SpeechBody,
            {"phonemes": "həlˈO.", "voice": "af_heart"},
            SPEECH_REQUEST_HEADERS,
        ),
    ),
    Route(
        "get",
        "/v1/download/{name}",
        Access.KEY,
        lambda handlers: handlers.downloads.get,
        Operation(
            "Kokoro-FastAPI",
            "The audio of a response that has ended",
            {200: Answer("The whole file, with exact lengths.", dict.fromkeys(FILES))},
            "The path of `X-Download-Path`, with or without `/v1`, for requests with `return_download_link`. It works "
            "for an hour after the response's end, if no newer downloads have taken its place. `?name=` sets the name "
            "of the saved file.",
            (403, 404),
            query=answer_types.DownloadQuery,
        ),
    ),
    Route(
        "post",
        "/v1/audio/voices/combine",
        Access.KEY,
        lambda handlers: handlers.catalog.combine,
        Operation(
            "Kokoro-FastAPI",
            "The name of a blend of voices",
            {200: json_answer("`id` is what a request's `voice` takes.", answer_types.Blend)},
            "No file is made: each request can name a blend.",
            WITH_BODY,
            answer_types.BlendBody,
            "af_heart(2)+af_bella",
        ),
    ),
    Route(
        "get",
        "/dev/ssml",
        Access.NEAR,
        lambda handlers: handlers.translation.get,
        Operation(
            "Kokoro-FastAPI",
            "The part of SSML that is known",
            {200: json_answer("Elements and values.", answer_types.SsmlParts)},
        ),
    ),
    Route(
        "post",
        "/dev/ssml",
        Access.KEY,
        lambda handlers: handlers.translation.post,
        Operation(
            "Kokoro-FastAPI",
            "Turn SSML into a text with tags",
            {200: json_answer("A text for `markup`: `tags`.", answer_types.TaggedText)},
            errors=WITH_BODY,
            body=SsmlBody,
            example={"text": '<speak>Hello. <break time="1s"/> Who is there?</speak>', "voice": "af_heart"},
        ),
    ),
    Route(
        "get",
        "/v1/test",
        Access.OPEN,
        lambda handlers: handlers.health.test,
        Operation(
            "Kokoro-FastAPI", "Is it alive? The same as /health", {200: json_answer("It is.", answer_types.Alive)}
        ),
    ),
)
