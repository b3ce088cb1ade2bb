"""Bad input, and a reader that fails: a clear error in the dialect's own form, nobody else disturbed, nothing left."""

import asyncio
import itertools
import json
import logging
import socket as sockets
import time
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
import psutil
import pytest

from frontend.dialects import open_contexts
from frontend.dialects.open_contexts import MAX_CONTEXTS
from frontend.planning.reader import Reader
from frontend.settings.front import FrontSettings
from shm.in_flight import digest_of
from shm.messages import Suspects
from tests.frontend.http.dialects_desk import Message, Office, closed, next_json, office, until
from tests.frontend.http.dialects_messages import (
    CARTESIA,
    DEEPGRAM,
    ELEVENLABS,
    PATHS,
    SENTENCE,
    VOICE,
    code_of,
    error_after,
    speak,
)
from tests.frontend.scripted_worker import DEADLINE
from tests.frontend.settling import settled


async def malformed(socket: aiohttp.ClientWebSocketResponse, path: str) -> None:
    await socket.send_str('{"text": "Hel')


async def no_object(socket: aiohttp.ClientWebSocketResponse, path: str) -> None:
    await socket.send_str("[1, 2]")


async def binary(socket: aiohttp.ClientWebSocketResponse, path: str) -> None:
    await socket.send_bytes(b"\x00\x01")


async def too_long(socket: aiohttp.ClientWebSocketResponse, path: str) -> None:
    try:
        await socket.send_json(speak(path, "long " * 2_000_000))
    except ConnectionError:
        pass  # the server has closed before all of it was written


async def no_utf8(socket: aiohttp.ClientWebSocketResponse, path: str) -> None:
    await socket._writer.send_frame(b'{"text": "\xff\xfe"}', aiohttp.WSMsgType.TEXT)


@PATHS
@pytest.mark.parametrize(
    ("bad", "code", "closing"),
    [
        (malformed, "invalid_json", 1008),
        (no_object, "invalid_message", 1008),
        (binary, "invalid_message", 1003),
        (no_utf8, "invalid_message", 1007),
        (too_long, "invalid_message", 1009),
    ],
)
async def test_a_bad_message_is_explained_and_ends_the_socket(
    path: str, bad: Callable[[aiohttp.ClientWebSocketResponse, str], Any], code: str, closing: int
) -> None:
    async with office() as desk:
        tasks, files = len(asyncio.all_tasks()), psutil.Process().num_fds()
        async with desk.connect(path) as socket:
            await socket.send_json(speak(path, SENTENCE))
            await bad(socket, path)
            assert await error_after(socket, path) == code
            # A client that still writes megabytes finds the connection reset, after the message.
            assert await closed(socket) in (closing, 1006 if bad is too_long else closing)
        await desk.nothing_is_left()
        await settled(tasks, files)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/text-to-speech/nobody/multi-stream-input", "unknown_voice"),
        ("/v1/text-to-speech/af_heart/stream-input?output_format=mp9_1", "invalid_output_format"),
        ("/v1/text-to-speech/af_heart/stream-input?output_format=mp3_12345_64", "unsupported_sample_rate"),
        ("/v1/speak?model=nobody", "unknown_voice"),
        ("/v1/speak?encoding=mp9", "invalid_encoding"),
        ("/v1/speak?sample_rate=many", "invalid_value"),
    ],
)
async def test_a_bad_address_is_explained_on_the_socket(path: str, code: str) -> None:
    async with office() as desk, desk.connect(path) as socket:
        assert await error_after(socket, ELEVENLABS if "text-to-speech" in path else DEEPGRAM) == code
        assert await closed(socket) == 1008
        await desk.nothing_is_left()


async def test_an_error_of_a_cartesia_context_leaves_the_others() -> None:
    async with office() as desk, desk.connect(CARTESIA) as socket:
        for wrong in (
            {"transcript": "Hi.", "context_id": "x", "voice": {"mode": "id", "id": "nobody"}},
            {"transcript": 5, "context_id": "x", **VOICE},
            {"transcript": "Hi.", "context_id": "x", **VOICE, "generation_config": {"speed": 99}},
            {"transcript": "Hi.", "context_id": "x", **VOICE, "output_format": {"encoding": "mp9"}},
        ):
            await socket.send_json(wrong)
            assert await error_after(socket, CARTESIA)
        await socket.send_json({**speak(CARTESIA, SENTENCE), "continue": False})
        assert (await until(socket, "done"))[-1]["type"] == "done"


