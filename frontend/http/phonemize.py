"""POST /dev/phonemize: a text's pronunciation, word by word."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

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
from frontend.speech.asked import checked_text
from shm.engine_info import EngineInfo
from text.espeak.ipa import ALPHABET
from text.isolation.apart import apart
from text.markup.marked import MarkupKind
from text.markup.parse import parse_markup
from text.pipeline import TextPipeline
from text.units.segmentation import pronounceable
from text.words.performer import Cast
from text.words.punctuation import is_unpronounceable
from text.words.segment import Notation
from text.words.word import PhonemeSource, Word

_KOKORO = Notation("phonemes", ALPHABET | frozenset(' ;:,.!?—…"()“”'), 510)
"""Kokoro v1.0's notation, used while no engine that speaks phonemes is connected."""


class PhonemizeBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    input: Annotated[str | None, Meta(description="The text. Needed, unless `text` is given.")] = None
    text: Annotated[str | None, Meta(description="Another name for `input`, which wins where both are given.")] = None
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="The text's language; the voice's own where it is left out.", examples=["en-us"]),
    ] = None
    language: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="Another name for `lang`, which wins where both are given."),
    ] = None
    voice: Annotated[str | None, Meta(description="Says the language where none is named.")] = None
    markup: Annotated[MarkupKind, Meta(description="The same field as in a speech request.")] = MarkupKind.BASIC


_decode = msgspec.json.Decoder(PhonemizeBody).decode


class Phonemizer:
    """The handler of `POST /dev/phonemize`."""

    def __init__(
        self,
        speaker: Speaker,
        pipeline: TextPipeline,
        max_input_characters: int,
        max_pause_seconds: float,
        in_flight: InFlight | None = None,
    ) -> None:
        self._in_flight = in_flight or InFlight()
        self._speaker = speaker
        self._pipeline = pipeline
        self._max_input_characters = max_input_characters
        self._max_pause_seconds = max_pause_seconds

    async def post(self, request: web.Request) -> web.Response:
        """Answer `{"phonemes", "tokens", "words": [{"word", "phonemes", "source"}], "language", "unknown"}`.

        `phonemes` can be sent in place of a text, `tokens` are their numbers as the model gets them, and `unknown`
        lists the characters of words for which there is no sound.

        Raises:
            ApiError: 400, naming the field that is wrong.
        """
        body = await request.read()
        fields = read_json(_decode, body)
        text = fields.text if fields.input is None else fields.input
        if text is None or not text.strip():
            raise ApiError(400, "`input` is missing: give a text.", param="input", code="missing_required")
        checked_text(text, self._max_input_characters, "input")
        engine = self._speaker.engine
        language = language_of_text(fields.language if fields.lang is None else fields.lang, fields.voice, engine)
        with self._in_flight.answering(text):
            found = await asyncio.to_thread(self._phonemize, fields, text, language, engine)
        note_no_effect(request, [*unknown_in(body, PhonemizeBody), *_dead(fields)])
        return web.json_response(found)

    def _phonemize(self, fields: PhonemizeBody, text: str, language: str, engine: EngineInfo | None) -> dict[str, Any]:
        notation = Notation.of(engine) if engine and engine.speaks == "phonemes" else _KOKORO
        cast = Cast(engine.voices, language=fields.lang or fields.language) if engine else Cast()
        with current.get().working():
            limit = self._max_pause_seconds
            marked = apart.result(text, parse_markup, fields.markup, text, language, notation, limit, cast)
            words: list[Word] = []
            for performer, part in marked.parts():
                words += self._pipeline.words(part, performer.language if performer else language, notation)
        spoken = [(word, _known(word, notation)) for word in words]
        phonemes = " ".join(script for _, script in spoken if script)
        silent = [word for word in words if word.source is not PhonemeSource.USER and not pronounceable(word, notation)]
        return {
            "phonemes": phonemes,
            "tokens": _tokens(phonemes, engine),
            "words": [{"word": word.text, "phonemes": script, "source": word.source.value} for word, script in spoken],
            "language": language,
            "unknown": list(dict.fromkeys(c for word in silent for c in word.text if is_unpronounceable(c))),
        }


def _dead(fields: PhonemizeBody) -> list[str]:
    """Fields that another field overrules."""
    dead = {
        "text": fields.input is not None and fields.text is not None,
        "language": fields.lang is not None and fields.language is not None,
        "voice": fields.voice is not None and bool(fields.lang or fields.language),
    }
    return [name for name, is_dead in dead.items() if is_dead]


def _tokens(phonemes: str, engine: EngineInfo | None) -> list[int]:
    """Numbers of the phonemes, with the model's padding at both ends; none if no engine knows the numbers."""
    if engine is None or not engine.phoneme_numbers:
        return []
    numbers = dict(zip(engine.vocabulary, engine.phoneme_numbers, strict=True))
    return [0, *(numbers[phoneme] for phoneme in phonemes), 0]


def _known(word: Word, notation: Notation) -> str:
    return "".join(phoneme for phoneme in word.phonemes if phoneme in notation.vocabulary).strip()
