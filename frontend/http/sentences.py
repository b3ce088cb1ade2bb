"""POST /v1/text/sentences: a text divided into sentences as the server would speak it, without speaking it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.contract.in_flight import InFlight, current
from frontend.contract.speaker import Speaker
from frontend.contract.voices import language_of_text
from frontend.serving.json_body import read_json
from frontend.serving.unknown_fields import unknown_in
from frontend.serving.warning import note_no_effect
from text.isolation.apart import apart
from text.sentences.sentences import lines_of_sentences
from text.words.sanitize import sanitize


class SentencesBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    paragraphs: Annotated[list[str], Meta(description="The text. No sentence goes from one paragraph into the next.")]
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="The text's language; the voice's own where it is left out.", examples=["en-us"]),
    ] = None
    voice: Annotated[str | None, Meta(description="Says the language where none is named.")] = None


_decode = msgspec.json.Decoder(SentencesBody).decode


class SentenceDivision:
    """The handler of `POST /v1/text/sentences`."""

    def __init__(self, speaker: Speaker, max_input_characters: int, in_flight: InFlight) -> None:
        self._speaker = speaker
        self._max_input_characters = max_input_characters
        self._in_flight = in_flight

    async def post(self, request: web.Request) -> web.Response:
        """Answer `{"paragraphs": [[[sentence, …], …], …], "language"}`: of each paragraph its lines, of each line its
        sentences, which joined are the line. Wrapped lines are one line, and characters that can't be heard are gone.

        Raises:
            ApiError: 400, naming the field that is wrong.
        """
        body = await request.read()
        fields = read_json(_decode, body)
        length, limit = sum(map(len, fields.paragraphs)), self._max_input_characters
        if length > limit:
            message = f"`paragraphs` have {length} characters together; at most {limit} are taken."
            raise ApiError(400, message, param="paragraphs", code="string_above_max_length")
        language = language_of_text(fields.lang, fields.voice, self._speaker.engine)
        with self._in_flight.answering("\n\n".join(fields.paragraphs)):
            found = await asyncio.to_thread(_divided, fields.paragraphs, language)
        dead = ["voice"] if fields.voice is not None and fields.lang else []
        note_no_effect(request, [*unknown_in(body, SentencesBody), *dead])
        return web.json_response({"paragraphs": found, "language": language})


def _divided(paragraphs: list[str], language: str) -> list[list[list[str]]]:
    with current.get().working():
        return apart.result("\n\n".join(paragraphs), _lines, paragraphs, language)


def _lines(paragraphs: list[str], language: str) -> list[list[list[str]]]:
    return [list(lines_of_sentences(sanitize(paragraph), language)) for paragraph in paragraphs]
