"""The handlers of the routes that answer a text with its audio in OpenAI's form, such as POST /v1/audio/speech."""

from __future__ import annotations

from aiohttp import web

from frontend.audio.formats import AudioFormat
from frontend.contract.errors import ApiError
from frontend.serving.json_body import fields_of, read_query
from frontend.serving.warning import note_no_effect
from frontend.speech.answer import Answers
from frontend.speech.asked import delivery_of, markup_of, session_of, speech_request, text_of, turns_of
from frontend.speech.body import DialogueBody, SpeechBody, VoiceReference
from frontend.speech.kokoro_fastapi import options_without_effect
from frontend.speech.model_names import is_other_model
from shm.killpoint import killpoint
from text.markup.marked import MarkupKind

# The fields of a speech request that have no effect.


def dead_fields(fields: SpeechBody, *, captioned: bool, session_header: bool) -> list[str]:
    """Fields that the request sets and that change nothing of its answer.

    Args:
        captioned: the request is for captioned speech.
        session_header: the request has a header X-Session.
    """
    phonemes, markup = fields.phonemes is not None, fields.markup
    dead = {
        "model": is_other_model(fields.model),
        "instructions": fields.instructions not in (None, ""),
        "return_timing": bool(fields.return_timing),
        "return_timestamps": bool(fields.return_timestamps) and not captioned,
        "timestamps": captioned and fields.timestamps == "word",
        "stream_format": captioned and fields.stream_format is not None,
        "download_format": fields.download_format is not None and not fields.return_download_link,
        "allow_voice_tags": bool(fields.allow_voice_tags) and (phonemes or markup not in (None, MarkupKind.TAGS)),
        "ssml": bool(fields.ssml) and (phonemes or markup not in (None, MarkupKind.SSML)),
        "markup": markup is not None and phonemes,
        "text": fields.input is not None and fields.text is not None,
        "format": fields.response_format is not None and fields.format is not None,
        "lang": fields.lang is not None and phonemes,
        "lang_code": fields.lang_code is not None and (phonemes or fields.lang is not None),
        "voice_aliases": bool(fields.voice_aliases) and not _may_name_aliases(fields),
        "normalization_options": fields.normalization_options is not None and phonemes,
        "user": fields.user is not None and session_header,
        "on_busy": fields.on_busy is not None and fields.user is None and not session_header,
    }
    options = [] if phonemes else options_without_effect(fields.normalization_options)
    found = [*(name for name, is_dead in dead.items() if is_dead), *(f"normalization_options.{o}" for o in options)]
    return found + _dead_in_dialogue(fields) if isinstance(fields, DialogueBody) else found


def _may_name_aliases(fields: SpeechBody) -> bool:
    names = {name.casefold() for name in fields.voice_aliases or {}}
    voice = fields.voice.id if isinstance(fields.voice, VoiceReference) else fields.voice
    named = (voice, *(turn.voice or turn.voice_id for turn in turns_of(fields)[1]))
    tagged = markup_of(fields) in (MarkupKind.TAGS, MarkupKind.SSML) and fields.phonemes is None
    return tagged or any(voice is not None and voice.strip().casefold() in names for voice in named)


def _dead_in_dialogue(fields: DialogueBody) -> list[str]:
    name, turns = turns_of(fields)
    dead = ["inputs"] if fields.turns is not None and fields.inputs is not None else []
    if fields.voice is not None and all(turn.voice or turn.voice_id for turn in turns):
        dead.append("voice")
    if fields.pause_between_turns is not None and len(turns) < 2:
        dead.append("pause_between_turns")
    return dead + [f"{name}[{place}].voice_id" for place, turn in enumerate(turns) if turn.voice and turn.voice_id]


class SpeechHandler:
    """Reads requests for speech, and has them answered. All methods raise ApiError or SpeechError only before anything
    of the response has left."""

    def __init__(self, answers: Answers, max_input_characters: int) -> None:
        self._answers = answers
        self._max_input_characters = max_input_characters

    async def post(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/audio/speech."""
        return await self._answer(request, await fields_of(request, SpeechBody))

    async def get(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/audio/speech, for players that take a URL: the request's fields are in the query."""
        return await self._answer(request, read_query(request.query, SpeechBody))

    async def captioned(self, request: web.Request) -> web.StreamResponse:
        """POST /dev/captioned_speech: audio and the times of its words, in the form of Kokoro-FastAPI."""
        return await self._answer(request, await fields_of(request, SpeechBody), captioned=True)

    async def dialogue(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/audio/dialogue: the turns of several voices, as one audio."""
        return await self._answer(request, await fields_of(request, DialogueBody))

    async def tagged_dialogue(self, request: web.Request) -> web.StreamResponse:
        """POST /dev/dialogue: as `dialogue`, but the turns may have tags unasked, as in Kokoro-FastAPI."""
        fields = await fields_of(request, DialogueBody)
        if fields.markup is None and fields.allow_voice_tags is None:
            fields.allow_voice_tags = True
        return await self._answer(request, fields)

    async def from_phonemes(self, request: web.Request) -> web.StreamResponse:
        """POST /dev/generate_from_phonemes: the audio of `phonemes`, as WAV where no format is named."""
        fields = await fields_of(request, SpeechBody)
        if fields.phonemes is None:
            message = "`phonemes` is missing: give the phonemes to speak."
            raise ApiError(400, message, param="phonemes", code="missing_required")
        if fields.response_format is None and fields.format is None:
            fields.response_format = AudioFormat.WAV
        return await self._answer(request, fields)

    async def _answer(self, request: web.Request, fields: SpeechBody, *, captioned: bool = False) -> web.StreamResponse:
        text = text_of(fields, self._max_input_characters)
        delivery = delivery_of(fields, captioned=captioned)
        killpoint("parsed")
        named = bool(request.headers.get("X-Session"))
        note_no_effect(request, dead_fields(fields, captioned=captioned, session_header=named))
        session = session_of(request, fields.user)
        return await self._answers.speak(
            request,
            text,
            delivery,
            lambda engine: speech_request(request, fields, text, session, engine, delivery),
            session=session,
            on_busy=fields.on_busy,
        )
