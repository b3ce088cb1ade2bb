"""Failures around the handlers, answered in OpenAI's shape, without details; clients that leave, pause, never read."""

import asyncio
import logging
import os
import re
import socket
import struct
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from frontend.contract.errors import Overloaded
from frontend.contract.in_flight import InFlight
from frontend.contract.request import SpeechRequest
from frontend.serving.connections import ClientLeft, Connection
from frontend.serving.errors import Error, errors_in_form
from shm.audio import Pcm
from shm.in_flight import BOARD_BYTES, Board, TextsInFlight, digest_of
from shm.memory import reserve
from shm.messages import Cleared, ControlMessage, Suspects
from tests.frontend.http.guarded import Guarded, asks_health, ended, guarded, until
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, asking, raw_post, serving, speech

SECRET = "the text of the client"


@pytest.mark.parametrize("path", ["/v1", "/v1/nothing", "/v1/audio/speech/", "/v2/models", "/%0a%0dx"])
async def test_an_unknown_route_is_404_in_shape(path: str) -> None:
    async with (
        serving(FakeSpeaker()) as server,
        aiohttp.ClientSession() as client,
        client.get(server.url + path) as response,
    ):
        assert response.status == 404
        error = (await response.json())["error"]
        assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", None, "unknown_url")
        assert response.headers["X-Request-Id"]
        assert response.headers["Server"] == "kokoro-live"


@pytest.mark.parametrize("path", ["/performance-stats", "/optimization-status", "/cache-status", "/startup-progress"])
async def test_an_address_of_another_server_names_the_one_that_takes_its_place(path: str) -> None:
    async with serving(FakeSpeaker()) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get(path) as response:
            message = (await response.json())["error"]["message"]
            assert response.status == 404
            assert message.startswith(f"There is no GET {path} here. Here GET /")
        named = re.findall(r"GET (/[a-z]+)", message.partition("Here ")[2])
        for place in named:
            async with client.get(place) as response:
                assert response.status != 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/dev/captioned_speech", "POST"), ("POST", "/health", "GET,HEAD"), ("OPTIONS", "/v1/models", "GET,HEAD")],
)
async def test_a_wrong_method_is_405_in_shape_and_says_which_is_right(method: str, path: str, allowed: str) -> None:
    async with asking(FakeSpeaker(), path, method=method) as response:
        assert (response.status, response.headers["Allow"]) == (405, allowed)
        error = (await response.json())["error"]
        assert error["code"] == "method_not_supported"
        assert allowed in error["message"]


@pytest.mark.parametrize("path", ["/health", "/ready", "/v1/models", "/v1/audio/voices", "/metrics"])
async def test_head_works_where_get_does(path: str) -> None:
    async with serving(FakeSpeaker()) as server, aiohttp.ClientSession(server.url) as client:
        async with client.head(path) as response:
            assert (response.status, await response.read()) == (200, b"")
        async with client.get(path) as response:
            assert response.status == 200 and await response.read()


async def test_an_unexpected_exception_is_500_without_internals_and_logged_with_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    speaker = FakeSpeaker()
    speaker.refusal = ZeroDivisionError("secret detail")
    async with asking(speaker, json={"input": SECRET}) as response:
        answer = await response.text()
        assert response.status == 500
        error = (await response.json())["error"]
    assert (error["type"], error["code"]) == ("server_error", "internal")
    assert "ZeroDivision" not in answer and "secret" not in answer
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "ZeroDivisionError" in record.getMessage() and "raise self.refusal" in record.getMessage()
    assert "secret detail" not in record.getMessage()
    assert response.headers["X-Request-Id"] in record.getMessage()


async def test_each_request_is_one_line_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with serving(FakeSpeaker(speech(10))) as server, aiohttp.ClientSession(server.url) as client:
        for path in ("/v1/audio/speech?input=hidden", "/v1/x%0aFAKE"):
            async with client.post(path, json={"input": SECRET}, headers={"X-Request-Id": "r-1"}) as response:
                await response.read()
    lines = [record.getMessage() for record in caplog.records if record.name == "frontend.http.app"]
    assert len(lines) == 2
    assert lines[0].startswith("POST /v1/audio/speech 200 ") and lines[0].endswith(" r-1")
    assert lines[1].startswith("POST /v1/x%0AFAKE 404 ")
    assert not any(word in caplog.text for word in (SECRET, "hidden", "\nFAKE"))


