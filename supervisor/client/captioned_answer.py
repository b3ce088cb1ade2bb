"""A server's answer to a request with `timestamps` and without streaming: audio and words in one JSON object."""

from __future__ import annotations

import io
import wave

import msgspec

from frontend.contract.word_timing import WordTiming
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from supervisor.client.spoken import SpokenPiece


class _Captioned(msgspec.Struct):
    audio: bytes
    """A WAV file, in base64."""
    words: list[WordTiming]


def read_captioned(answer: bytes) -> SpokenPiece:
    """The samples and words of such an answer.

    Raises:
        ValueError: that is no such answer, or its audio isn't mono, 16 bits at 24 kHz.
    """
    try:
        captioned = msgspec.json.decode(answer, type=_Captioned)
        with wave.open(io.BytesIO(captioned.audio)) as audio:
            samples = audio.readframes(audio.getnframes())
            form = (audio.getnchannels(), audio.getsampwidth(), audio.getframerate())
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error
    except (wave.Error, EOFError) as error:
        raise ValueError(f"its audio is no WAV file: {error}") from error
    if form != (1, SAMPLE_BYTES, SAMPLE_RATE):
        raise ValueError("its audio has {} channels of {} bytes at {} Hz".format(*form))
    return SpokenPiece(samples, words=tuple(captioned.words))
