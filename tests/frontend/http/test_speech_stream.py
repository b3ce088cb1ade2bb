"""POST /v1/audio/speech over real sockets: every sample arrives, or the client can tell that it didn't."""

import asyncio
import io
import logging
import socket
import wave
from typing import Any

import aiohttp
import numpy as np
import pytest

from frontend.contract.errors import Broken, NothingToSpeak, Unavailable, Unspeakable
from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import (
    DEFAULT_TIMEOUT,
    FakeSpeaker,
    asking,
    events_of,
    raw_post,
    serving,
    slow_connection,
    speech,
)

HELLO = b'{"input": "Hello.", "response_format": "pcm"}'


async def read_head(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)


async def read_rest(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)


async def read_chunk(reader: asyncio.StreamReader) -> bytes:
    size = int(await asyncio.wait_for(reader.readline(), DEFAULT_TIMEOUT), 16)
    body = await asyncio.wait_for(reader.readexactly(size + 2), DEFAULT_TIMEOUT)
    return body[:-2]


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/audio/speech"])
async def test_pcm_arrives_whole_and_in_order(path: str) -> None:
    pieces = [speech(5000), speech(1, first=9), speech(70_000, first=77)]
    async with serving(FakeSpeaker(*pieces)) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post(path, data=HELLO) as response:
            body = await response.read()
        assert body == np.concatenate(pieces).astype("<i2").tobytes()
        assert response.status == 200
        assert response.headers["Content-Type"] == "audio/pcm"
        assert response.headers["X-Engine"] == "kokoro"
        assert response.headers["X-Sample-Rate"] == "24000"
        assert response.headers["Server"] == "kokoro-live"
        assert response.headers["Transfer-Encoding"] == "chunked"
        assert not {"Content-Encoding", "X-Speakable"} & {*response.headers}