async def test_an_expectation_that_nobody_knows_is_refused_and_not_hung_up_on() -> None:
    async with serving(FakeSpeaker()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nExpect: cake\r\nContent-Length: 2\r\n\r\n{}"
        )
        assert (await asyncio.wait_for(reader.readline(), DEFAULT_TIMEOUT)).startswith(b"HTTP/1.1 417 ")
        writer.close()


@pytest.mark.parametrize(("asked", "status"), [(None, 429), ("503", 503), ("418", 429)])
async def test_a_proxy_may_ask_for_another_status_where_there_is_no_room(asked: str | None, status: int) -> None:
    """One that can try another server after 503 only; it learns what the client is to get."""
    speaker = FakeSpeaker(speech(10))
    speaker.refusal = Overloaded("full", 400.0)
    headers = {"X-Refusal-Status": asked} if asked else {}
    async with asking(speaker, json={"input": "Hello."}, headers=headers) as response:
        assert response.status == status
        assert response.headers["Retry-After"] == "60", "longer ones are ignored by clients"
        assert response.headers.get("X-Refusal-Status") == ("429" if status == 503 else None)
        assert (await response.json())["error"]["code"] == "overloaded"


@pytest.mark.parametrize("has_left", [True, False])
async def test_a_connection_that_ends_under_a_handler_is_its_clients_end(
    caplog: pytest.LogCaptureFixture, has_left: bool
) -> None:
    """aiohttp tells a handler of it by an error and by a cancellation; whichever comes first, nobody has failed. An
    error of another connection, while the client waits, is a failure."""
    request = make_mocked_request("POST", "/v1/jobs")
    transport = request.transport
    assert transport is not None
    transport.is_closing.return_value = has_left  # type: ignore[attr-defined]

    async def handler(_: web.Request) -> web.StreamResponse:
        raise ConnectionResetError("gone")

    middleware = errors_in_form(lambda _: Error)
    if has_left:
        with pytest.raises(ClientLeft):
            await middleware(request, handler)
    else:
        assert (await middleware(request, handler)).status == 500
    assert bool([each for each in caplog.records if each.levelname == "ERROR"]) != has_left


SUSPECT = digest_of("Perhaps.")


def saying(text: str) -> dict[str, str]:
    return {"input": text, "response_format": "pcm"}


async def test_a_text_under_refusal_is_told_so_and_others_are_spoken() -> None:
    in_flight = InFlight()
    in_flight.heed(Suspects(refused={digest_of("Deadly."): time.monotonic() + 90, SUSPECT: time.monotonic() - 1}))
    async with (
        serving(FakeSpeaker(speech(100)), in_flight=in_flight) as server,
        aiohttp.ClientSession(server.url) as client,
    ):
        async with client.post("/v1/audio/speech", json=saying("Deadly.")) as refused:
            error = (await refused.json())["error"]
        assert (refused.status, error["code"], error["param"]) == (400, "text_refused", "input")
        assert error["type"] == "invalid_request_error" and "2 minutes" in error["message"]
        assert 0 < int(refused.headers["Retry-After"]) <= 90
        for text in ("Harmless.", "Perhaps."):
            async with client.post("/v1/audio/speech", json=saying(text)) as spoken:
                assert spoken.status == 200 and len(await spoken.read()) == 200


async def test_a_suspected_text_that_is_answered_is_cleared_once_it_is_over() -> None:
    told: list[ControlMessage] = []
    in_flight = InFlight(told.append)
    in_flight.heed(Suspects((SUSPECT,)))
    async with (
        serving(FakeSpeaker(speech(100)), in_flight=in_flight) as server,
        aiohttp.ClientSession(server.url) as client,
    ):
        for text in ("Harmless.", "Perhaps."):
            async with client.post("/v1/audio/speech", json=saying(text)) as spoken:
                await spoken.read()
    assert told == [Cleared(SUSPECT)]


class Watched(FakeSpeaker):
    """Sees what is on the board while it speaks."""

    def __init__(self, board: Board) -> None:
        super().__init__(speech(100))
        self._board = board
        self.seen = TextsInFlight()

    def open(self, request: SpeechRequest) -> AsyncIterator[Pcm]:  # type: ignore[override]
        self.seen = self._board.read()
        return super().open(request)  # type: ignore[return-value]


async def test_a_text_is_on_the_board_from_its_request_to_its_end() -> None:
    memory = reserve(BOARD_BYTES)
    board, supervisor = Board(memory), Board(memory)
    os.close(memory)
    in_flight, speaker = InFlight(), Watched(supervisor)
    in_flight.record_on(board)
    async with (
        serving(speaker, in_flight=in_flight) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=saying("Perhaps.")) as spoken,
    ):
        await spoken.read()
    assert SUSPECT in speaker.seen.waiting | speaker.seen.working.keys()
    assert supervisor.read() == TextsInFlight()


