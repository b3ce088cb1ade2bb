"""POST /v1/audio/speech: answers a text with its audio while the audio is being made.

The status is sent with the first bytes of audio, so any earlier failure is answered with its own status. From then on
the only way to say "incomplete" is to cut the connection before the last chunk.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import MutableMapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import msgspec
from aiohttp import hdrs, web

from frontend.audio.encoding import Encoding
from frontend.audio.formats import FORMATS, AudioFormat
from frontend.audio.pieces import chunks
from frontend.contexts.services import Services
from frontend.contract.errors import ApiError, Interrupted, SpeechError, Unavailable
from frontend.contract.speaker import SpeechStream
from frontend.contract.stages import STAGES, STARTED
from frontend.contract.word_timing import WordTiming
from frontend.http import downloads, request_id
from frontend.http.answers.delivery import AudioResponse, Delivery
from frontend.http.answers.ending import cut, left, reset_on_close
from frontend.http.answers.framing import CaptionLines, Events, Framing, Plain, caption, mark_times, timing
from frontend.http.answers.speakable import HEADER, Pieces
from frontend.http.downloads import Downloads, Recording
from frontend.http.errors import late_error_body
from frontend.http.requests import without_effect
from frontend.http.requests.dialogue import DialogueBody, dialogue_call, read_dialogue
from frontend.http.requests.json_body import read_query
from frontend.http.requests.schema import SpeechBody, SpeechCall, read_body, speech_call
from frontend.http.requests.speech_request import session_of, speech_request
from frontend.http.requests.without_effect import dead_fields, unknown_among, unknown_in
from frontend.http.sessions import Sessions, Turn
from frontend.monitoring.listening import Listening
from frontend.monitoring.metrics import Event
from frontend.timestamps.align import parted
from shm.audio import SAMPLE_RATE
from shm.killpoint import killpoint

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Answer:
    """One request being answered."""

    request: web.Request
    call: SpeechCall
    stream: SpeechStream
    encoding: Encoding | Recording
    listening: Listening
    turn: Turn
    voice: str
    """The voice of words that name no other, where the words of the answer name voices; empty where they don't."""
    without_effect: Sequence[str]
    """Fields of the request that change nothing."""

    @property
    def framing(self) -> Framing:
        if self.call.captioned:
            return CaptionLines(self.call.format, self.voice)
        return Events() if self.call.events else Plain(self.call.format)

    def headers(self, content_type: str) -> dict[str, str]:
        headers = {
            hdrs.CONTENT_TYPE: content_type,
            "X-Engine": self.stream.engine.name,
            "X-Sample-Rate": str(self.call.sample_rate),
        }
        if isinstance(self.encoding, Recording):
            headers[downloads.HEADER] = self.encoding.path
        if self.without_effect:
            headers[without_effect.HEADER] = without_effect.warning(self.without_effect)
        return headers


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
        return await self._answer(request, self._call(fields), dead_fields(fields, unknown_in(body, SpeechBody)))

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Answer a player that takes a URL: the request's fields are in the query.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        fields = read_query(request.query, SpeechBody)
        unknown = unknown_among(request.query, SpeechBody)
        return await self._answer(request, self._call(fields), dead_fields(fields, unknown))

    async def captioned(self, request: web.Request) -> web.StreamResponse:
        """POST /dev/captioned_speech: answer with the audio and the times of its words, in the form of Kokoro-FastAPI.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        body = await request.read()
        fields = read_body(body)
        call = self._call(fields, captioned=True)
        return await self._answer(request, call, dead_fields(fields, unknown_in(body, SpeechBody)))

    async def dialogue(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/audio/dialogue: answer with the turns of several voices, as one audio.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        body = await request.read()
        fields = read_dialogue(body)
        unknown = unknown_in(body, DialogueBody)
        call = dialogue_call(fields, self._settings.max_input_characters)
        return await self._answer(request, call, dead_fields(fields, unknown))

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
        fields.response_format = fields.response_format or fields.format or AudioFormat.WAV
        return await self._answer(request, self._call(fields), dead_fields(fields, unknown_in(body, SpeechBody)))

    def _call(self, fields: SpeechBody, *, captioned: bool = False) -> SpeechCall:
        return speech_call(fields, self._settings.max_input_characters, captioned=captioned)

    async def _answer(self, request: web.Request, call: SpeechCall, dead: Sequence[str]) -> web.StreamResponse:
        """Args:
        dead: the request's fields that have no effect.
        """
        log.debug("the text is %r", call.text)
        killpoint("parsed")
        with self._in_flight.answering(call.text):
            return await self._speak(request, call, dead)

    async def _speak(self, request: web.Request, call: SpeechCall, dead: Sequence[str]) -> web.StreamResponse:
        session = session_of(request, call)
        turn = self._sessions.turn(session, call.on_busy)
        async with turn:
            engine = self._speaker.engine
            if engine is None:
                raise Unavailable(self._speaker.reason, self._speaker.retry_after)
            asked = speech_request(request, call, session, engine)
            request[STAGES] = asked.stages
            with closing(self._speaker.open(asked)) as stream:
                # A response that is in the cache whole is sent like a finished file: with true sizes in a WAV's header.
                whole = not call.streamed or (
                    call.plain and call.format is AudioFormat.WAV and await stream.all_cached()
                )
                with closing(self._encoding(call, whole=whole)) as encoding, self._metrics.speaking():
                    listening = Listening(self._metrics, request[STARTED], asked.stages)
                    voice = asked.performer.name if call.names_voices else ""
                    answer = _Answer(request, call, stream, encoding, listening, turn, voice, dead)
                    return await (self._clip(answer) if whole else self._stream(answer))

    def _encoding(self, call: SpeechCall, *, whole: bool) -> Encoding | Recording:
        encoding = self._encoders.open(call.format, call.sample_rate, whole=whole)
        if call.download is None:
            return encoding
        return self.downloads.begin(encoding, call.download, call.sample_rate)

    async def _stream(self, answer: _Answer) -> web.StreamResponse:
        request, stream, listening, framing = answer.request, answer.stream, answer.listening, answer.framing
        response = AudioResponse(headers=answer.headers(framing.content_type))
        delivery = Delivery(request, response, answer.encoding, listening, self._settings.chunk_ms, framing)
        try:
            with answer.turn.interruptible():
                primed = self._settings.prime_silence
                # Silence has the status 200: a rejected request gets its own status, and no silence.
                if primed and await stream.accepted():
                    response.headers["X-Primed-Silence"] = f"{primed:g}"
                    await delivery.prime(primed)
                pieces = Pieces(stream, answer.call.volume)
                async for piece in pieces:
                    if not response.prepared:
                        _label(response.headers, stream, pieces)
                    if begun := stream.take_sentences():
                        await delivery.begin(begun, stream.real_time_factor)
                    await delivery.send(piece, stream.take_words())
                await delivery.finish(stream.tokens, stream.take_words())
        except Exception as error:
            if left(request):
                # A write noticed the client's end before aiohttp could cancel this handler: the same event, so the same
                # end.
                raise asyncio.CancelledError from error
            if not response.prepared:
                raise
            log.error("%s is cut: %s", request_id.current.get(), error, exc_info=not isinstance(error, SpeechError))
            if not isinstance(error, Interrupted):  # a later request of its own session interrupted it
                self._metrics.count(Event.CUT)
            self._metrics.errors.add(request_id.current.get(), f"cut: {late_error_body(error)['code']}")
            try:
                await delivery.fail(late_error_body(error))
            except ConnectionError:
                log.info("%s: the client left before it heard so", request_id.current.get())
            finally:
                cut(request)
        else:
            reset_on_close(request, False)
        return response

    async def _clip(self, answer: _Answer) -> web.Response:
        """Answer with all of the audio at once: its length is known, and any failure has its own status."""
        stream, listening, encoding = answer.stream, answer.listening, answer.encoding
        parts: list[bytes] = []
        words: list[WordTiming] = []
        limit = self._settings.max_clip_seconds
        pieces = Pieces(stream, answer.call.volume)
        async for piece in pieces:
            words += stream.take_words()
            for chunk in chunks(piece, self._settings.chunk_ms):
                listening.encoded(chunk)
                parts.append(await encoding.encode(chunk))
            if not answer.call.streamed and listening.samples > limit * SAMPLE_RATE:
                message = f"The clip is longer than {limit} seconds. Ask for it without `stream`: false."
                raise ApiError(400, message, param="stream", code="clip_too_long")
        words += stream.take_words()
        parts.append(await encoding.finish())
        listening.given(listening.samples / SAMPLE_RATE)
        audio = b"".join(filter(None, parts))
        if answer.call.plain:
            headers = answer.headers(FORMATS[answer.call.format].content_type)
        else:
            audio = msgspec.json.encode(_with_words(answer, audio, parted(words)))
            headers = answer.headers("application/json")
        _label(headers, stream, pieces)
        return web.Response(body=audio, headers=headers)


def _with_words(answer: _Answer, audio: bytes, words: list[WordTiming]) -> dict[str, object]:
    call, encoded = answer.call, base64.b64encode(audio).decode()
    marks = mark_times(words)
    marked: dict[str, object] = {"marks": marks} if marks else {}
    if call.captioned:
        content_type = FORMATS[call.format].content_type
        captions = [caption(word, answer.voice) for word in words] if call.timestamps else None
        return {"audio": encoded, "audio_format": content_type, "timestamps": captions} | marked
    return {
        "audio": encoded,
        "format": call.format.value,
        "sample_rate": call.sample_rate,
        "duration": round(answer.listening.samples / SAMPLE_RATE, 3),
        "words": [timing(word) for word in words],
    } | marked


def _label(headers: MutableMapping[str, str], stream: SpeechStream, pieces: Pieces) -> None:
    """Set the headers that say if the text has sound, and if all audio so far came from the cache."""
    if not pieces.speakable:
        headers[HEADER] = "none"
    if stream.cached and pieces.speakable:
        headers["X-Cache"] = "hit"
    else:
        headers.pop("X-Cache", None)
