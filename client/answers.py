"""The server's answers, read in one place: refusals, events, and captioned audio. Needs no library of HTTP."""

from __future__ import annotations

import base64
import io
import json
import os
import wave
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from shm.timing import WordTiming

KEY_VARIABLE = "KOKORO_LIVE_API_KEY"
"""The variable with the server's key. There is no option: every user of a machine can read its command lines."""

LONGEST_EVENT = 1 << 20
"""Bytes of one event; a longer one is no speech of this server's."""

_LONGEST_PAUSE = 60.0


class CannotSpeak(Exception):
    """A request failed, or broke off before its end. The message says why and what to do."""


class NoAnswer(CannotSpeak):
    """The server can't be reached, doesn't answer in HTTP or in time, or was lost before its answer's end."""


class RequestRefused(CannotSpeak):
    """The server answers with an error: not now, or never."""

    def __init__(self, message: str, status: int, code: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """The API's name of the error; empty if the answer has none."""
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again, if it says so."""

    @property
    def passes(self) -> bool:
        """True if the same request may succeed later."""
        return self.status in (408, 429) or self.status >= 500

    @property
    def later(self) -> float | None:
        """Seconds after which the server, which serves others first or can't speak yet, may serve the same request;
        None if it doesn't say so."""
        return self.retry_after if self.status in (429, 503) else None


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    """The answer's headers, by names in lower case."""
    body: bytes
    reason: str = ""

    @property
    def json(self) -> Any:
        """The body; None if it isn't JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def error(self) -> str:
        """The message of an API error; empty if the answer has none."""
        return _error(self.json)[1]

    def checked(self) -> Reply:
        """This answer.

        Raises:
            RequestRefused: it is an error.
        """
        if 200 <= self.status < 300:
            return self
        code, message = _error(self.json)
        message = message or f"the server answers with {self.status} {self.reason}".rstrip()
        if self.status == 401:
            message += f" Here, {KEY_VARIABLE} has it."
        after = self.headers.get("retry-after", "")
        seconds = min(float(after), _LONGEST_PAUSE) if after.isdecimal() else None
        raise RequestRefused(message, self.status, code, seconds)


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """Consecutive audio, in order: `shm.audio`'s samples as bytes, which a server may cut within a sample."""

    pcm: bytes
    characters: int = 0
    """Characters of the text that this piece completes; 0 if the source doesn't know."""
    words: tuple[WordTiming, ...] = ()
    """Words since the last piece, if requested."""


def address(host: str, port: int) -> str:
    """The URL by which this machine reaches a server that listens at this address."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def user_key() -> str | None:
    return os.environ.get(KEY_VARIABLE) or None


def authorization(key: str | None) -> dict[str, str]:
    """The headers that show a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def read_event(line: bytes) -> dict[str, Any] | None:
    """The event of one line of `text/event-stream`; None for a line without one.

    Raises:
        ValueError: it is no JSON object.
    """
    if not line.startswith(b"data: "):
        return None
    event = json.loads(line[6:])
    if not isinstance(event, dict):
        raise ValueError("an event that is no object")
    return event


def audio_in(event: Mapping[str, Any]) -> bytes:
    """Samples of a `speech.audio.delta`.

    Raises:
        ValueError: it has none.
    """
    return base64.b64decode(event.get("audio") or "", validate=True)


def read_wav(audio: bytes) -> bytes:
    """Samples of a WAV file.

    Raises:
        ValueError: it is none, or isn't mono, 16 bits at 24 kHz.
    """
    try:
        with wave.open(io.BytesIO(audio)) as file:
            form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
            samples: bytes = file.readframes(file.getnframes())
    except (wave.Error, EOFError, RuntimeError) as error:
        raise ValueError(f"its audio is no WAV file: {error}") from error
    if form != (1, SAMPLE_BYTES, SAMPLE_RATE):
        raise ValueError("its audio has {} channels of {} bytes at {} Hz".format(*form))
    return samples


def read_captioned(body: bytes) -> SpokenPiece:
    """The answer to a request with `timestamps` and without streaming: a WAV file and words in one JSON object.

    Raises:
        ValueError: that is no such answer.
    """
    try:
        answer = json.loads(body)
        words = tuple(
            WordTiming(str(each["word"]), str(each["said"]), float(each["start"]), float(each["end"]))
            for each in answer["words"]
        )
        return SpokenPiece(read_wav(base64.b64decode(answer["audio"], validate=True)), words=words)
    except (LookupError, TypeError) as error:
        raise ValueError(f"it lacks {error}") from error


def _error(answer: Any) -> tuple[str, str]:
    match answer:
        case {"error": {"message": str(message), **more}}:
            return str(more.get("code") or ""), message
        case {"reason": str(reason)}:
            return "", reason
    return "", ""