async def test_text_for_a_closed_context_is_an_error() -> None:
    async with office() as desk, desk.connect(ELEVENLABS) as socket:
        await socket.send_json(speak(ELEVENLABS, SENTENCE))
        await socket.send_json({"context_id": "a", "close_context": True})
        await socket.send_json(speak(ELEVENLABS, SENTENCE))
        assert await error_after(socket, ELEVENLABS) == "context_closed"


@PATHS
async def test_a_text_that_fails_is_counted_as_cut_and_the_next_one_is_spoken(path: str) -> None:
    async with office(speaks=False) as desk, desk.connect(path) as socket:
        [worker] = desk.workers
        await socket.send_json(speak(path, SENTENCE * 2))
        order = await worker.has(1)
        worker.seal(order, 0, 48_000)
        while (await socket.receive(timeout=60)).type is aiohttp.WSMsgType.TEXT and path is DEEPGRAM:
            pass  # the greeting
        worker.fail(order, "it has a fault")
        while (message := await socket.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY or not (
            {"error", "err_msg"} & message.json().keys()
        ):
            pass
        assert code_of(path, message.json()) == "unspeakable"
        assert desk.counted("streams_cut_total") == 1
        orders = len(worker.orders)
        await socket.send_json({**speak(path, SENTENCE, "b"), "flush": True})
        if path is DEEPGRAM:
            await socket.send_json({"type": "Flush"})
        worker.speak(await worker.has(orders + 1))
        assert (await socket.receive(timeout=60)).type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)


@pytest.mark.parametrize("end", [{"close_socket": True}, {"context_id": "a", "close_context": True}])
async def test_the_end_of_a_text_that_is_refused_is_told(end: Message) -> None:
    async with office() as desk, desk.connect(ELEVENLABS) as socket:
        desk.services.in_flight.heed(Suspects(refused={digest_of("Deadly"): time.monotonic() + 90}))
        await socket.send_json(speak(ELEVENLABS, f"{SENTENCE}Deadly"))
        await socket.send_json(end)
        assert await error_after(socket, ELEVENLABS) == "text_refused"


async def test_a_flush_of_a_refused_text_is_answered() -> None:
    async with office() as desk, desk.connect(DEEPGRAM) as socket:
        desk.services.in_flight.heed(Suspects(refused={digest_of("Deadly"): time.monotonic() + 90}))
        for message in (speak(DEEPGRAM, "Deadly"), {"type": "Flush"}):
            await socket.send_json(message)
        kinds = [await next_json(socket) for _ in range(3)]
        assert [each["type"] for each in kinds] == ["Metadata", "Warning", "Flushed"]
        assert kinds[1]["code"] == "text_refused"


async def test_a_message_that_crosses_the_end_costs_no_audio() -> None:
    """A connection that is closed while a message arrives is reset, with all that is still on its way."""
    async with office() as desk:
        client = await raw(desk, f"{DEEPGRAM}&encoding=mulaw&sample_rate=24000", SMALL)
        for message in (speak(DEEPGRAM, "A text of a second."), {"type": "Close"}):
            client.send(frame(message))
        await desk.nothing_is_left()
        client.send(bytes([0x89, 0x80]) + bytes(4))  # a ping
        loop, heard = asyncio.get_running_loop(), b""
        async with asyncio.timeout(60):
            while not heard.endswith(GOODBYE):
                data = await loop.sock_recv(client, 4096)
                assert data, "the connection has ended before its close frame"
                heard += data
        assert len(heard) > 19 * 1680
        client.close()


@PATHS
async def test_a_page_of_another_site_opens_no_socket(path: str) -> None:
    async with office() as desk:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await desk.session.ws_connect(desk.url + path, headers={"Origin": "https://evil.example"})
        assert refused.value.status == 403
        async with desk.connect(path, {"Origin": "http://localhost:3000"}):
            pass


