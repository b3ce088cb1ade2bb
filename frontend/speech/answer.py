"""The only way from a request for speech to the bytes of its answer, whatever API asks: streamed or whole.

The status of a streamed answer is sent with the first bytes of audio, so any earlier failure is answered with its own
status. From then on the only way to say "incomplete" is to cut the connection before the last chunk.

A text without sound (punctuation, a table's rule or an emoji alone) is ordinary output of language models. An error for
it ends or hangs clients that send each sentence by itself (Home Assistant, LiveKit, Pipecat), so it is answered with a
short silence.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager, closing, nullcontext
from dataclasses import dataclass, replace
from secrets import randbits
from typing import Literal

import numpy as np
from aiohttp import hdrs, web

from frontend.audio.encoders import Seam, chunks
from frontend.audio.encoding import NUMBER_BITS, Encoding
from frontend.audio.formats import FORMATS, AudioFormat, OutputFormat
from frontend.contexts.body import GrowingBody
from frontend.contract.errors import ApiError, Interrupted, NothingToSpeak, SpeechError
from frontend.contract.progress import Place, Progress, decode_place
from frontend.contract.request import SpeechRequest, Urgency
from frontend.contract.speaker import SpeechStream, engine_in_use
from frontend.contract.stages import Stages
from frontend.monitoring.listening import Listening
from frontend.monitoring.metrics import Event
from frontend.serving.connections import ClientLeft, connection_of, record_of
from frontend.serving.errors import failure
from frontend.serving.sending import cut, left, reset_on_close
from frontend.serving.services import Services
from frontend.speech import downloads
from frontend.speech.downloads import Downloads, Recording
from frontend.speech.framing import Framing
from frontend.speech.sender import AudioResponse, Sender
from frontend.speech.sessions import OnBusy, Sessions, Turn
from frontend.timestamps import without_overlaps
from shm import request_id
from shm.audio import Pcm
from shm.engine_info import EngineInfo
from shm.timing import WordTiming
from text.errors import Mishap, TextError

# Amplification of samples by a factor that a request names.


def amplified(samples: Pcm, factor: float) -> Pcm:
    """The samples times the factor, cut off at the largest value that 16 bits hold.

    >>> amplified(np.array([100, -20_000], np.int16), 2.0)
    array([   200, -32768], dtype=int16)
    """
    if factor == 1.0:
        return samples
    louder: Pcm = np.clip(np.rint(samples * np.float32(factor)), -32_768, 32_767).astype(np.int16)
    return louder


HEADER = "X-Speakable"
"""Header with the value `none` if the text has nothing that can be spoken."""

SILENCE_SECONDS = 0.1

WHOLE_CHUNK_MS = 2_000
"""Most audio of a whole clip that is encoded at a time. Each time it waits for the chunks of others, at a front that
begins it again too; MP3 holds the thread for 20 ms then."""


class Pieces:
    """A stream's pieces; iterated once, like a `SpeechStream`."""

    def __init__(self, stream: SpeechStream, volume: float = 1.0, body: GrowingBody | None = None) -> None:
        """Args:
        volume: factor on the samples.
        body: whose text the stream speaks; its failure follows the last piece.
        """
        self._body = body
        self.speakable = True
        """True until the piece of silence is given."""
        self._volume = volume
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[Pcm]:
        given = False
        try:
            async for piece in self._stream:
                given = True
                if self._body:
                    self._body.goes_on()
                yield amplified(piece, self._volume)
        except NothingToSpeak:
            if given:
                raise
        if self._body:
            self._body.check()
        if not given:
            self.speakable = False
            yield np.zeros(round(SILENCE_SECONDS * self._stream.engine.sample_rate), np.int16)


STARTED = web.RequestKey("STARTED", float)
"""`request[STARTED]`: monotonic seconds at which the request's head was whole. Its body may still be on its way."""

STAGES = web.RequestKey("STAGES", Stages)
"""`request.get(STAGES)`: the request's own, once it is being spoken."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The form in which a speech is sent."""

    output: OutputFormat
    framing: Framing
    streamed: bool = True
    """Sent while it is made; otherwise whole, with its length."""
    volume: float = 1.0
    """Factor on the samples."""
    priority: Literal["file", "idle"] | None = None
    """`file`: nobody hears it while it is made; `idle`: nobody waits for it. The time of its first audio isn't counted
    then."""
    after: int = 0
    """Samples at 24 kHz of the audio that the client has already: the answer begins with the next one."""
    download: AudioFormat | None = None
    """The format in which the audio is kept for a download afterwards; None: it isn't."""

    @property
    def urgency(self) -> Urgency:
        if self.priority == "idle":
            return Urgency.IDLE
        return Urgency.LISTENING if self.streamed and self.priority is None else Urgency.WHOLE


