"""The server's answers, read in one place: refusals, events, and captioned audio. Needs no library of HTTP."""

from __future__ import annotations

import base64
import io
import json
import math
import os
import sys
import wave
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from shm.timing import WordTiming

MOST = 3600.0
"""Most seconds to wait for a server that serves others first."""

STARTING = 60.0
"""Most seconds to wait for a server that can't speak yet: loading an engine takes a few, fetching a model the rest."""


class Waiting:
    def __init__(self, tell: Callable[[str], None], most: float = MOST) -> None:
        """
        Args:
            tell: called with the reason for waiting, for people; with an empty text once the request is answered.
            most: seconds of all waits together.
        """
        self._tell = tell
        self._most = most
        self._waited = 0.0
        self._told = ""

    def seconds(self, error: RequestRefused) -> float:
        """Seconds to wait before the same request is made again.

        Raises:
            RequestRefused: the given error: the request can't succeed later, or all has been waited already.
        """
        most = self._most if error.status == 429 else min(self._most, STARTING)
        if error.later is None or self._waited + error.later > most:
            raise error
        self._waited += error.later
        why = "" if error.status == 429 else f": {error}"
        self._say(f"waiting for the server, {math.ceil(error.later)} s{why}")
        return error.later

    def over(self) -> None:
        """Say that the request is answered, if it was waited for."""
        self._say("")

    def _say(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._tell(reason)


def silent(_reason: str) -> None:
    """Tell nobody."""


START = "start one with `kokoro-live serve`"
"""The cure for a server that doesn't answer."""


def nobody(url: str, error: Exception) -> str:
    """The one sentence for a server that doesn't answer, with the cure."""
    return f"no server answers at {url} ({reason_of(error)}): {START}"


def reason_of(error: Exception) -> str:
    """The reason without the HTTP library's own words about sockets.

    Args:
        error: an error of aiohttp, of the standard library, of the system, or a timeout.
    """
    # An error of aiohttp's was raised by one who has imported it, which takes 0.15 s.
    return ("aiohttp" in sys.modules and _reason_of_aiohttp(error)) or _reason_of_system(error)


def _reason_of_aiohttp(error: Exception) -> str:
    import aiohttp

    match error:
        case aiohttp.ClientConnectorDNSError():
            return _NO_HOST
        case aiohttp.ClientConnectorCertificateError():
            return _NOT_TRUSTED
        case aiohttp.ClientSSLError():
            return _NOT_ENCRYPTED
        case aiohttp.ClientConnectorError():
            return os.strerror(error.os_error.errno).lower() if error.os_error.errno else "it can't be connected to"
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return _NO_URL
        case aiohttp.ServerDisconnectedError():
            return _CLOSED
        case aiohttp.ClientPayloadError():
            return _BROKE_OFF
        case aiohttp.ClientResponseError():
            return _NO_HTTP
    return ""


def _reason_of_system(error: Exception) -> str:
    import http.client
    import socket
    import ssl

    match error:
        case TimeoutError():
            return "nothing came in time"
        case socket.gaierror():
            return _NO_HOST
        case ssl.SSLCertVerificationError():
            return _NOT_TRUSTED
        case ssl.SSLError():
            return _NOT_ENCRYPTED
        case http.client.InvalidURL():
            return _NO_URL
        case http.client.RemoteDisconnected():
            return _CLOSED
        case http.client.IncompleteRead():
            return _BROKE_OFF
        case http.client.HTTPException():
            return _NO_HTTP
        case OSError(errno=int(number)):
            return os.strerror(number).lower()
    return " ".join(str(error).split()) or type(error).__name__


_NO_HOST = "there is no host of that name"
_NOT_TRUSTED = "its certificate isn't trusted"
_NOT_ENCRYPTED = "it doesn't speak HTTPS; an address without encryption begins with http://"
_NO_URL = "that is no http:// address"
_CLOSED = "it closed the connection"
_BROKE_OFF = "its answer broke off"
_NO_HTTP = "it doesn't speak HTTP"


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
            needed = code == "missing_api_key"
            message = f"An API key is needed: set {KEY_VARIABLE} to it." if needed else f"{message} ({KEY_VARIABLE})"
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