async def test_streamed_wav_begins_with_a_header_of_unknown_size() -> None:
    piece = speech(3000)
    async with asking(FakeSpeaker(piece), json={"input": "Hello.", "response_format": "wav"}) as response:
        body = await response.read()
    assert response.headers["Content-Type"] == "audio/wav"
    assert body[:4] + body[8:12] == b"RIFFWAVE"
    assert body[4:8] == body[40:44] == b"\xff\xff\xff\xff"
    assert body[44:] == piece.tobytes()
    with wave.open(io.BytesIO(body)) as reader:
        assert (reader.getnchannels(), reader.getsampwidth(), reader.getframerate()) == (1, 2, 24_000)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"input": "Hi."}, {"text": "Hi.", "voice": (("af_heart", 1.0),), "language": "en-us", "speed": 1.0}),
        ({"text": "Hi.", "format": "pcm", "stream": True, "lang": "en-us"}, {"text": "Hi.", "language": "en-us"}),
        ({"input": "A", "text": "B", "model": "tts-1", "instructions": [1], "x": None}, {"text": "A"}),
        ({"input": None, "text": "B", "voice": None, "speed": None, "response_format": None}, {"text": "B"}),
        ({"input": "Hi.", "voice": {"id": "alloy"}, "speed": 4}, {"voice": (("af_alloy", 1.0),), "speed": 4.0}),
        ({"input": "Hi.", "voice": "af_heart(3)+af_bella", "speed": 0.25}, {"speed": 0.25}),
        ({"input": "Hi.", "voice": "bf_emma"}, {"language": "en-gb"}),
        ({"input": "Hi.", "voice": "bf_emma", "lang": "en"}, {"language": "en-us"}),
        ({"input": "H\u00e9 \U0001f600\x00 ok"}, {"text": "H\u00e9 \U0001f600\x00 ok"}),
    ],
)
async def test_the_speaker_is_asked_what_the_client_asked(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    speaker = FakeSpeaker(speech(10))
    async with asking(speaker, json=fields, headers={"X-Request-Id": "it.is-Me_7"}) as response:
        assert response.status == 200
        assert response.headers["X-Request-Id"] == "it.is-Me_7"
    (request,) = speaker.opened
    assert request.request_id == "it.is-Me_7"
    assert {name: getattr(request, name) for name in expected} == expected


@pytest.mark.parametrize("offered", ["a b", "x" * 129, "é", "a:b", ""])
async def test_a_request_id_unfit_for_logs_is_replaced(offered: str) -> None:
    async with asking(FakeSpeaker(speech(10)), data=HELLO, headers={"X-Request-Id": offered}) as response:
        assert len(response.headers["X-Request-Id"]) == 32


async def test_header_and_first_chunk_leave_in_one_write_before_the_second_piece_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = asyncio.Event()
    speaker = FakeSpeaker(speech(100), gate, speech(100))
    async with serving(speaker) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await read_head(reader)
        await reader.readexactly(len(b'{"status":"ok"}'))
        (connection,) = server.runner.server.connections
        transport = connection.transport
        assert transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writes: list[bytes] = []

        def record(data: Any, write: Any = transport.write) -> None:
            writes.append(bytes(data))
            write(data)

        monkeypatch.setattr(transport, "write", record)
        monkeypatch.setattr(transport, "writelines", lambda parts: transport.write(b"".join(parts)))
        writer.write(raw_post(b'{"input": "Hello.", "response_format": "wav"}'))
        await read_head(reader)
        chunk = await read_chunk(reader)
        assert chunk[:4] == b"RIFF" and len(chunk) == 44 + 200
        assert len(writes) == 1
        gate.set()
        assert len(await read_chunk(reader)) == 200
        writer.close()


async def test_chunks_are_no_longer_than_the_setting() -> None:
    async with serving(FakeSpeaker(speech(1000)), FrontSettings(chunk_ms=10)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(HELLO))
        await read_head(reader)
        sizes = [len(await read_chunk(reader)) for _ in range(6)]
        writer.close()
    assert sizes == [480, 480, 480, 480, 80, 0]


@pytest.mark.parametrize("error", [Broken("two workers died on it"), Unspeakable("no"), RuntimeError("a bug")])
async def test_an_error_after_the_first_byte_cuts_the_connection_without_the_last_chunk(error: Exception) -> None:
    piece = speech(100)
    speaker = FakeSpeaker(piece, error)
    async with serving(speaker) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(HELLO))
        assert (await read_head(reader)).startswith(b"HTTP/1.1 200 OK\r\n")
        assert await read_rest(reader) == b"c8\r\n" + piece.tobytes() + b"\r\n"
        writer.close()
        async with aiohttp.ClientSession(server.url) as client, client.post("/audio/speech", data=HELLO) as response:
            assert response.status == 200
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.read()
    assert all(stream.closed.is_set() for stream in speaker.streams)


async def test_http_1_0_gets_the_whole_audio_ended_by_the_connection() -> None:
    piece = speech(100)
    async with serving(FakeSpeaker(piece)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(HELLO, version="1.0"))
        assert b"chunked" not in await read_head(reader)
        assert await read_rest(reader) == piece.tobytes()
        writer.close()


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_stop_of_the_server_cuts_what_still_streams(version: str) -> None:
    speaker = FakeSpeaker(speech(100), asyncio.Event())
    async with serving(speaker) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(HELLO, version=version))
        await read_head(reader)
        await (reader.readexactly(200) if version == "1.0" else read_chunk(reader))
    if version == "1.0":
        with pytest.raises(ConnectionResetError):
            await read_rest(reader)
    else:
        assert await read_rest(reader) == b""
    assert speaker.streams[0].closed.is_set()
    writer.close()


async def test_a_client_that_leaves_while_audio_flows_closes_its_stream(caplog: pytest.LogCaptureFixture) -> None:
    speaker = FakeSpeaker(*[speech(24_000)] * 2000)
    async with serving(speaker) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(HELLO))
        await read_head(reader)
        writer.transport.abort()
        (stream,) = speaker.streams
        await asyncio.wait_for(stream.closed.wait(), DEFAULT_TIMEOUT)
    assert stream.given < 2000
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_slow_reader_stalls_its_own_stream_only_and_loses_nothing() -> None:
    """The pieces' memory is overwritten while most of them still wait in the server's buffers."""
    pieces = [speech(24_000, first=n) for n in range(400)]
    speaker = FakeSpeaker(*pieces)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        reader, writer = await slow_connection(server.port)
        writer.write(raw_post(HELLO))
        await read_head(reader)
        async with client.get("/health") as response:
            assert response.status == 200
        assert speaker.streams[0].given < len(pieces)
        body = bytearray()
        while chunk := await read_chunk(reader):
            body += chunk
        writer.close()
    assert bytes(body) == np.concatenate(pieces).tobytes()


