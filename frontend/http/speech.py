"""The handlers of the routes that answer a text with its audio in OpenAI's form, such as POST /v1/audio/speech."""

from __future__ import annotations

from aiohttp import web

from frontend.audio.formats import AudioFormat
from frontend.contract.errors import ApiError
from frontend.http.answers.answer import Answers
from frontend.http.requests.json_body import fields_of, read_query
from frontend.http.requests.schema import DialogueBody, SpeechBody
from frontend.http.requests.speech_request import delivery_of, session_of, speech_request, text_of
from frontend.http.requests.warning import note_no_effect
from frontend.http.requests.without_effect import dead_fields
from shm.killpoint import killpoint


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