class Answers:
    """Answers requests for speech. Close it with the application."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.settings = services.settings
        self.downloads = Downloads(services.encoders, services.settings.max_clip_seconds)
        self._sessions = Sessions()

    async def stop_encoders(self, _: web.Application) -> None:
        """Stop the encoders' threads."""
        self._services.encoders.stop_threads()

    async def speak(
        self,
        request: web.Request,
        text: str,
        delivery: Delivery,
        asked_of: Callable[[EngineInfo], SpeechRequest],
        *,
        session: str | None = None,
        on_busy: OnBusy | None = None,
        body: GrowingBody | None = None,
    ) -> web.StreamResponse:
        """Answer with the speech; if cancelled (the client left, the server stops), close its stream at once.

        Args:
            text: all of the request's text; "" if it is still being written.
            body: the text that is still being written. Such an answer isn't continued if its front dies.
            asked_of: checks the request against the engine that speaks when its turn has come.

        Raises:
            TextError, SpeechError: nothing of the response has left yet.
        """
        log.debug("the text is %r", text)
        turn = self._sessions.turn(session, on_busy)
        progress = Progress() if body else _progress_of(request, lambda: self._services.in_flight.clear(text))
        with nullcontext() if body else self._services.in_flight.answering(text):
            async with turn, AsyncExitStack() as reading:
                asked = replace(asked_of(engine_in_use(self._services.speaker)), progress=progress)
                if body:
                    asked = await reading.enter_async_context(body.growing(asked))
                request[STAGES] = stages = asked.stages
                stages.reach("head", request[STARTED])
                if (connection := connection_of(request)) and (since := connection.take_since()):
                    stages.reach("connected", since)
                stages.reach("asked")
                stages.facts |= {
                    "voice": asked.performer.name,
                    "language": asked.language,
                    "characters": len(text),
                }
                async with self._opened(request, asked, delivery, turn, body) as answer:
                    return await (answer.sent_whole() if answer.begun.whole else answer.streamed())

    @asynccontextmanager
    async def _opened(
        self, request: web.Request, asked: SpeechRequest, delivery: Delivery, turn: Turn, body: GrowingBody | None
    ) -> AsyncIterator[_Answer]:
        output, services = delivery.output, self._services
        with closing(services.speaker.open(asked)) as stream:
            if body:
                body.spoken_by(stream)
            # A response that is in the cache whole is sent like a finished file: with true sizes in a WAV's header.
            sized = delivery.framing.bare and output.format is FORMATS["wav"] and not body
            left = asked.progress.left
            whole = left.whole if left else not delivery.streamed or (sized and await stream.all_cached())
            begun = Place(whole, left.number if left else randbits(NUMBER_BITS), left.primed if left else 0.0)
            rate = stream.engine.sample_rate
            seam = _seam_of(delivery, rate, left)
            asked.stages.facts["engine"] = stream.engine.name
            with (
                closing(self._encoding(delivery, rate, begun, left, seam)) as encoding,
                services.metrics.speaking(),
            ):
                heard = delivery.priority is None and not delivery.after and not left
                if left:
                    services.metrics.count(Event.CONTINUED)
                listening = Listening(services.metrics, request[STARTED], asked.stages, rate, heard=heard)
                delivery.framing.begin(asked, stream.engine)
                progress = asked.progress
                yield _Answer(
                    services, request, delivery, stream, encoding, listening, turn, begun, progress, body, seam
                )

    def _encoding(
        self, delivery: Delivery, engine_rate: int, begun: Place, left: Place | None, seam: Seam
    ) -> Encoding | Recording:
        output, whole = delivery.output, begun.whole
        encoding = self._services.encoders.open(output, engine_rate, whole=whole, number=begun.number, seam=seam)
        if delivery.download is None:
            return encoding
        return self.downloads.begin(
            encoding, delivery.download, output.sample_rate, engine_rate, left.download if left else ""
        )


ANSWERS: web.AppKey[Answers] = web.AppKey("ANSWERS", Answers)


def _progress_of(request: web.Request, went_on: Callable[[], None]) -> Progress:
    """The progress of the request's text, from the place at which a killed front has left its answer. `went_on` as for
    `Progress`."""
    record = record_of(request)
    if record is None:
        return Progress()
    left = record.left
    place = decode_place(left) if left else None
    kept = record.keep_cut, place, record.cuts, record.name
    return Progress(*kept, record.again, record.moved, went_on, record.arrived, record.profile, record.keep_profile)


def _seam_of(delivery: Delivery, engine_rate: int, left: Place | None) -> Seam:
    """Samples and bytes that a killed front has sent, and the next one needn't encode again."""
    if not left or left.whole or delivery.after or delivery.download:
        return 0, 0
    return left.seam if left.seam[0] else delivery.output.settled(left.audio, engine_rate)