@PATHS
async def test_a_half_closed_socket_and_one_that_is_never_read_leave_nothing(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with office(rings=3) as desk:
        with monkeypatch.context() as patch:
            patch.setattr(open_contexts, "PING_SECONDS", 0.5)
            silent, gone = await raw(desk, path), await raw(desk, path)
        for each in (silent, gone):
            each.send(frame(speak(path, SENTENCE * 300)))
        gone.shutdown(sockets.SHUT_WR)
        async with desk.connect(CARTESIA) as socket:  # somebody else is heard meanwhile
            await socket.send_json({**speak(CARTESIA, SENTENCE * 2), "continue": False})
            assert (await until(socket, "done"))[-1]["type"] == "done"
        for stream in desk.scheduler._shared.streams.values():
            assert stream.playback.position < 60 * 24_000, "no more is made than leaves for somebody who reads"
        await desk.nothing_is_left()  # the silent one has answered no ping
        silent.close()
        gone.close()


async def test_interruptions_leave_no_ring() -> None:
    async with office(rings=2) as desk, desk.connect(ELEVENLABS) as socket:
        for number in range(30):
            name = f"c{number}"
            await socket.send_json({**speak(ELEVENLABS, SENTENCE * 3, name), "flush": True})
            while (await next_json(socket)).get("contextId") != name:
                pass
            await socket.send_json({"context_id": name, "close_context": True})
        await socket.send_json({"close_socket": True})
        await closed(socket)
        await desk.nothing_is_left()


SMALL = 4096
GOODBYE = bytes([0x88, 2]) + (1000).to_bytes(2, "big")
"""The server's close frame."""


async def raw(desk: Office, path: str, buffer: int = 0) -> sockets.socket:
    """A client without a WebSocket library, after the upgrade.

    Args:
        buffer: bytes that its system takes before they are read; 0: the system's own choice.
    """
    host, port = desk.url.removeprefix("http://").split(":")
    head = (
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    client = sockets.socket()
    if buffer:
        client.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, buffer)
    client.connect((host, int(port)))
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(client, head.encode())
    assert b"101" in await loop.sock_recv(client, 400)
    return client


def frame(message: Message) -> bytes:
    """One masked text frame; the mask is zero."""
    body = json.dumps(message).encode()
    return bytes([0x81, 0x80 | 126]) + len(body).to_bytes(2, "big") + bytes(4) + body


async def test_the_twenty_first_context_is_refused_unless_one_is_silent() -> None:
    async with office(FrontSettings(max_streams=64), speaks=False) as desk, desk.connect(ELEVENLABS) as socket:
        for number in range(MAX_CONTEXTS):
            await socket.send_json({**speak(ELEVENLABS, SENTENCE, f"c{number}"), "flush": True})
        await socket.send_json(speak(ELEVENLABS, SENTENCE, "more"))
        message = await next_json(socket)
        assert (message["error"], message["contextId"]) == ("too_many_contexts", "more")
        await socket.send_json({"context_id": "c3", "close_context": True})


async def test_a_context_that_holds_text_makes_room_for_no_other() -> None:
    async with office(FrontSettings(max_streams=64)) as desk, desk.connect(ELEVENLABS) as socket:
        await socket.send_json(speak(ELEVENLABS, "Not a whole sentence", "held"))
        for number in range(MAX_CONTEXTS):
            await socket.send_json(speak(ELEVENLABS, " ", f"c{number}"))
        await socket.send_json({"context_id": "held", "close_context": True})
        assert (await next_json(socket))["contextId"] == "held"


async def test_twenty_contexts_of_one_socket_are_spoken_whole() -> None:
    async with office(FrontSettings(max_streams=64)) as desk:
        async with desk.connect(CARTESIA) as socket:
            names = {f"c{number}" for number in range(MAX_CONTEXTS)}
            for name in names:
                await socket.send_json({**speak(CARTESIA, SENTENCE, name), "continue": False})
            samples: dict[str, int] = dict.fromkeys(names, 0)
            ended = set()
            while ended != names:
                message = await next_json(socket)
                samples[message["context_id"]] += len(message.get("data", ""))
                if message["done"]:
                    assert message["type"] == "done"
                    ended.add(message["context_id"])
            assert len(set(samples.values())) == 1
        await desk.nothing_is_left()


async def test_a_refused_context_closes_an_idle_socket_with_try_again_later() -> None:
    async with office(speaks=False) as desk, desk.connect(CARTESIA) as socket:
        streams = [desk.open(SENTENCE) for _ in range(8)]
        await socket.send_json({**speak(CARTESIA, SENTENCE), "continue": False})
        message = await next_json(socket)
        assert (message["type"], message["error_code"], message["status_code"]) == ("error", "overloaded", 429)
        assert await closed(socket) == 1013
        for stream in streams:
            stream.close()


async def test_a_silent_socket_is_closed_after_its_own_time() -> None:
    async with office() as desk, desk.connect(f"{ELEVENLABS}&inactivity_timeout=1") as socket:
        assert await error_after(socket, ELEVENLABS) == "inactivity"
        assert await closed(socket) == 1008


@pytest.mark.parametrize("service", ["elevenlabs", "cartesia", "deepgram"])
async def test_a_service_can_be_turned_off(service: str) -> None:
    paths = {"elevenlabs": ELEVENLABS, "cartesia": CARTESIA, "deepgram": DEEPGRAM}
    async with office(FrontSettings(dialects=(*paths.keys() - {service},))) as desk:
        for name, path in paths.items():
            if name == service:
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await desk.session.ws_connect(desk.url + path)
                assert refused.value.status == 404
            else:
                async with desk.connect(path):
                    assert desk.services.open.sockets[name] == 1


SECRET = "a word of the text"
POSTS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/audio/speech", {"input": SENTENCE * 5}),
    ("/v1/audio/speech", {"input": SENTENCE * 5, "stream": False}),
    ("/v1/text-to-speech/af_heart", {"text": SENTENCE * 5}),
    ("/v1/text-to-speech/af_heart/with-timestamps", {"text": SENTENCE * 5}),
    ("/tts/bytes", {"transcript": SENTENCE * 5, **VOICE, "output_format": {"container": "wav"}}),
    ("/v1/speak?model=af_heart", {"text": SENTENCE * 5}),
]


