"""Texts shown, not spoken: each word's pronunciation, the division into sentences, and the score, by which its phonemes
would be spoken."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.contract.in_flight import current
from frontend.contract.request import Urgency
from frontend.contract.speaker import engine_in_use
from frontend.serving.json_body import fields_of, json_response, read_query
from frontend.serving.no_effect import another_name, no_effect_if, note_no_effect
from frontend.serving.route import WITH_BODY, Access, Routes, json_answer
from frontend.serving.services import SERVICES
from frontend.speech.asked import check_length, checked_text, delivery_of, speech_request, text_of
from frontend.speech.body import SpeechBody
from frontend.speech.lexicons import pronunciations_of
from frontend.speech.scores import MAX_CHARACTERS, SpeechScore, speech_score
from frontend.speech.voices import language_of_text
from shm.engine_info import EngineInfo
from text.apart import apart
from text.espeak.ipa import ALPHABET
from text.g2p import G2P
from text.markup.marked import MarkupKind
from text.markup.parse import parse_markup
from text.normalization.reasons import Reasons, reasons
from text.normalization.settings import Normalization
from text.pipeline import TextPipeline
from text.sentences.sentences import lines_of_sentences
from text.settings import Pronouncing
from text.units.segmentation import pronounceable
from text.words.language import language_of_most
from text.words.performer import Cast, Performer
from text.words.punctuation import is_unpronounceable
from text.words.sanitize import sanitize
from text.words.segment import Notation, PhonemeSource, Word

_KOKORO = Notation("phonemes", ALPHABET | frozenset(' ;:,.!?—…"()“”'), 510)
"""Kokoro v1.0's notation, used while no engine that speaks phonemes is connected."""


class PhonemizeBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    input: Annotated[str | None, Meta(description="The text. Needed, unless `text` is given.")] = None
    text: Annotated[str | None, another_name("input")] = None
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="The text's language; the voice's own where it is left out.", examples=["en-us"]),
    ] = None
    language: Annotated[Annotated[str, Meta(max_length=64)] | None, another_name("lang")] = None
    voice: Annotated[
        str | None,
        no_effect_if(lambda _, body: bool(body.lang or body.language), "Says the language where none is named."),
    ] = None
    markup: Annotated[MarkupKind, Meta(description="The same field as in a speech request.")] = MarkupKind.BASIC
    g2p: Annotated[
        Pronouncing | None,
        Meta(
            description="What pronounces the words: misaki's lexicons, espeak-ng's rules alone, or letters; the "
            "server's setting where it is left out."
        ),
    ] = None
    pronunciations: Annotated[
        Annotated[dict[str, str], Meta(max_length=1000)] | None,
        Meta(description="The same field as in a speech request."),
    ] = None


class PronouncedWord(msgspec.Struct):
    """A word and its phonemes."""

    word: Annotated[str, Meta(description="The word after normalisation.")]
    phonemes: str
    source: Annotated[str, Meta(description="lexicon, user, espeak, letters, or none.")]


class PhonemizeQuery(msgspec.Struct):
    """The query of a text's pronunciation."""

    why: Annotated[bool, Meta(description="`true` or `1`: the answer says why the text is read so.")] = False


class Phonemized(msgspec.Struct):
    """The pronunciation of a text."""

    phonemes: Annotated[str, Meta(description="Can be sent in place of `input`.")]
    tokens: Annotated[list[int], Meta(description="The phonemes' numbers, as the model gets them.")]
    words: list[PronouncedWord]
    language: str
    unknown: Annotated[list[str], Meta(description="Characters of words for which there is no sound.")]
    why: Annotated[
        list[Reasons] | msgspec.UnsetType,
        Meta(description="Each sentence's tokens, the readings considered with their costs, and those chosen."),
    ] = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class Phonemizer:
    """The front's own way from a text to phonemes."""

    pipeline: TextPipeline
    g2p: G2P
    lexicon: Path
    """File of the user's pronunciations, which may not exist yet."""


PHONEMIZER: web.AppKey[Phonemizer] = web.AppKey("PHONEMIZER", Phonemizer)
ROUTES = Routes()


