"""The front's HTTP side and its Wyoming port, spoken to over connections in memory."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import json
import logging
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aiohttp import web

from benchmarks.fuzzing.files import scratch
from frontend.dialects.wyoming.service import WyomingService
from frontend.http.app import make_app
from frontend.jobs import JobDesk
from frontend.serving.connections import Connections
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings, JobSettings
from tests.frontend.contexts_desk import ContextDesk, speak_all

PATIENCE = 20.0
"""Seconds after which what a client sent counts as never answered."""

_QUIET_TURNS, _SPEAKING_TURNS = 3, 20
"""Turns of the event loop without a byte after which the server waits for its client; more of them while a stream is
open, which may be growing."""

ELEVENLABS = "/v1/text-to-speech/af_heart/multi-stream-input?output_format=pcm_24000"
CARTESIA = "/tts/websocket"
DEEPGRAM = "/v1/speak?model=af_heart"


class MemoryTransport(asyncio.Transport):
    """A client's connection whose bytes stay in this process."""

    def __init__(self, protocol: asyncio.Protocol, ours: socket.socket) -> None:
        super().__init__({"socket": ours, "peername": ("127.0.0.1", 1)})
        self.sent = bytearray()
        self._protocol = protocol
        self._closing = False
        protocol.connection_made(self)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def is_reading(self) -> bool:
        return not self._closing

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None: ...

    def write(self, data: Any) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    abort = close


class _Errors(logging.Handler):
    """Keeps entries at error level: they stand for exceptions that nobody expected."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.entries: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.entries.append(record)


@contextlib.contextmanager
def _errors_logged() -> Iterator[None]:
    """Raise what the server logs as an error in this block; entries below that level cost little."""
    root, errors = logging.getLogger(), _Errors()
    level = root.level
    root.addHandler(errors)
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.removeHandler(errors)
        root.setLevel(level)
    for entry in errors.entries:
        raise Logged(entry.getMessage()) from (entry.exc_info[1] if isinstance(entry.exc_info, tuple) else None)


class Logged(Exception):
    """The server logged an error."""


class Front:
    """A front without processes: its worker speaks each order at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        loop.run_until_complete(self._start())

    async def _start(self) -> None:
        settings = FrontSettings(max_streams=8, max_input_characters=2000, max_body_bytes=1 << 16)
        self._desk = ContextDesk(settings)
        self._speaking = asyncio.create_task(speak_all(self._desk.worker(1, rings=24)))
        services: Services = self._desk.services
        jobs = JobDesk(JobSettings(jobs_dir=scratch() / "jobs", max_jobs=1 << 30), lambda _: None, "http://a", "k")
        self._runner = web.AppRunner(
            make_app(services, jobs=jobs),
            handler_cancellation=True,
            auto_decompress=False,
            access_log=None,
            shutdown_timeout=0.1,
        )
        await self._runner.setup()
        assert self._runner.server is not None
        self._connections = Connections(self._runner.server, settings, 100, services.metrics)
        self._sockets = socket.socketpair()
        self._wyoming = WyomingService(self._sockets[0], services, lambda: None)

    def close(self) -> None:
        """Close what the interpreter's end would warn of."""
        for each in self._sockets:
            each.close()

    def http(self, data: bytes) -> bytes:
        """Any bytes on a connection, all answers, and the client's end."""
        return self._told(None, data)

    def wyoming(self, data: bytes) -> bytes:
        return self._told(self._wyoming.protocol, data)

    def _told(self, protocol: Callable[[], asyncio.Protocol] | None, data: bytes) -> bytes:
        with _errors_logged():
            return self.loop.run_until_complete(self._conversation(protocol, data))

    async def _conversation(self, protocol: Callable[[], asyncio.Protocol] | None, data: bytes) -> bytes:
        connection = self._connections.admit(protocol)
        assert connection is not None
        transport = MemoryTransport(connection, self._sockets[0])
        connection.data_received(data)
        await self._answered(transport)
        if not transport.is_closing() and not connection.eof_received():
            transport.close()
        async with asyncio.timeout(PATIENCE):
            while len(self._connections) or self._desk._something_is_open():  # noqa: ASYNC110 - nobody tells of every end
                await asyncio.sleep(0)
        return bytes(transport.sent)

    async def _answered(self, transport: MemoryTransport) -> None:
        """Wait until the client would hear no more: nothing was sent for some turns."""
        quiet, heard = 0, -1
        while not transport.is_closing():
            await asyncio.sleep(0 if quiet == 0 else 0.0005)
            quiet = 0 if len(transport.sent) != heard else quiet + 1
            heard = len(transport.sent)
            if quiet >= (_SPEAKING_TURNS if self._desk.scheduler._shared.streams else _QUIET_TURNS):
                break


