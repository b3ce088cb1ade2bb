"""The streamed answer: audio is sent while it is being made.

The status is sent with the first bytes of audio, so any earlier failure is answered with its own status. From then on
the only way to say "incomplete" is to cut the connection before the last chunk.
"""

from __future__ import annotations

import logging

from aiohttp import web

from frontend.contract.errors import Interrupted, SpeechError
from frontend.http.answers.delivery import AudioResponse, Delivery
from frontend.http.answers.ending import cut, left, reset_on_close
from frontend.http.answers.speakable import Pieces
from frontend.http.connections.connection import ClientLeft
from frontend.http.errors import late_error_body
from frontend.http.speech.answer import SpeechAnswer
from frontend.monitoring.metrics import Event, Metrics
from frontend.settings.front import FrontSettings
from shm import request_id
from text.isolation.mishap import Mishap

log = logging.getLogger(__name__)


async def answer_streamed(answer: SpeechAnswer, settings: FrontSettings, metrics: Metrics) -> web.StreamResponse:
    """Answer with the audio while it is being made; cut the connection if the audio can't be completed.

    Raises:
        ApiError, SpeechError: nothing of the response has left yet.
    """
    request, stream, listening, framing = answer.request, answer.stream, answer.listening, answer.framing
    response = AudioResponse(headers=answer.headers(framing.content_type))
    delivery = Delivery(request, response, answer.encoding, listening, settings.chunk_ms, framing)
    try:
        with answer.turn.interruptible():
            primed = settings.prime_silence
            # Silence has the status 200: a rejected request gets its own status, and no silence.
            if primed and await stream.accepted():
                response.headers["X-Primed-Silence"] = f"{primed:g}"
                await delivery.prime(primed)
            pieces = Pieces(stream, answer.call.volume)
            async for piece in pieces:
                if not response.prepared:
                    answer.label(response.headers, pieces)
                if begun := stream.take_sentences():
                    await delivery.begin(begun, stream.real_time_factor)
                await delivery.send_piece(piece, stream.take_words())
            await delivery.finish(stream.tokens, stream.take_words(), speakable=pieces.speakable)
    except Exception as error:
        if left(request):
            raise ClientLeft from error
        if not response.prepared:
            raise
        if isinstance(error, SpeechError):
            log.error("%s is cut: %s", request_id.current.get(), error)
        else:
            Mishap.of(error).log(log, f"{request_id.current.get()} is cut")
        if not isinstance(error, Interrupted):  # a later request of its own session interrupted it
            metrics.count(Event.CUT)
        metrics.errors.add(request_id.current.get(), f"cut: {late_error_body(error)['code']}")
        try:
            await delivery.fail(late_error_body(error))
        except ConnectionError:
            log.info("%s: the client left before it heard so", request_id.current.get())
        finally:
            cut(request)
    else:
        reset_on_close(request, False)
    return response
