"""The whole answer: the audio's length is known when it leaves, and any failure has its own status."""

from __future__ import annotations

import base64

import msgspec
from aiohttp import web

from frontend.audio.formats import FORMATS
from frontend.audio.pieces import chunks
from frontend.contract.errors import ApiError
from frontend.contract.word_timing import WordTiming
from frontend.http.answers.framing import caption, mark_times, timing
from frontend.http.answers.speakable import Pieces
from frontend.http.speech.answer import SpeechAnswer
from frontend.settings.front import FrontSettings
from frontend.timestamps.align import without_overlaps
from shm.audio import SAMPLE_RATE


async def answer_whole(answer: SpeechAnswer, settings: FrontSettings) -> web.Response:
    """Answer with all of the audio at once.

    Raises:
        ApiError: the clip is longer than `settings.max_clip_seconds`, and the request refuses a stream.
        SpeechError: the audio can't be made.
    """
    stream, listening, encoding = answer.stream, answer.listening, answer.encoding
    parts: list[bytes] = []
    words: list[WordTiming] = []
    limit = settings.max_clip_seconds
    pieces = Pieces(stream, answer.call.volume)
    async for piece in pieces:
        words += stream.take_words()
        for chunk in chunks(piece, settings.chunk_ms):
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
        audio = msgspec.json.encode(_with_words(answer, audio, without_overlaps(words)))
        headers = answer.headers("application/json")
    answer.label(headers, pieces)
    return web.Response(body=audio, headers=headers)


def _with_words(answer: SpeechAnswer, audio: bytes, words: list[WordTiming]) -> dict[str, object]:
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
