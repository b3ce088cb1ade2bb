"""POST /v1/audio/speech: a text in, its audio out while it is being made.

The status leaves with the first bytes of audio, so whatever goes wrong until then is answered with its own status.
From then on the only way to say "incomplete" is to cut the connection before the last chunk.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import closing

from aiohttp import hdrs, web

from frontend import request_id, sse
from frontend.audio.encoding import Encoders, Encoding
from frontend.audio.formats import FORMATS
from frontend.delivery import AudioResponse, Delivery, Listening, chunks
from frontend.ending import cut, left, reset_on_close
from frontend.errors import ApiError, late_error_body
from frontend.metrics import Metrics
from frontend.schema import SpeechCall, parse_speech
from frontend.settings import FrontSettings
from frontend.speaker import Speaker, SpeechError, SpeechRequest, SpeechStream, Unavailable, Unspeakable
from frontend.text.language import UnknownLanguage, language_of
from frontend.voice_spec import UnknownVoice, VoiceError, default_voice, parse_voice
from shm.audio import SAMPLE_RATE
from shm.killpoint import killpoint
from shm.messages import EngineInfo

log = logging.getLogger(__name__)


class SpeechHandler:
    """Answers speech requests."""

    def __init__(self, speaker: Speaker, settings: FrontSettings, metrics: Metrics) -> None:
        self._speaker = speaker
        self._settings = settings
        self._metrics = metrics
        self._encoders = Encoders()

    async def close(self, _: web.Application) -> None:
        """End the encoders' threads."""
        self._encoders.close()

    async def post(self, request: web.Request) -> web.StreamResponse:
        """The audio; cancelled (the client left, the server stops), it closes the stream at once.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        started = time.monotonic()
        call = parse_speech(await self._body(request), self._settings.max_input_characters)
        killpoint("parsed")
        engine = self._speaker.engine
        if engine is None:
            raise Unavailable(self._speaker.reason, self._speaker.retry_after)
        with (
            closing(self._speaker.open(_speech_request(call, engine))) as stream,
            closing(self._encoders.open(call.format, call.sample_rate, whole=not call.streamed)) as encoding,
        ):
            self._metrics.stream_opened()
            try:
                listening = Listening(self._metrics, started)
                if call.streamed:
                    return await self._stream(request, call, stream, encoding, listening)
                return await self._clip(call, stream, encoding, listening)
            finally:
                self._metrics.stream_closed()

    async def _body(self, request: web.Request) -> bytes:
        if request.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
            raise ApiError(415, "A compressed body is not taken: send it plain.", code="unsupported_encoding")
        try:
            async with asyncio.timeout(self._settings.body_timeout):
                return await request.read()
        except TimeoutError as error:
            message = f"The body was not there whole after {self._settings.body_timeout:g} seconds: send it again."
            raise ApiError(408, message, code="request_timeout") from error
        except web.HTTPRequestEntityTooLarge as error:
            limit = self._settings.max_body_bytes
            message = f"The body is longer than {limit} bytes. Split the text over several requests."
            raise ApiError(413, message, code="request_too_large") from error

    async def _stream(
        self,
        request: web.Request,
        call: SpeechCall,
        stream: SpeechStream,
        encoding: Encoding,
        listening: Listening,
    ) -> web.StreamResponse:
        response = AudioResponse(headers=_headers(call, stream))
        delivery = Delivery(request, response, encoding, listening, self._settings.chunk_ms, events=call.events)
        try:
            async for piece in stream:
                await delivery.send(piece)
            _assert_spoken(listening)
            await delivery.finish(stream.tokens)
        except Exception as error:
            if left(request):
                # Seen by a write before aiohttp could cancel this handler: the same event, so the same end.
                raise asyncio.CancelledError from error
            if not response.prepared:
                raise
            log.error("%s is cut: %s", request_id.current.get(), error, exc_info=not isinstance(error, SpeechError))
            self._metrics.stream_cut()
            try:
                await delivery.fail(late_error_body(error))
            except ConnectionError:
                log.info("%s: the client left before it heard so", request_id.current.get())
            finally:
                cut(request)
        else:
            reset_on_close(request, False)
        return response

    async def _clip(
        self, call: SpeechCall, stream: SpeechStream, encoding: Encoding, listening: Listening
    ) -> web.Response:
        """All of the audio at once: its length is known, and whatever goes wrong has its status."""
        parts: list[bytes] = []
        limit = self._settings.max_clip_seconds
        async for piece in stream:
            for chunk in chunks(piece, self._settings.chunk_ms):
                listening.encoded(chunk)
                parts.append(await encoding.encode(chunk))
            if listening.samples > limit * SAMPLE_RATE:
                message = f"The clip is longer than {limit} seconds. Ask for it without `stream`: false."
                raise ApiError(400, message, param="stream", code="clip_too_long")
        _assert_spoken(listening)
        parts.append(await encoding.finish())
        listening.given(listening.samples / SAMPLE_RATE)
        return web.Response(body=b"".join(filter(None, parts)), headers=_headers(call, stream))


def _headers(call: SpeechCall, stream: SpeechStream) -> dict[str, str]:
    return {
        hdrs.CONTENT_TYPE: sse.CONTENT_TYPE if call.events else FORMATS[call.format].content_type,
        "X-Engine": stream.engine.name,
        "X-Sample-Rate": str(call.sample_rate),
    }


def _assert_spoken(listening: Listening) -> None:
    if not listening.samples:
        raise Unspeakable("The text has nothing in it that can be spoken.")


def _speech_request(call: SpeechCall, engine: EngineInfo) -> SpeechRequest:
    try:
        voice = parse_voice(call.voice if call.voice is not None else default_voice(engine.voices), engine.voices)
    except VoiceError as error:
        code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
        raise ApiError(400, str(error), param="voice", code=code) from error
    try:
        language = language_of(voice, call.lang)
    except UnknownLanguage as error:
        raise ApiError(400, str(error), param="lang", code="unknown_language") from error
    return SpeechRequest(
        request_id=request_id.current.get(), text=call.text, voice=voice, language=language, speed=call.speed
    )