@pytest.mark.parametrize(
    ("error", "status", "param", "retry"),
    [
        (Unspeakable("only punctuation"), 400, "input", None),
        (Unavailable("the worker restarts", 0.2), 503, None, "1"),
        (Unavailable("the queue is full", 3.01), 503, None, "4"),
        (Broken("two workers died on it"), 500, None, None),
    ],
)
@pytest.mark.parametrize("when", ["at open", "before the first piece"])
async def test_an_error_before_the_first_byte_has_its_status(
    when: str, error: Exception, status: int, param: str | None, retry: str | None
) -> None:
    speaker = FakeSpeaker(error)
    speaker.refusal = error if when == "at open" else None
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post("/v1/audio/speech", data=HELLO) as response:
            answer = (await response.json())["error"]
        assert (response.status, response.headers.get("Retry-After")) == (status, retry)
        assert (answer["message"], answer["param"]) == (str(error), param)
        assert answer["type"] == ("server_error" if status >= 500 else "invalid_request_error")
    assert all(stream.closed.is_set() for stream in speaker.streams)


@pytest.mark.parametrize(
    ("fields", "given"),
    [
        ({"stream_format": "sse"}, 0),
        ({"stream_format": "jsonl"}, 0),
        ({"stream": False}, 2400),
        ({"response_format": "mp3"}, 240),  # fewer samples than a frame has
    ],
)
async def test_an_error_before_the_first_byte_of_any_framing_is_an_ordinary_answer(
    fields: dict[str, Any], given: int
) -> None:
    speaker = FakeSpeaker(*([speech(given)] if given else []), Broken("at once"))
    async with asking(speaker, json={"input": "Hello."} | fields) as response:
        assert response.status == 500
        assert (await response.json())["error"]["message"] == "at once"


@pytest.mark.parametrize("steps", [(), (NothingToSpeak(),)], ids=["no sample", "nothing to speak"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_text_without_sound_is_answered_with_a_short_silence(
    steps: tuple[Exception, ...], stream: bool
) -> None:
    """Clients that send each sentence by itself hang, or give the service up, where a row of dots is an error."""
    async with serving(FakeSpeaker(*steps)) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "...", "response_format": "pcm", "stream": stream}
        async with client.post("/v1/audio/speech", json=body) as response:
            assert (response.status, response.headers["X-Speakable"]) == (200, "none")
            assert "X-Cache" not in response.headers
            assert await response.read() == bytes(2 * 2400)


async def test_a_text_without_sound_counts_no_tokens_and_no_speech() -> None:
    async with serving(FakeSpeaker(NothingToSpeak())) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "🙂", "response_format": "pcm", "stream_format": "sse"}
        async with client.post("/v1/audio/speech", json=body) as response:
            usage = events_of(await response.read())[-1]["usage"]
        assert usage == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        assert server.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_count") == 0


async def test_while_nothing_speaks_a_good_request_is_told_when_to_come_again_and_a_bad_one_what_is_wrong() -> None:
    async with serving(FakeSpeaker(engine=None)) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post("/v1/audio/speech", data=HELLO) as response:
            assert (response.status, response.headers["Retry-After"]) == (503, "3")
            assert (await response.json())["error"]["message"] == "the model is loading"
        async with client.post("/v1/audio/speech", json={"input": ""}) as response:
            assert response.status == 400


@pytest.mark.parametrize(("level", "logged"), [(logging.DEBUG, True), (logging.INFO, False)])
async def test_the_text_is_logged_at_debug_only(level: int, logged: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(level)
    async with asking(FakeSpeaker(speech(100)), json={"input": "A secret pineapple."}) as response:
        assert response.status == 200
        await response.read()
    assert ("A secret pineapple." in caplog.text) is logged
