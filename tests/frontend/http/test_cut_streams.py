"""Streams whose client leaves, pauses or never reads, over real sockets: no other client loses anything."""

import asyncio
import socket
import struct

import pytest

from frontend.serving.connections import Connection
from tests.frontend.http.guarded import Guarded, asks_health, ended, guarded, until
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, raw_post, speech


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
