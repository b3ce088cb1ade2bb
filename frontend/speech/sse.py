"""Speech as server-sent events, as OpenAI's API sends it for `stream_format: "sse"`.

Each event has an `id`: the sample, at 24 kHz, up to which the events so far hold the audio. A client that sends it as
`Last-Event-ID` is answered from that sample on.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import msgspec

CONTENT_TYPE = "text/event-stream"

FRAME_SAMPLES = 600
"""Samples that count as one output token: one of Kokoro's frames, 25 ms."""


class Usage(msgspec.Struct):
    """OpenAI's count: tokens that the engine spoke, and the audio's frames of 25 ms."""

    input_tokens: int
    output_tokens: int
    total_tokens: int


def usage(input_tokens: int, samples: int) -> Usage:
    """
    Args:
        input_tokens: tokens that were spoken, as the engine counts them (`Segment.tokens`).
        samples: the audio's length, at 24 kHz.
    """
    output_tokens = -(-samples // FRAME_SAMPLES)
    return Usage(input_tokens, output_tokens, input_tokens + output_tokens)


def delta(audio: bytes, at: int) -> bytes:
    """The event with more audio; the deltas' bytes joined equal the file that `stream_format: "audio"` gives."""
    return _event({"type": "speech.audio.delta", "audio": base64.b64encode(audio).decode()}, at)


def words(words: Sequence[object], at: int) -> bytes:
    """The event with the times of words in the following deltas; not part of OpenAI's API, sent only on request."""
    return _event({"type": "speech.audio.words", "words": words}, at)


def marks(marks: Sequence[object], at: int) -> bytes:
    """The event with the times of SSML's marks in the following deltas; not part of OpenAI's API, sent only on
    request."""
    return _event({"type": "speech.audio.marks", "marks": marks}, at)


def sentence(number: int, text: str, sample: int, real_time_factor: float | None, at: int) -> bytes:
    """The event with a sentence that begins in the following deltas; not part of OpenAI's API, sent only on request.

    Args:
        sample: the sample of the audio, at 24 kHz, at which the sentence begins.
        real_time_factor: predicted seconds of work for a second of the audio that follows; None if unknown.
    """
    event = {"type": "speech.audio.sentence", "number": number, "text": text, "sample": sample}
    return _event(event | ({} if real_time_factor is None else {"real_time_factor": round(real_time_factor, 3)}), at)


def done(input_tokens: int, samples: int, at: int) -> bytes:
    """The last event: the audio is whole. The arguments are those of `usage`."""
    return _event({"type": "speech.audio.done", "usage": usage(input_tokens, samples)}, at)


def error(body: object, at: int) -> bytes:
    """The event that ends incomplete audio. `body` is `{"message", "type", "param", "code"}`.

    The event has a name for clients that dispatch on names, and both fields that OpenAI's clients read: `type` and
    `error`.
    """
    return b"event: error\n" + _event({"type": "error", "error": body}, at)


def _event(data: object, at: int) -> bytes:
    return b"data: %b\nid: %d\n\n" % (msgspec.json.encode(data), at)
