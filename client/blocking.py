"""A blocking client, for commands and for Speech Dispatcher's module.

It is made of the standard library: importing aiohttp takes as long as all else that such a program does before it asks
(`python -m benchmarks.late_loading`). An exception that a signal raises in the main thread ends the request.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

from client.answers import (
    LONGEST_EVENT,
    MOST,
    CannotSpeak,
    NoAnswer,
    Reply,
    RequestRefused,
    SpokenPiece,
    Waiting,
    authorization,
    nobody,
    read_captioned,
    read_event,
    reason_of,
    silent,
    user_key,
)
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

ANSWER_SECONDS = 2.0
"""Seconds to wait for a short answer: longer than `/health` takes, and enough for a front that is restarted."""

CONNECT_SECONDS = 10.0

ACTION_SECONDS = 40.0
"""Seconds to wait for the player's answer, which may have to start a process and open a device first."""

_KINDS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


class GrowingInput:
    """A text that is still being written, read in a thread of its own. Each iteration gives all of it, as it comes."""

    def __init__(self, pieces: Iterable[str], idle: float | None = None) -> None:
        """`idle`: seconds after which an iteration gives an empty piece while none comes; None: it waits."""
        self.failure: BaseException | None = None
        """The reason for which no more of it can be read."""
        self._idle = idle
        self._written: list[str] = []
        self._ended = False
        self._news = threading.Condition()
        threading.Thread(target=self._read, args=(pieces,), daemon=True).start()

    def _read(self, pieces: Iterable[str]) -> None:
        try:
            for piece in pieces:
                with self._news:
                    self._written.append(piece)
                    self._news.notify_all()
        except BaseException as error:
            self.failure = error
        with self._news:
            self._ended = True
            self._news.notify_all()

    def __iter__(self) -> Iterator[str]:
        at = 0
        while True:
            with self._news:
                if at == len(self._written) and not self._ended:
                    self._news.wait(self._idle)
                more = self._written[at:]
                if self._ended and not more:
                    return
            at += len(more)
            yield "".join(more)