async def cuts(server: Guarded) -> float:
    return server.metrics.totals()["kokoro_live_streams_cut_total"]


async def test_a_stream_that_outlasts_the_drain_is_counted_as_cut() -> None:
    speaker = FakeSpeaker(speech(100), asyncio.Event())
    async with guarded(speaker) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
    assert await cuts(server) == 1
    assert server.closed_for("drain") == 1
    writer.close()


@pytest.mark.parametrize("heard", [True, False], ids=["after its first sample", "before it"])
async def test_a_client_that_leaves_cuts_only_itself(heard: bool) -> None:
    speaker = FakeSpeaker(*([speech(100)] if heard else []), asyncio.Event())
    async with guarded(speaker) as server:
        reader, writer = await server.connect()
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
        async with asyncio.timeout(DEFAULT_TIMEOUT):
            await speaker.was_asked.wait()
            if heard:
                await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await until(server, 0)
        async with asyncio.timeout(DEFAULT_TIMEOUT):
            await speaker.streams[0].closed.wait()
        assert await cuts(server) == 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/audio/speech", b'{"input": "Hello.", "response_format": "pcm"}'),
        ("/v1/text-to-speech/af_heart?output_format=pcm_24000", b'{"text": "Hello."}'),
    ],
)
async def test_a_client_whose_end_a_write_finds_is_no_cut(path: str, body: bytes) -> None:
    """Samples that are there already are written without a look at the socket: half of the clients that left a stream
    from the cache were counted as cut by a drain."""
    client = socket.socket()
    speaker = FakeSpeaker(speech(100), lambda: _reset(client), *[speech(100)] * 3)
    async with guarded(speaker) as server:
        client.connect(("127.0.0.1", server.port))
        client.sendall(raw_post(body, path))
        await asyncio.wait_for(speaker.was_asked.wait(), DEFAULT_TIMEOUT)
        await asyncio.wait_for(speaker.streams[0].closed.wait(), DEFAULT_TIMEOUT)
        await until(server, 0)
        assert (await cuts(server), server.closed_for("drain")) == (0, 0)


def _reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


async def test_the_time_to_first_audio_contains_the_body_s_way() -> None:
    async with guarded(FakeSpeaker(speech(100))) as server:
        reader, writer = await server.connect()
        request = raw_post(b'{"input": "Hello.", "response_format": "pcm"}')
        writer.write(request[:-5])
        await asyncio.sleep(0.3)  # a slow sender: the time itself is what is measured
        writer.write(request[-5:])
        await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), DEFAULT_TIMEOUT)
        spent = server.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_sum")
        assert spent and spent >= 0.2
        writer.close()


async def test_a_client_that_never_reads_loses_its_stream_and_nobody_elses(caplog: pytest.LogCaptureFixture) -> None:
    speaker = FakeSpeaker(*[speech(24_000)] * 400)
    async with guarded(speaker, write_timeout=0.2) as server:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", server.port))
            deaf.sendall(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
            while not speaker.streams:
                reader, writer = await server.connect()
                await asks_health(reader, writer)
                writer.close()
            await asyncio.wait_for(speaker.streams[0].closed.wait(), DEFAULT_TIMEOUT)
            assert speaker.streams[0].given < 400
        assert server.closed_for("write_timeout") == 1
        assert server.metrics.totals()["kokoro_live_streams_cut_total"] == 1
        assert "read nothing for 0.2 s" in caplog.text
        await until(server, 0)


async def test_a_client_that_pauses_and_reads_on_hears_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time starts again with each pause, and not beyond: the connection is there when it would have been over."""
    pauses = []
    pause = Connection.pause_writing
    monkeypatch.setattr(Connection, "pause_writing", lambda self: (pauses.append(self), pause(self)))
    speaker = FakeSpeaker(*[speech(24_000)] * 200)
    async with guarded(speaker, write_timeout=2.0, header_timeout=2.1) as server:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=client, limit=1 << 14)
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "pcm"}'))
        await reader.readuntil(b"\r\n\r\n")
        heard = 0
        while size := int(await asyncio.wait_for(reader.readline(), DEFAULT_TIMEOUT), 16):
            heard += len(await reader.readexactly(size + 2)) - 2
        assert heard == 200 * 24_000 * 2
        assert len(pauses) > 1
        silent_reader, silent = await server.connect()
        await ended(silent_reader)
        await asks_health(reader, writer)
        assert server.closed_for("write_timeout") == 0
        writer.close()
        silent.close()