@pytest.fixture(params=range(3))
def nth(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    segments = Reader.segments

    def failing(*args: Any) -> Iterator[object]:
        yield from itertools.islice(segments(*args), request.param)
        raise ValueError(SECRET)

    monkeypatch.setattr(Reader, "segments", failing)
    nth: int = request.param
    return nth


def is_told(desk: Office, caplog: pytest.LogCaptureFixture, request_id: str) -> bool:
    (record,) = [each for each in caplog.records if "can't be read" in each.getMessage()]
    said = record.getMessage()
    assert record.levelno == logging.ERROR and "in failing" in said and SECRET not in caplog.text
    assert desk.counted("texts_unread_total") == 1
    return request_id in said


@pytest.mark.parametrize(("path", "body"), POSTS)
async def test_a_request_fails_with_500_or_is_cut(
    path: str, body: dict[str, Any], nth: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with office() as desk:
        try:
            async with desk.post(path, body, {"X-Request-Id": "r-1"}) as response:
                status, answer = response.status, (await response.read()).decode(errors="replace")
        except aiohttp.ClientPayloadError:
            assert nth  # the answer had begun
        else:
            assert (status, response.headers["X-Request-Id"]) == (500, "r-1")
            assert "server failed" in answer and SECRET not in answer
        assert is_told(desk, caplog, "r-1")


@PATHS
async def test_a_socket_is_told_whose_fault_it_is(path: str, nth: int, caplog: pytest.LogCaptureFixture) -> None:
    async with office() as desk:
        async with desk.connect(path, {"X-Request-Id": "r-1"}) as socket:
            await socket.send_json(speak(path, SENTENCE * 5))
            if path is CARTESIA:
                await socket.send_json({"context_id": "a", "continue": False, "transcript": "", **VOICE})
            else:
                await socket.send_json({"flush": True, "context_id": "a", "text": "", "type": "Flush"})
            while (message := await socket.receive(timeout=DEADLINE)).type is aiohttp.WSMsgType.BINARY or not (
                "error" in message.json() or message.json().get("type") in ("error", "Error")
            ):
                pass
            assert code_of(path, message.json()).lower() == "internal" and SECRET not in message.data
        assert is_told(desk, caplog, "r-1")