class BlockingClient:
    """The server at one address. Each request has a connection of its own, so any thread may ask."""

    def __init__(
        self,
        url: str,
        tell: Callable[[str], None] = silent,
        most: float = MOST,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """The user's key is shown to the server, if there is one.

        Args:
            tell: called with the reason while speech has to be waited for (`Waiting`).
            most: seconds for which it is waited for.
            headers: that every request has.
        """
        self.url = url.rstrip("/")
        self._tell, self._most, self._headers = tell, most, dict(headers or {})
        self._streams: set[socket.socket] = set()
        """Sockets of answers that come while things happen."""
        self._waits: set[threading.Event] = set()
        """Requests that may wait for the server."""

    def ask(self, method: str, path: str, body: Any = None, seconds: float = ANSWER_SECONDS) -> Reply:
        """A whole answer, whatever its status.

        Args:
            seconds: to wait for the connection, and for each part of the answer.

        Raises:
            NoAnswer: there is none.
        """
        try:
            with self._answered(method, path, body, seconds, seconds) as answer:
                return _whole(answer)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswer(nobody(self.url, error)) from error

    def get(self, path: str) -> Any:
        """The JSON of an answer with the status 200.

        Raises:
            NoAnswer, RequestRefused: there is none.
        """
        return self.ask("GET", path).checked().json

    @property
    def is_kokoro_live(self) -> bool:
        """True if a kokoro-live listens there, able to speak or not."""
        try:
            answer = self.ask("GET", "/health")
        except NoAnswer:
            return False
        return answer.status == 200 and answer.headers.get("server") == "kokoro-live"

    def events(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        connect: float = CONNECT_SECONDS,
        silent: float | None = None,
        is_ended: Callable[[], bool] = lambda: False,
    ) -> Generator[dict[str, Any], None, None]:
        """Server-sent events as they come, until the answer ends.

        Args:
            connect: seconds to wait for the connection.
            silent: longest wait for the next part of the answer, in seconds; None: for ever.
            is_ended: True once `interrupt` was called for this request, perhaps too early to find its connection.

        Raises:
            NoAnswer: the server can't be reached, or is lost.
            RequestRefused: it answers with an error.
        """
        try:
            with self._spoken(partial(self._answered, method, path, body, connect, silent, is_ended)) as answer:
                while line := answer.readline(LONGEST_EVENT):
                    if (event := read_event(line)) is not None:
                        yield event
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswer(f"the server at {self.url} was lost: {reason_of(error)}") from error

    def interrupt(self) -> None:
        """End all events that are under way, from any thread: their iteration raises `NoAnswer`."""
        for woken in tuple(self._waits):
            woken.set()
        for connected in tuple(self._streams):
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def speak(self, body: dict[str, Any]) -> Generator[SpokenPiece, None, None]:
        """POST a speech request and yield its audio as it arrives. Its `input` may be a `GrowingInput`.

        Raises:
            CannotSpeak: nobody answers, the server refuses, or the stream is cut before its end.
        """
        received, text = 0, body["input"]
        try:
            for pcm in self._speech(body | {"response_format": "pcm"}, "audio/", "that is no speech server's address"):
                received += len(pcm)
                yield SpokenPiece(pcm)
        except CannotSpeak as error:
            raise (isinstance(text, GrowingInput) and text.failure) or error from error
        if received % SAMPLE_BYTES:
            raise CannotSpeak(f"the server's stream ends within a sample after {_seconds(received)}")

    def speak_with_words(self, body: dict[str, Any]) -> Generator[SpokenPiece, None, None]:
        """POST a speech request with word times, and yield audio and words together.

        Raises:
            CannotSpeak: nobody answers, the server refuses, or it can't tell.
        """
        wanted = {"response_format": "wav", "stream": False, "timestamps": "word"}
        otherwise = "it can't tell when words sound. Use a server of this version, or speak without one with --local"
        answer = b"".join(self._speech(body | wanted, "application/json", otherwise))
        try:
            yield read_captioned(answer)
        except ValueError as error:
            said = f"the server at {self.url} says in no way that is known when words sound: {error}"
            raise CannotSpeak(said) from error

    def whole(self, path: str, body: Any) -> bytes:
        """The whole answer to a POST of any protocol, waited for where the server says when.

        Raises:
            NoAnswer, RequestRefused: there is none.
        """
        try:
            with self._spoken(partial(self._answered, "POST", path, body, CONNECT_SECONDS, None)) as answer:
                return answer.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswer(nobody(self.url, error)) from error

    def _speech(self, body: dict[str, Any], kind: str, otherwise: str) -> Iterator[bytes]:
        """Parts of the answer to a speech request.

        Args:
            kind: the beginning of the wanted content type.
            otherwise: the conclusion about a server that answers in another type.
        """
        received = 0
        amount: Callable[[int], str] = _seconds if kind == "audio/" else "{} bytes".format
        try:
            path, sent = "/v1/audio/speech", body["input"]
            if isinstance(sent, GrowingInput):
                path += "/text?" + urlencode({k: v for k, v in body.items() if k != "input" and v is not None})
            asked = partial(self._answered, "POST", path, sent if "?" in path else body, CONNECT_SECONDS, None)
            with self._spoken(asked) as answer:
                if answer.headers.get("X-Speakable") == "none":
                    raise CannotSpeak("There is nothing in the text that can be spoken.")
                if (rate := answer.headers.get("X-Sample-Rate", str(SAMPLE_RATE))) != str(SAMPLE_RATE):
                    raise CannotSpeak(f"the server speaks at {rate} samples per second, not {SAMPLE_RATE}")
                if not (found := answer.headers.get_content_type()).startswith(kind):
                    raise CannotSpeak(f"{self.url} answers with {found}: {otherwise}")
                while part := answer.read1(1 << 16):
                    received += len(part)
                    yield part
                if answer.length:
                    raise http.client.IncompleteRead(b"", answer.length)
        except http.client.IncompleteRead as error:
            cut = f"the server cut the stream after {amount(received)}: the text isn't complete"
            raise CannotSpeak(cut) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            if received:
                lost = f"the server at {self.url} was lost after {amount(received)}: {reason_of(error)}"
                raise NoAnswer(lost) from error
            raise NoAnswer(nobody(self.url, error)) from error

    @contextmanager
    def _spoken(
        self, answered: Callable[[], AbstractContextManager[http.client.HTTPResponse]]
    ) -> Iterator[http.client.HTTPResponse]:
        """An answer that is no error, waited for where the server says when.

        Args:
            answered: asks once (`_answered`).

        Raises:
            RequestRefused: it answers with an error, and waiting is of no use or has taken long enough.
        """
        waiting, woken = Waiting(self._tell, self._most), threading.Event()
        self._waits.add(woken)
        try:
            while True:
                with answered() as answer:
                    if 200 <= answer.status < 300:
                        waiting.over()
                        yield answer
                        return
                    try:
                        _whole(answer).checked()
                    except RequestRefused as error:
                        pause = waiting.seconds(error)
                woken.wait(pause)
        finally:
            self._waits.discard(woken)

    @contextmanager
    def _answered(
        self,
        method: str,
        path: str,
        body: Any,
        connect: float,
        silent: float | None,
        is_ended: Callable[[], bool] = lambda: False,
    ) -> Iterator[http.client.HTTPResponse]:
        """Ask, and close the connection after the block. Errors are the standard library's."""
        where = urlsplit(self.url)
        if where.scheme not in _KINDS or not where.hostname:
            raise http.client.InvalidURL(self.url)
        connection = _KINDS[where.scheme](where.hostname, where.port, timeout=connect)
        connection.connect()
        connected: socket.socket = connection.sock  # which the connection forgets once an answer is to close it
        self._streams.add(connected)
        try:
            connected.settimeout(silent)
            if is_ended():
                raise ConnectionError("interrupted")
            headers = {"Content-Type": "application/json"} | self._headers | authorization(user_key())
            if isinstance(body, GrowingInput):
                headers |= {"Content-Type": "text/plain; charset=utf-8", "Transfer-Encoding": "chunked"}
                connection.request(method, where.path + path, headers=headers)
                threading.Thread(target=_write, args=(connected, body), daemon=True).start()
            else:
                sent = body if body is None or isinstance(body, bytes) else json.dumps(body)
                connection.request(method, where.path + path, sent, headers)
            with connection.getresponse() as answer:
                yield answer
        finally:
            self._streams.discard(connected)
            connection.close()


def _write(connected: socket.socket, text: GrowingInput) -> None:
    """Send a text as it comes; one that can't be read to its end ends the connection."""
    with suppress(OSError):  # which the answer's reader meets too
        for piece in filter(None, text):
            sent = piece.encode()
            connected.sendall(b"%x\r\n%b\r\n" % (len(sent), sent))
        if text.failure:
            connected.shutdown(socket.SHUT_RDWR)
        else:
            connected.sendall(b"0\r\n\r\n")


def _whole(answer: http.client.HTTPResponse) -> Reply:
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return Reply(answer.status, headers, answer.read(), answer.reason)


def _seconds(received: int) -> str:
    return f"{received / SAMPLE_BYTES / SAMPLE_RATE:.1f} s of audio"