@functools.cache
def front() -> Front:
    """This process's front, made when it is first needed: a process that forks later would share its threads."""
    made = Front(asyncio.new_event_loop())
    atexit.register(made.close)
    return made


def http(data: bytes) -> None:
    """Bytes of one or more requests. Every answer is one of HTTP's, and none says that the server failed."""
    answer = front().http(data)
    if answer:
        assert answer.startswith(b"HTTP/"), answer[:80]
        assert not answer[9:].startswith(b"500"), answer[:400]


def request(method: str, path: str) -> Callable[[bytes], object]:
    """A body of JSON for one call."""

    def parse(data: bytes) -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        http(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)

    return parse


def sockets(path: str) -> Callable[[bytes], object]:
    """Text messages of one socket, a line each; after a zero byte, bytes of frames."""
    head = (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    ).encode()

    def parse(data: bytes) -> None:
        sent = data[1:] if data[:1] == b"\0" else b"".join(map(frame, data.splitlines()))
        answer = front().http(head + sent)
        assert answer.startswith(b"HTTP/1.1 101 "), answer[:80]

    return parse


_PATHS = (
    "/dev/captioned_speech",
    "/v1/audio/dialogue",
    "/dev/generate_from_phonemes",
    "/dev/ssml",
    "/v1/text/sentences",
    "/v1/audio/voices/combine",
)


def several(data: bytes) -> None:
    """A body of JSON for one of Kokoro-FastAPI's calls and our own, by its first byte."""
    request("POST", _PATHS[(data[:1] or b"\0")[0] % len(_PATHS)])(data[1:])


def bodies() -> Iterator[bytes]:
    voice = {"voice": "af_heart", "response_format": "pcm"}
    turns = {"input": [{"text": "One.", "voice": "af_heart"}, {"text": "Two.", "voice": "am_echo"}]}
    yield b"\0" + lines({"input": "Hello.", "stream": False, "return_timestamps": True, **voice})
    yield b"\1" + lines({**turns, "response_format": "pcm"})
    yield b"\2" + lines({"phonemes": "abc", **voice})
    yield b"\3" + lines({"input": "<speak>a</speak>", **voice})
    yield b"\4" + lines({"input": "One. Two.", "lang": "en"})
    yield b"\5" + lines("af_heart+af_bella")


_BOUNDARY = b"--fuzz"


def upload(data: bytes) -> None:
    """A body of multipart/form-data for a job."""
    head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=fuzz\r\n"
    http(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)


def uploads() -> Iterator[bytes]:
    part = b'\r\nContent-Disposition: form-data; name="%b"%b\r\n\r\n%b\r\n'
    fields = [
        (b"file", b'; filename="b.txt"\r\nContent-Type: text/plain', b"A book."),
        (b"format", b"", b"zip"),
        (b"captions", b"", b"srt,vtt"),
        (b"cast", b"", b'narrator = "af_heart"'),
        (b"between", b"", b"01:00-07:00"),
    ]
    yield b"".join(_BOUNDARY + part % each for each in fields) + _BOUNDARY + b"--\r\n"


def elevenlabs_messages() -> Iterator[bytes]:
    yield lines(
        {"text": "Hello. ", "context_id": "a", "voice_settings": {"speed": 1}}, {"context_id": "a", "flush": True}
    )
    yield lines({"text": "Hello. ", "contextId": "b", "close_context": True}, {"close_socket": True})
    yield b"\0" + frame(b'{"text": "Hello."}') + frame(b"a", 9) + frame(b"\x03\xe8", 8)


def frame(payload: bytes, kind: int = 1) -> bytes:
    """A client's frame, whose mask is zero."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", min(size, 65535))
    return bytes([0x80 | kind]) + length + bytes(4) + payload[:65535]


def wyoming(data: bytes) -> None:
    """Events of a Wyoming client. Each answer begins with a line of JSON."""
    answer = front().wyoming(data)
    if answer:
        assert isinstance(json.loads(answer[: answer.index(b"\n")]), dict)


def lines(*messages: object) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in messages)


def wyoming_events() -> Iterator[bytes]:
    yield b'{"type":"describe"}\n'
    yield lines({"type": "synthesize", "data": {"text": "Hello.", "voice": {"name": "af_heart"}}}) + b"\n"
    yield lines({"type": "synthesize-start", "data": {}}, {"type": "synthesize-chunk", "data": {"text": "One. Two."}},
                {"type": "synthesize-stop"}) + b"\n"  # fmt: skip
    yield b'{"type":"ping","data_length":12,"payload_length":3}\n{"text":"a"}   '


def requests(*paths: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for path in paths]