@dataclass(frozen=True)
class _Answer:
    """One request that is being answered, with its open stream."""

    services: Services
    request: web.Request
    delivery: Delivery
    stream: SpeechStream
    encoding: Encoding | Recording
    listening: Listening
    turn: Turn
    begun: Place
    """The decisions for the answer."""
    progress: Progress
    body: GrowingBody | None
    seam: Seam

    def _sender(self, response: AudioResponse) -> Sender:
        encoding, settings = self.encoding, self.services.settings
        if isinstance(encoding, Recording):
            self.begun.download = encoding.name
        return Sender(
            self.request,
            response,
            encoding,
            self.listening,
            settings.chunk_ms,
            self.delivery.framing,
            self.stream.engine.sample_rate,
            self.delivery.after,
            self.progress,
            self.begun,
            self.seam,
        )

    async def streamed(self) -> web.StreamResponse:
        """Send the audio while it is being made; cut the connection if it can't be completed."""
        request, stream, framing, settings = self.request, self.stream, self.delivery.framing, self.services.settings
        response = AudioResponse(headers=self._headers(framing.content_type))
        continued = self.progress.left
        sender = self._sender(response)
        try:
            with self.turn.interruptible():
                primed = continued.primed if continued else settings.prime_silence
                # Silence has the status 200: a rejected request gets its own status, and no silence.
                if primed and (continued or await stream.accepted()):
                    response.headers["X-Primed-Silence"] = f"{primed:g}"
                    await sender.prime(primed)
                pieces = Pieces(stream, self.delivery.volume, self.body)
                async for piece in pieces:
                    if not response.prepared:
                        self._label(response.headers, pieces)
                    if begun := stream.take_sentences():
                        await sender.begin(begun, stream.real_time_factor)
                    await sender.send_piece(piece, stream.take_words())
                await sender.finish(stream.tokens, stream.take_words(), speakable=pieces.speakable)
        except Exception as error:
            if left(request):
                raise ClientLeft from error
            if not (response.prepared or continued):
                raise
            await self._cut(error, sender)
        else:
            reset_on_close(request, False)
        return response

    async def _cut(self, error: Exception, sender: Sender) -> None:
        metrics = self.services.metrics
        if isinstance(error, TextError | SpeechError):
            log.error("%s is cut: %s", request_id.current.get(), error)
        else:
            Mishap.of(error).log(log, f"{request_id.current.get()} is cut")
        if not isinstance(error, Interrupted):  # a later request of its own session interrupted it
            metrics.count(Event.CUT)
        detail = failure(error).detail
        metrics.errors.add(request_id.current.get(), f"cut: {detail.code}")
        try:
            await sender.fail(detail)
        except ConnectionError:
            log.info("%s: the client left before it heard so", request_id.current.get())
        finally:
            cut(self.request)

    async def sent_whole(self) -> web.StreamResponse:
        """Send all of the audio at once; any failure has its own status.

        Raises:
            ApiError: the clip is longer than `settings.max_clip_seconds`, and the request refuses a stream.
            SpeechError: the audio can't be made.
        """
        stream, listening, framing = self.stream, self.listening, self.delivery.framing
        parts: list[bytes] = []
        words: list[WordTiming] = []
        encoded = 0
        limit = self.services.settings.max_clip_seconds
        pieces = Pieces(stream, self.delivery.volume, self.body)
        async for piece in pieces:
            words += stream.take_words()
            for chunk in chunks(piece, WHOLE_CHUNK_MS, stream.engine.sample_rate):
                listening.encoded(chunk)
                parts.append(await self.encoding.encode(chunk))
                encoded += len(chunk)
                self.progress.encoded(encoded)
            if not self.delivery.streamed and listening.seconds > limit:
                message = f"The audio is longer than {limit} seconds. Ask for it as a stream."
                raise ApiError(400, message, param="stream", code="clip_too_long")
        words += stream.take_words()
        parts.append(await self.encoding.finish())
        seconds = listening.seconds
        listening.given(seconds)
        body = framing.whole(b"".join(parts), without_overlaps(words), seconds)
        headers = self._headers(framing.content_type)
        self._label(headers, pieces)
        response = AudioResponse(headers=headers)
        await self._sender(response).send_whole(body)
        return response

    def _headers(self, content_type: str) -> dict[str, str]:
        headers = {
            hdrs.CONTENT_TYPE: content_type,
            "X-Engine": self.stream.engine.name,
            "X-Sample-Rate": str(self.delivery.output.sample_rate),
        }
        if isinstance(self.encoding, Recording):
            headers[downloads.HEADER] = self.encoding.path
        return headers

    def _label(self, headers: MutableMapping[str, str], pieces: Pieces) -> None:
        """Set the headers that say if the text has sound, and if all audio so far came from the cache."""
        if not pieces.speakable:
            headers[HEADER] = "none"
        if self.stream.cached and pieces.speakable:
            headers["X-Cache"] = "hit"
        else:
            headers.pop("X-Cache", None)
