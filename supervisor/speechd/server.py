"""The module's client of the server: speech as events, which another thread may end at any time."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_KEY_VARIABLE = "KOKORO_LIVE_API_KEY"

_LIST_SECONDS = 1.0
_CONNECT_SECONDS = 1.0
"""A blind user who hears nothing can't know why: espeak-ng speaks instead, and soon."""

_SILENT_SECONDS = 4.0
"""Longest wait for the next audio: a worker's restart takes less."""


class NoServer(Exception):
    """The server can't be reached, can't speak, or was lost before the end."""


class RequestRefused(Exception):
    """The server doesn't take the request."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {message}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Audio:
    """Samples: int16, little-endian, mono, 24 kHz."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class Reached:
    """A mark, with the second of the audio at which it is reached. It precedes that audio."""

    name: str
    time: float


class Server:
    """The server at one address. `interrupt` may be called from any thread, everything else from one."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._socket: socket.socket | None = None

    def voices(self) -> list[str]:
        """Names of the server's voices.

        Raises:
            NoServer: it doesn't answer.
        """
        try:
            connection = self._connection(_LIST_SECONDS)
            try:
                connection.request("GET", "/v1/audio/voices", headers=self._headers())
                answer = connection.getresponse()
                listed = json.loads(answer.read())
                if answer.status != 200:
                    raise NoServer(f"status {answer.status}")
                return [voice["id"] for voice in listed["voices"]]
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
            raise NoServer(str(error)) from error

    def speak(self, fields: dict[str, Any], is_ended: Callable[[], bool]) -> Generator[Audio | Reached, None, None]:
        """Speech of a request, as it comes. An iteration that ends has given all of it.

        Args:
            is_ended: True once `interrupt` was called for this speech, perhaps too early to find a connection.

        Raises:
            Refused: a field is wrong for this server.
            NoServer: it can't be reached, can't speak now, or was lost.
        """
        fields = {"model": "kokoro", "response_format": "pcm", "stream_format": "sse"} | fields
        connection = self._connection(_CONNECT_SECONDS)
        try:
            connection.connect()
            assert connection.sock is not None
            self._socket = connection.sock
            self._socket.settimeout(_SILENT_SECONDS)
            if is_ended():
                raise NoServer("interrupted")
            connection.request("POST", "/v1/audio/speech", json.dumps(fields), self._headers())
            answer = connection.getresponse()
            if answer.status != 200:
                raise self._refusal(answer)
            yield from _events(answer)
        except (OSError, http.client.HTTPException, ValueError, LookupError) as error:
            raise NoServer(str(error) or type(error).__name__) from error
        finally:
            self._socket = None
            connection.close()

    def interrupt(self) -> None:
        """End the speech that is under way: its iteration raises `NoServer`, and the server stops making it."""
        if connected := self._socket:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname or "127.0.0.1", self._url.port, timeout=seconds)

    @staticmethod
    def _headers() -> dict[str, str]:
        key = os.environ.get(_KEY_VARIABLE)
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    @staticmethod
    def _refusal(answer: http.client.HTTPResponse) -> Exception:
        text = answer.read()
        code = message = ""
        with suppress(ValueError, LookupError, TypeError):
            error = json.loads(text)["error"]
            code, message = str(error["code"]), str(error["message"])
        if 400 <= answer.status < 500 and answer.status != 429:
            return RequestRefused(answer.status, code, message)
        return NoServer(f"{answer.status} {message or answer.reason}")


def _events(answer: http.client.HTTPResponse) -> Iterator[Audio | Reached]:
    while line := answer.readline():
        if not line.startswith(b"data: "):
            continue
        event = json.loads(line[6:])
        match event["type"]:
            case "speech.audio.delta":
                yield Audio(base64.b64decode(event["audio"]))
            case "speech.audio.marks":
                for mark in event["marks"]:
                    yield Reached(mark["name"], mark["time"])
            case "speech.audio.done":
                return
            case "error":
                raise NoServer(event["error"]["message"])
    raise NoServer("the stream was cut")
