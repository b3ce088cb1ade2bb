"""POST /v1/audio/speech: a text in, its audio out while it is being made.

The first piece is awaited before the status leaves, so whatever goes wrong until then is answered with its own
status. From then on the only way to say "incomplete" is to cut the connection before the last chunk.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
import time

from aiohttp import HttpVersion11, hdrs, web

from frontend import request_id, wav
from frontend.errors import ApiError
from frontend.metrics import Metrics
from frontend.schema import AudioFormat, SpeechCall, parse_speech
from frontend.settings import FrontSettings
from frontend.speaker import Speaker, SpeechError, SpeechRequest, SpeechStream, Unavailable, Unspeakable
from frontend.text.language import UnknownLanguage, language_of
from frontend.voice_spec import UnknownVoice, VoiceError, default_voice, parse_voice
from shm.audio import SAMPLE_RATE, Pcm
from shm.messages import EngineInfo

CONTENT_TYPES = {AudioFormat.WAV: "audio/wav", AudioFormat.PCM: "audio/pcm"}

AUDIBLE = 64
"""Samples further than this from 0 (-54 dBFS) are speech; what an engine leads in with stays below."""

log = logging.getLogger(__name__)


class SpeechHandler:
    """Answers speech requests."""

    def __init__(self, speaker: Speaker, settings: FrontSettings, metrics: Metrics) -> None:
        self._speaker = speaker
        self._settings = settings
        self._metrics = metrics

    async def post(self, request: web.Request) -> web.StreamResponse:
        """The audio; cancelled (the client left, the server stops), it closes the stream at once.

        Raises:
            ApiError, SpeechError: nothing of the response has left yet.
        """
        started = time.monotonic()
        call = parse_speech(await self._body(request), self._settings.max_input_characters)
        engine = self._speaker.engine
        if engine is None:
            raise Unavailable(self._speaker.reason, self._speaker.retry_after)
        stream = self._speaker.open(_speech_request(call, engine))
        self._metrics.stream_opened()
        try:
            return await self._send(request, stream, call.format, started)
        finally:
            stream.close()
            self._metrics.stream_closed()

    async def _body(self, request: web.Request) -> bytes:
        if request.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
            raise ApiError(415, "A compressed body is not taken: send it plain.", code="unsupported_encoding")
        try:
            return await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            limit = self._settings.max_body_bytes
            message = f"The body is longer than {limit} bytes. Split the text over several requests."
            raise ApiError(413, message, code="request_too_large") from error

    async def _send(
        self, request: web.Request, stream: SpeechStream, audio_format: AudioFormat, started: float
    ) -> web.StreamResponse:
        pieces = aiter(stream)
        first = await anext(pieces, None)
        if first is None:
            raise Unspeakable("The text has nothing in it that can be spoken.")
        response = AudioResponse(
            headers={
                "Content-Type": CONTENT_TYPES[audio_format],
                "X-Engine": stream.engine.name,
                "X-Sample-Rate": str(SAMPLE_RATE),
            }
        )
        await response.prepare(request)
        reset_on_close(request, True)
        delivery = Delivery(response, self._settings.chunk_ms, self._metrics, started)
        try:
            await delivery.send(first, header=wav.STREAMING_HEADER if audio_format is AudioFormat.WAV else b"")
            async for piece in pieces:
                await delivery.send(piece)
        except Exception as error:
            if _left(request):
                # Seen by a write before aiohttp could cancel this handler: the same event, so the same end.
                raise asyncio.CancelledError from error
            log.error("%s is cut: %s", request_id.current.get(), error, exc_info=not isinstance(error, SpeechError))
            self._metrics.stream_cut()
            cut(request)
        else:
            reset_on_close(request, False)
        return response


class AudioResponse(web.StreamResponse):
    """A response whose header leaves in one write with the first chunk, as aiohttp's own `Response` does it."""

    _send_headers_immediately = False


class Delivery:
    """Puts PCM on the wire in chunks of bounded length, each flushed at once, and times the first speech."""

    def __init__(self, response: web.StreamResponse, chunk_ms: int, metrics: Metrics, started: float) -> None:
        self._response = response
        self._chunk = SAMPLE_RATE * chunk_ms // 1000
        self._metrics = metrics
        self._started = started
        self._speaking = False

    async def send(self, piece: Pcm, header: bytes = b"") -> None:
        """Write a piece, `header` before it. Waits while the client reads too slowly.

        The transport may keep what it is given until the client reads, and the piece's memory goes back to the
        worker before that, so the transport gets copies.
        """
        for start in range(0, len(piece), self._chunk):
            chunk = piece[start : start + self._chunk]
            await self._response.write(header + chunk.astype("<i2", copy=False).tobytes())
            header = b""
            self._metrics.audio_sent(len(chunk))
            if not self._speaking and (chunk.max() > AUDIBLE or chunk.min() < -AUDIBLE):
                self._speaking = True
                self._metrics.speech_began(time.monotonic() - self._started)


def reset_on_close(request: web.Request, on: bool) -> None:
    """Make the connection's end a reset, however it comes about: an error, a stop, or the process being killed.

    For HTTP/1.0, which has no chunks: its clients take an orderly end for the end of the audio. Switched off again
    once the audio is whole.
    """
    if request.version < HttpVersion11 and request.transport is not None:
        linger_not_at_all = struct.pack("ii", on, 0)
        sock = request.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not_at_all)


def cut(request: web.Request) -> None:
    """End the connection before the last chunk: what was sent arrives, and every client can tell that it isn't all."""
    if request.transport is not None:
        request.transport.abort()


def _left(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()


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
