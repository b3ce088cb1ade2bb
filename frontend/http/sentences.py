"""POST /v1/text/sentences: a text divided into sentences as the server would speak it, without speaking it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contexts.services import SERVICES
from frontend.contract.in_flight import current
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.no_effect import no_effect_if
from frontend.serving.route import WITH_BODY, Access, Routes, json_answer
from frontend.speech.asked import check_length
from frontend.speech.voices import language_of_text
from text.apart import apart
from text.sentences.sentences import lines_of_sentences
from text.words.sanitize import sanitize


class SentencesBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    paragraphs: Annotated[list[str], Meta(description="The text. No sentence goes from one paragraph into the next.")]
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="The text's language; the voice's own where it is left out.", examples=["en-us"]),
    ] = None
    voice: Annotated[
        str | None, no_effect_if(lambda _, body: bool(body.lang), "Says the language where none is named.")
    ] = None


class Divided(msgspec.Struct):
    """A text in sentences."""

    paragraphs: Annotated[
        list[list[list[str]]],
        Meta(description="Paragraphs of lines of sentences; a line's sentences, joined, are the line."),
    ]
    language: str


ROUTES = Routes()


@ROUTES.add(
    "post",
    "/v1/text/sentences",
    Access.KEY,
    "Speech",
    json_answer("Line by line.", Divided),
    errors=WITH_BODY,
    body=SentencesBody,
    example={"paragraphs": ["Dr. Smith came. He left."], "lang": "en-us"},
)
async def divide(request: web.Request) -> web.Response:
    """Divide a text into sentences.

    Divides as speech does, and speaks nothing: for readers that let people go from sentence to sentence.
    """
    services = request.app[SERVICES]
    fields = await fields_of(request, SentencesBody)
    check_length(sum(map(len, fields.paragraphs)), services.settings, "paragraphs")
    language = language_of_text(fields.lang, fields.voice, services.speaker, services.settings)
    with services.in_flight.answering("\n\n".join(fields.paragraphs)):
        found = await asyncio.to_thread(_divided, fields.paragraphs, language)
    return json_response(Divided(found, language))


def _divided(paragraphs: list[str], language: str) -> list[list[list[str]]]:
    with current.get().working():
        return apart.result("\n\n".join(paragraphs), _lines, paragraphs, language)


def _lines(paragraphs: list[str], language: str) -> list[list[list[str]]]:
    return [list(lines_of_sentences(sanitize(paragraph), language)) for paragraph in paragraphs]
