"""POST /v1/pronunciation: the ways to say a word, and one of them kept in the user's lexicon."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contexts.services import SERVICES
from frontend.contract.errors import ApiError
from frontend.http.texts import PHONEMIZER, Phonemizer
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.route import WITH_BODY, Access, Routes, json_answer
from frontend.speech.voices import language_of_text
from text.candidates import ways_to_say
from text.lexicon import NotKept, keep
from text.words.punctuation import speakable
from text.words.sanitize import sanitize

ROUTES = Routes()


class PronunciationBody(msgspec.Struct):
    """The body's fields. `null` means absent; X-Warning names others."""

    word: Annotated[Annotated[str, Meta(max_length=200)], Meta(description="A single word.")]
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="The word's language; the default voice's where it is left out.", examples=["en-us"]),
    ] = None
    keep: Annotated[
        Annotated[str, Meta(max_length=200)] | None,
        Meta(
            description="How the word is said from now on: IPA between slashes, such as a way's, or other words. It is "
            "kept in the server's `--lexicon`, for that spelling alone if the word has capitals.",
            examples=["/ˈɛnʤɪn ˈɛks/"],
        ),
    ] = None


class OfferedWay(msgspec.Struct):
    """A way to say the word."""

    phonemes: Annotated[str, Meta(description="To be spoken as `[word](/phonemes/)`, or kept between slashes.")]
    how: Annotated[str, Meta(description="As it is read now, a language it may come from, rules, or letters.")]
    probability: Annotated[float | None, Meta(description="That the word is of that language.")]


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
    json_answer("The ways, the one in use first.", WaysOfWord),
    errors=(*WITH_BODY, 409),
    body=PronunciationBody,
    example={"word": "Nguyen", "lang": "en-us"},
)
async def pronunciation(request: web.Request) -> web.Response:
    """Show the ways to say a word, or keep one.

    The same as `kokoro-live pronounce`.

    Raises:
        ApiError: 400, no single word or no IPA; 409, the server has no lexicon that it may write.
    """
    services = request.app[SERVICES]
    fields = await fields_of(request, PronunciationBody)
    word = sanitize(fields.word)
    if len(word.split()) != 1 or not speakable(word):
        raise ApiError(400, "`word`: it is no single word.", param="word", code="invalid_value")
    language = language_of_text(fields.lang, None, services.speaker, services.settings)
    with services.in_flight.answering(word):
        phonemizer = request.app[PHONEMIZER]
        return json_response(await asyncio.to_thread(_ways, phonemizer, word, language, fields.keep))


def _ways(phonemizer: Phonemizer, word: str, language: str, said: str | None) -> WaysOfWord:
    if said is not None:
        if phonemizer.lexicon is None:
            raise ApiError(409, "`keep`: the server has no --lexicon.", param="keep", code="no_lexicon")
        try:
            keep(phonemizer.lexicon, word, said, language)
        except NotKept as error:
            raise ApiError(400, f"`keep`: {error}.", param="keep", code="invalid_value") from error
        except OSError as error:
            message = f"`keep`: {phonemizer.lexicon} can't be written: {error.strerror}."
            raise ApiError(409, message, param="keep", code="no_lexicon") from error
    ways = ways_to_say(word, language, phonemizer.g2p)
    return WaysOfWord(word, language, [OfferedWay(*way) for way in ways], said is not None)
