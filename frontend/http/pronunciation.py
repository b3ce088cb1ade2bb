"""The ways to say a word, and the one that is kept in a lexicon or taken back."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.http.texts import PHONEMIZER
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.no_effect import no_effect_if
from frontend.serving.route import WITH_BODY, Access, Routes, json_answer
from frontend.serving.services import SERVICES
from frontend.speech.lexicons import MOST, entries_of_key, lexicon_of_key
from frontend.speech.voices import language_of_text
from text.g2p import ways_to_say
from text.lexicon import NotKept, keep, take_back, word_of

ROUTES = Routes()


class PronunciationBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    word: Annotated[Annotated[str, Meta(max_length=200)], Meta(description="A single word.")]
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="The word's language; the voice's where it is left out.", examples=["en-us"]),
    ] = None
    voice: Annotated[
        str | None, no_effect_if(lambda _, body: bool(body.lang), "Says the language where none is named.")
    ] = None
    keep: Annotated[
        Annotated[str, Meta(max_length=200)] | None,
        Meta(
            description="How the word is said from now on: IPA between slashes, such as a way's, or other words. It is "
            "kept in the server's `--lexicon` in place of the word's own, for that spelling alone if it has capitals.",
            examples=["/ˈɛnʤɪn ˈɛks/"],
        ),
    ] = None
    forget: Annotated[
        bool,
        no_effect_if(lambda _, body: body.keep is not None, "Take the entry back that says the word now."),
    ] = False
    part: Annotated[
        Literal["noun", "verb", "adjective", "adverb"] | None,
        no_effect_if(
            lambda _, body: body.keep is None and not body.forget,
            "The part of speech for which alone it is kept, or was, in English.",
        ),
    ] = None
    mine: Annotated[
        bool,
        no_effect_if(lambda _, body: body.keep is None, "Keep it for the request's API key, not in `--lexicon`."),
    ] = False


class OfferedWay(msgspec.Struct):
    """A way to say the word."""

    phonemes: Annotated[str, Meta(description="To be spoken as `[word](/phonemes/)`, or kept between slashes.")]
    how: Annotated[str, Meta(description="As it is read now, a language it may come from, rules, or letters.")]
    probability: Annotated[float | None, Meta(description="That the word is of that language.")]
    origin: Annotated[str | None, Meta(description="The code of that language.")]
    part: Annotated[str | None, Meta(description="The part of speech as which alone it is said so.")]
    kept: Annotated[bool, Meta(description="Whether an entry of the user's lexicon says so.")]


class WaysOfWord(msgspec.Struct):
    """The ways to say a word, the one in use first."""

    word: str
    language: str
    ways: list[OfferedWay]
    kept: Annotated[bool, Meta(description="Whether `keep` was written.")]


@ROUTES.add(
    "post",
    "/v1/pronunciation",
    Access.HERE,
    "Speech",
    json_answer("The user's entries, then the others, the one in use first.", WaysOfWord),
    errors=(*WITH_BODY, 409),
    body=PronunciationBody,
    example={"word": "Nguyen", "lang": "en-us"},
)
async def pronunciation(request: web.Request) -> web.Response:
    """Show the ways to say a word, keep one, or take it back.

    The same as `kokoro-live pronounce`.

    Raises:
        ApiError: 400, no single word or no IPA; 409, there is no such entry, or no lexicon that may be written.
    """
    services = request.app[SERVICES]
    fields = await fields_of(request, PronunciationBody)
    try:
        word = word_of(fields.word)
    except NotKept as error:
        raise ApiError(400, f"`word`: {error}.", param="word", code="invalid_value") from error
    language = language_of_text(fields.lang, fields.voice, services.speaker, services.settings)
    with services.in_flight.answering(word):
        return json_response(await asyncio.to_thread(_ways, request, fields, word, language))


def _ways(request: web.Request, fields: PronunciationBody, word: str, language: str) -> WaysOfWord:
    phonemizer = request.app[PHONEMIZER]
    if fields.keep is not None or fields.forget:
        field = "forget" if fields.keep is None else "keep"
        try:
            _change(request, fields, word, language)
        except NotKept as error:
            raise ApiError(400, f"`{field}`: {error}.", param=field, code="invalid_value") from error
        except OSError as error:
            message = f"`{field}`: the lexicon can't be written: {error.strerror}."
            raise ApiError(409, message, param=field, code="no_lexicon") from error
    lexicon = phonemizer.pipeline.saying(entries_of_key(request)).lexicon
    offered = [
        OfferedWay(way.phonemes, way.how, way.probability, way.origin, way.part, way.entry is not None)
        for way in ways_to_say(word, language, phonemizer.g2p, lexicon)
    ]
    return WaysOfWord(word, language, offered, fields.keep is not None)


def _change(request: web.Request, fields: PronunciationBody, word: str, language: str) -> None:
    phonemizer = request.app[PHONEMIZER]
    if fields.keep is not None:
        path = lexicon_of_key(request) if fields.mine else phonemizer.lexicon
        return keep(path, word, fields.keep, language, fields.part, MOST if fields.mine else None)
    own = entries_of_key(request)
    for entry, _ in phonemizer.pipeline.saying(own).lexicon.of_word(word, language):
        if entry.part == fields.part:
            return take_back(lexicon_of_key(request) if entry in own else phonemizer.lexicon, entry)
    raise ApiError(409, "`forget`: no lexicon has an entry for it.", param="forget", code="no_lexicon")
