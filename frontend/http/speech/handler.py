"""The handler of all routes that answer a text with its audio, such as POST /v1/audio/speech."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing

from aiohttp import web

from frontend.audio.encoding import Encoding
from frontend.audio.formats import AudioFormat
from frontend.contexts.services import Services
from frontend.contract.errors import ApiError
from frontend.contract.speaker import engine_in_use
from frontend.contract.stages import STAGES, STARTED
from frontend.http.downloads import Downloads, Recording
from frontend.http.requests.dialogue import DialogueBody, dialogue_call, read_dialogue
from frontend.http.requests.json_body import read_query
from frontend.http.requests.schema import SpeechBody, SpeechCall, read_body, speech_call
from frontend.http.requests.speech_request import session_of, speech_request
from frontend.http.requests.unknown_fields import unknown_in
from frontend.http.requests.warning import note_no_effect
from frontend.http.requests.without_effect import dead_fields
from frontend.http.sessions import Sessions
from frontend.http.speech.answer import SpeechAnswer
from frontend.http.speech.streamed import answer_streamed
from frontend.http.speech.whole import answer_whole
from frontend.monitoring.listening import Listening
from shm.killpoint import killpoint

log = logging.getLogger(__name__)


class SpeechHandler:
    """Answers speech requests."""

    def __init__(self, services: Services) -> None:
        self._speaker = services.speaker
        self._in_flight = services.in_flight
        self._settings = services.settings
        self._metrics = services.metrics
        self._encoders = services.encoders
        self.downloads = Downloads(self._encoders, self._settings.max_clip_seconds)
        self._sessions = Sessions()

    async def close(self, _: web.Application) -> None:
        """Stop the encoders' threads."""
        self._encoders.close()

    async def post(self, request: web.Request) -> web.StreamResponse:
        """Answer with the audio; if cancelled (the client left, the server stops), close the stream at once.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        body = await request.read()
        fields = read_body(body)
        return await self._answer(request, fields, self._call(fields), unknown_in(body, SpeechBody))

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Answer a player that takes a URL: the request's fields are in the query.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        fields = read_query(request.query, SpeechBody)
        return await self._answer(request, fields, self._call(fields))

    async def captioned(self, request: web.Request) -> web.StreamResponse:
        """POST /dev/captioned_speech: answer with the audio and the times of its words, in the form of Kokoro-FastAPI.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        body = await request.read()
        fields = read_body(body)
        return await self._answer(request, fields, self._call(fields, captioned=True), unknown_in(body, SpeechBody))

    async def dialogue(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/audio/dialogue: answer with the turns of several voices, as one audio.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        return await self._dialogue(request, tagged=False)

    async def tagged_dialogue(self, request: web.Request) -> web.StreamResponse:
        """POST /dev/dialogue: as `dialogue`, but the turns may have tags unasked, as in Kokoro-FastAPI.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        return await self._dialogue(request, tagged=True)

    async def _dialogue(self, request: web.Request, *, tagged: bool) -> web.StreamResponse:
        body = await request.read()
        fields = read_dialogue(body)
        if tagged and fields.markup is None and fields.allow_voice_tags is None:
            fields.allow_voice_tags = True
        call = dialogue_call(fields, self._settings.max_input_characters)
        return await self._answer(request, fields, call, unknown_in(body, DialogueBody))

    async def from_phonemes(self, request: web.Request) -> web.StreamResponse:
        """POST /dev/generate_from_phonemes: answer with the audio of `phonemes`, as WAV where no format is named.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        body = await request.read()
        fields = read_body(body)
        if fields.phonemes is None:
            message = "`phonemes` is missing: give the phonemes to speak."
            raise ApiError(400, message, param="phonemes", code="missing_required")
        if fields.response_format is None and fields.format is None:
            fields.response_format = AudioFormat.WAV
        return await self._answer(request, fields, self._call(fields), unknown_in(body, SpeechBody))

    def _call(self, fields: SpeechBody, *, captioned: bool = False) -> SpeechCall:
        return speech_call(fields, self._settings.max_input_characters, captioned=captioned)

    async def _answer(
        self, request: web.Request, fields: SpeechBody, call: SpeechCall, unknown: Sequence[str] = ()
    ) -> web.StreamResponse:
        """Args:
        unknown: the body's fields that `fields` doesn't have.
        """
        log.debug("the text is %r", call.text)
        killpoint("parsed")
        dead = dead_fields(fields, call, session_header=bool(request.headers.get("X-Session")))
        note_no_effect(request, [*unknown, *dead])
        with self._in_flight.answering(call.text):
            return await self._speak(request, call)

    async def _speak(self, request: web.Request, call: SpeechCall) -> web.StreamResponse:
        session = session_of(request, call)
        turn = self._sessions.turn(session, call.on_busy)
        async with turn:
            asked = speech_request(request, call, session, engine_in_use(self._speaker))
            request[STAGES] = asked.stages
            with closing(self._speaker.open(asked)) as stream:
                # A response that is in the cache whole is sent like a finished file: with true sizes in a WAV's header.
                whole = not call.streamed or (
                    call.plain and call.format is AudioFormat.WAV and await stream.all_cached()
                )
                with closing(self._encoding(call, whole=whole)) as encoding, self._metrics.speaking():
                    listening = Listening(self._metrics, request[STARTED], asked.stages, heard=not call.idle)
                    voice = asked.performer.name if call.names_voices else ""
                    answer = SpeechAnswer(request, call, stream, encoding, listening, turn, voice)
                    if whole:
                        return await answer_whole(answer, self._settings)
                    return await answer_streamed(answer, self._settings, self._metrics)

    def _encoding(self, call: SpeechCall, *, whole: bool) -> Encoding | Recording:
        encoding = self._encoders.open(call.format, call.sample_rate, whole=whole)
        if call.download is None:
            return encoding
        return self.downloads.begin(encoding, call.download, call.sample_rate)
