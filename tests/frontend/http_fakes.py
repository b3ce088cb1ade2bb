"""A speaker that gives what a test wrote down, and a real server over it on a real socket."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import numpy as np
from aiohttp import web

from frontend.contract.errors import Unavailable
from frontend.contract.in_flight import InFlight
from frontend.contract.request import SpeechRequest
from frontend.http.app import make_app
from frontend.jobs import JobDesk
from frontend.monitoring.metrics import Metrics
from frontend.playing.desk import PlayDesk
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from shm.audio import Pcm
from shm.engine_info import EngineInfo
from shm.timing import SentenceTiming, WordTiming
from tests.engine_infos import kokoro

ENGINE = kokoro("af_heart", "af_bella", "af_alloy", "am_echo", "bf_emma", "zf_xiaobei", vocabulary="abc")

Step = np.ndarray | Exception | asyncio.Event | Callable[[], None]
"""The next action of a stream: give a piece, fail, wait until the test sets the event, or call."""

DEFAULT_TIMEOUT = 60.0
"""Seconds after which a wait in a test has failed."""


def speech(samples: int, first: int = 1000) -> Pcm:
    """Loud samples, each different from its neighbours, so that a lost or doubled one shows."""
    return ((np.arange(first, first + samples, dtype=np.int64) * 7919) % 60_000 - 30_000).astype(np.int16)


class FakeStream:
    """Gives its steps' pieces out of one buffer, which is overwritten as soon as the next piece is asked for."""

    def __init__(self, steps: Sequence[Step], engine: EngineInfo) -> None:
        self.engine = engine
        self.given = 0
        self.tokens = 0
        """Seven a piece."""
        self.cached = False
        self.flushed = 0
        self.seconds_left = 60.0
        self.words: list[WordTiming] = []
        """Told with the next piece, as `sentences` are."""
        self.sentences: list[SentenceTiming] = []
        self.closed = asyncio.Event()
        self.waiting = asyncio.Event()
        self._steps = steps

    async def __aiter__(self) -> AsyncIterator[Pcm]:
        ring = np.zeros(max([1, *(len(step) for step in self._steps if isinstance(step, np.ndarray))]), np.int16)
        for step in self._steps:
            if isinstance(step, asyncio.Event):
                self.waiting.set()
                await step.wait()
            elif isinstance(step, Exception):
                raise step
            elif callable(step):
                step()
            else:
                ring[: len(step)] = step
                self.given += 1
                yield ring[: len(step)]
                ring[:] = 0x5555
                self.tokens += 7

    def take_words(self) -> list[WordTiming]:
        words, self.words = self.words, []
        return words

    def take_sentences(self) -> list[SentenceTiming]:
        sentences, self.sentences = self.sentences, []
        return sentences

    @property
    def real_time_factor(self) -> float | None:
        return 0.5

    async def all_cached(self) -> bool:
        return self.cached

    async def accepted(self) -> bool:
        return not (self._steps and isinstance(self._steps[0], Exception))

    def close(self) -> None:
        self.closed.set()


class FakeSpeaker:
    """Every stream takes the same steps; `opened` keeps what was asked for."""

    expected_voices = ENGINE.voices

    def __init__(self, *steps: Step, engine: EngineInfo | None = ENGINE) -> None:
        self.engine = engine
        self.reason = "" if engine else "the model is loading"
        self.retry_after = 2.2
        self.ring_seconds = 20.0
        self.real_time_factor = 0.2
        self.refusal: Exception | None = None
        self.steps = steps
        self.opened: list[SpeechRequest] = []
        self.streams: list[FakeStream] = []
        self.was_asked = asyncio.Event()

    def open(self, request: SpeechRequest) -> FakeStream:
        if self.engine is None:
            raise Unavailable(self.reason, self.retry_after)
        if self.refusal is not None:
            raise self.refusal
        self.opened.append(request)
        self.was_asked.set()
        self.streams.append(FakeStream(self.steps, self.engine))
        return self.streams[-1]


class CachedSpeaker(FakeSpeaker):
    """Has spoken everything before."""

    def open(self, request: SpeechRequest) -> FakeStream:
        stream = super().open(request)
        stream.cached = True
        return stream


@dataclass(frozen=True)
class Server:
    runner: web.AppRunner
    port: int
    metrics: Metrics

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def serving(
    speaker: FakeSpeaker,
    settings: FrontSettings | None = None,
    in_flight: InFlight | None = None,
    player: PlayDesk | None = None,
    jobs: JobDesk | None = None,
    reading: Sequence[str] = (),
) -> AsyncIterator[Server]:
    metrics = Metrics()
    chosen = settings or FrontSettings()
    services = Services(speaker, chosen, metrics, in_flight=in_flight or InFlight())
    app = make_app(services, player=player, jobs=jobs, reading=reading)
    runner = web.AppRunner(app, handler_cancellation=True, auto_decompress=False, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield Server(runner, runner.addresses[0][1], metrics)
    finally:
        await runner.cleanup()


@asynccontextmanager
async def asking(
    speaker: FakeSpeaker,
    path: str = "/v1/audio/speech",
    settings: FrontSettings | None = None,
    method: str = "POST",
    **request: Any,
) -> AsyncIterator[aiohttp.ClientResponse]:
    """The answer to one request, by a server of its own."""
    async with (
        serving(speaker, settings) as server,
        aiohttp.ClientSession(server.url) as client,
        client.request(method, path, **request) as response,
    ):
        yield response


def events_of(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: ")]


def raw_post(body: bytes, path: str = "/v1/audio/speech", version: str = "1.1") -> bytes:
    """A request as bytes, for tests that look at the wire."""
    return f"POST {path} HTTP/{version}\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def slow_connection(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection whose client keeps at most 64 KiB that it hasn't read."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    return await asyncio.open_connection(sock=sock, limit=4096)
