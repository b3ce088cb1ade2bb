"""POST and GET /dev/ssml: SSML turned into a text with tags, and the part of SSML that the server knows."""

from __future__ import annotations

import asyncio
import math
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.contract.in_flight import InFlight, current
from frontend.serving.json_body import read_json
from frontend.serving.unknown_fields import unknown_in
from frontend.serving.warning import note_no_effect
from text.isolation.apart import apart
from text.markup import ssml
from text.markup.limits import MAX_RATE, MIN_RATE
from text.markup.say_as import said_as
from text.markup.tag_writer import TagWriter
from text.words.performer import Performer

ELEMENTS = {
    "speak": "encloses the whole text",
    "p": "ends a paragraph",
    "s": "ends a sentence",
    "break": "a pause, by time or strength: [pause:0.5s]",
    "voice": "another voice, by name: [voice:af_bella]",
    "prosody": "the pace, by rate: [rate:0.8]",
    "phoneme": "a pronunciation, in IPA: [word](/ipa/)",
    "sub": "its alias, in place of its text",
    "say-as": "its text in words, by interpret-as",
    "mark": "a place whose time comes with the times of words; tags have none",
}

IGNORED = ("audio", "emphasis", "lang", "w")
"""Elements of which only the text is read; `desc` and `metadata` are left out with their text."""


class SsmlBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    text: Annotated[str | None, Meta(description="The document; a text without `<speak>` stays as it is.")] = None
    input: Annotated[str | None, Meta(description="Another name for `text`, which wins where both are given.")] = None
    voice: Annotated[
        str,
        Meta(
            description="The voice of the request that the result is meant for. Without it, voices and paces are "
            "left out."
        ),
    ] = ""


_decode = msgspec.json.Decoder(SsmlBody).decode


class SsmlTranslation:
    """The handlers of `/dev/ssml`."""

    def __init__(self, max_input_characters: int, in_flight: InFlight | None = None) -> None:
        self._max_input_characters = max_input_characters
        self._in_flight = in_flight or InFlight()

    async def get(self, request: web.Request) -> web.Response:
        """Answer with the elements and values that the server knows."""
        known: dict[str, Any] = {
            "elements": ELEMENTS,
            "ignored": IGNORED,
            "break_strengths": {"none": 0.0} | ssml.STRENGTHS,
            "prosody_rates": ssml.RATES,
            "rate_range": [MIN_RATE, MAX_RATE],
        }
        return web.json_response(known)

    async def post(self, request: web.Request) -> web.Response:
        """Answer `{"text"}`: the document as a text for `markup`: `tags`; a text without `<speak>` is unchanged.

        Raises:
            ApiError: 400, naming the field that is wrong.
        """
        body = await request.read()
        fields = read_json(_decode, body)
        text = fields.input if fields.text is None else fields.text
        if text is None:
            raise ApiError(400, "`text` is missing: give a document.", param="text", code="missing_required")
        if len(text) > self._max_input_characters:
            message = f"`text` has {len(text)} characters; at most {self._max_input_characters} are taken."
            raise ApiError(400, message, param="text", code="string_above_max_length")
        dead = ["input"] if fields.text is not None and fields.input is not None else []
        note_no_effect(request, [*unknown_in(body, SsmlBody), *dead])
        if not ssml.is_document(text):
            return web.json_response({"text": text})
        with self._in_flight.answering(text):
            translated = await asyncio.to_thread(self._translated, text, fields.voice.strip())
        return web.json_response({"text": translated})

    def _translated(self, text: str, voice: str) -> str:
        with current.get().working():
            return apart.result(text, _with_tags, text, voice)


def _with_tags(text: str, voice: str) -> str:
    writer = TagWriter(voice)
    ssml.read_ssml(text, _NamedMeanings(), writer)
    return writer.written()


class _NamedMeanings:
    """Meanings that stay as they are written: the speech request will look them up."""

    max_pause_seconds = math.inf

    def phonemes(self, ipa: str, performer: Performer | None) -> str:
        return ipa

    def said_as(self, text: str, interpret_as: str, form: str, performer: Performer | None) -> str:
        return said_as(text, interpret_as, form, "en-us")

    def performer(self, name: str) -> Performer:
        return Performer(((name, 1.0),), "")