@ROUTES.add(
    "post",
    "/dev/phonemize",
    Access.KEY,
    "Speech",
    json_answer("Word by word.", Phonemized),
    errors=WITH_BODY,
    body=PhonemizeBody,
    query=PhonemizeQuery,
    example={"input": "Hello.", "lang": "en-us"},
)
async def phonemize(request: web.Request) -> web.Response:
    """Show how a text would be pronounced."""
    services = request.app[SERVICES]
    fields = await fields_of(request, PhonemizeBody)
    text = fields.text if fields.input is None else fields.input
    if text is None or not text.strip():
        raise ApiError(400, "`input` is missing: give a text.", param="input", code="missing_required")
    checked_text(text, services.settings, "input")
    engine = services.speaker.engine
    named = fields.language if fields.lang is None else fields.lang
    language = language_of_text(named, fields.voice, services.speaker, services.settings)
    with services.in_flight.answering(text):
        found = await asyncio.to_thread(_phonemized, request, fields, text, language, engine)
        if read_query(request.query, PhonemizeQuery).why:
            found.why = await asyncio.to_thread(lambda: list(reasons(sanitize(text), language, Normalization())))
    return json_response(found)


def _phonemized(
    request: web.Request, fields: PhonemizeBody, text: str, language: str, engine: EngineInfo | None
) -> Phonemized:
    notation = Notation.of(engine) if engine and engine.speaks == "phonemes" else _KOKORO
    cast = Cast(engine.voices, language=fields.lang or fields.language) if engine else Cast()
    with current.get().working():
        marked = apart.result(text, parse_markup, fields.markup, text, language, notation, cast)
        words: list[Word] = []
        pipeline = request.app[PHONEMIZER].pipeline.saying(pronunciations_of(request, fields.pronunciations))
        pipeline = pipeline.by(fields.g2p) if fields.g2p else pipeline
        for part in marked.performed(Performer((), language)):
            words += pipeline.words(part.marked, part.performer.language, notation)
    spoken = [(word, _known(word, notation)) for word in words]
    phonemes = " ".join(script for _, script in spoken if script)
    silent = [word for word in words if word.source is not PhonemeSource.USER and not pronounceable(word, notation)]
    return Phonemized(
        phonemes,
        _tokens(phonemes, engine),
        [PronouncedWord(word.text, script, word.source.value) for word, script in spoken],
        language,
        list(dict.fromkeys(c for word in silent for c in word.text if is_unpronounceable(c))),
    )


def _tokens(phonemes: str, engine: EngineInfo | None) -> list[int]:
    """Numbers of the phonemes, with the model's padding at both ends; none if no engine knows the numbers."""
    if engine is None or not engine.phoneme_numbers:
        return []
    numbers = dict(zip(engine.vocabulary, engine.phoneme_numbers, strict=True))
    return [0, *(numbers[phoneme] for phoneme in phonemes), 0]


def _known(word: Word, notation: Notation) -> str:
    return "".join(phoneme for phoneme in word.phonemes if phoneme in notation.vocabulary).strip()


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
    language: Annotated[str, Meta(description="The one by whose rules it is divided.")]
    evident_language: Annotated[
        str, Meta(description="The one that most of the text is obviously written in; `language` where none is.")
    ]


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
    return json_response(found)


def _divided(paragraphs: list[str], language: str) -> Divided:
    with current.get().working():
        return apart.result("\n\n".join(paragraphs), _lines, paragraphs, language)


def _lines(paragraphs: list[str], language: str) -> Divided:
    clean = [sanitize(paragraph) for paragraph in paragraphs]
    lines = [list(lines_of_sentences(paragraph, language)) for paragraph in clean]
    return Divided(lines, language, language_of_most(clean, language))


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
    if not engine.scores:
        message = f"{engine.name} with {engine.model} gives no score, and takes none."
        raise ApiError(400, message, code="score_unavailable")
    asked = speech_request(request, fields, text, None, engine, settings, delivery_of(fields, settings))
    with (
        services.in_flight.answering(text),
        closing(services.speaker.open(replace(asked, score_only=True, urgency=Urgency.WHOLE))) as stream,
    ):
        written = [each async for each in stream.scores()]
    return json_response(speech_score(written, asked.performer, asked.inflection))
