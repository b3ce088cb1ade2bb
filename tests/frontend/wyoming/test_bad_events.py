"""Bad input on the Wyoming port: an `error` event that says why, nobody else disturbed, nothing left."""

import asyncio
import errno
import json
import socket as sockets

import psutil
import pytest
from wyoming.event import Event
from wyoming.info import Describe
from wyoming.ping import Ping
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeVoice

from frontend.dialects.wyoming import service as service_module
from frontend.dialects.wyoming.events import read_line, read_rest
from frontend.serving.services import BodyMemory
from frontend.settings.front import FrontSettings
from tests.frontend.settling import settled
from tests.frontend.wyoming_desk import Client, House, house, pcm

SENTENCE = "This is the first sentence of them all. "
HEART = SynthesizeVoice(name="af_heart")


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


MALFORMED = {
    "no JSON": (b'{"type": "synthe\n', "invalid_json"),
    "binary": (b"\x00\xff\xfe\x01\n", "invalid_json"),
    "no object": (b"[1, 2]\n", "invalid_event"),
    "no type": (line(data={}), "invalid_event"),
    "data that is no object": (line(type="synthesize", data=[]), "invalid_event"),
    "a length that is none": (line(type="describe", data_length="7"), "invalid_event"),
    "a negative length": (line(type="describe", payload_length=-1), "invalid_event"),
    "data that is no JSON": (line(type="describe", data_length=3) + b"\x00\x01\x02", "invalid_json"),
    "nesting without end": (b"[" * 30_000 + b"\n", "invalid_json"),
    "a long line": (b'{"type": "' + b"x" * 300_000, "event_too_long"),
    "long data": (line(type="synthesize", data_length=10_000_000) + b" " * 10_000_000, "event_too_long"),
    "a long payload": (line(type="audio-chunk", payload_length=10_000_000), "event_too_long"),
    "a text that is none": (line(type="synthesize", data={"text": 5}), "invalid_value"),
    "a voice that is none": (line(type="synthesize", data={"text": "Hi.", "voice": "af_heart"}), "invalid_value"),
    "a format that is none": (line(type="synthesize", data={"text": "Hi.", "text_format": "html"}), "invalid_value"),
}


@pytest.mark.parametrize("kind", MALFORMED)
async def test_a_bad_event_is_explained_and_ends_the_connection(kind: str) -> None:
    data, code = MALFORMED[kind]
    async with house() as desk:
        tasks, files = len(asyncio.all_tasks()), psutil.Process().num_fds()
        async with desk.client() as client, desk.client() as other:
            await other.say(SynthesizeStart(HEART))
            await client.say(Ping())
            await client.until("pong")
            assert client._writer is not None
            client._writer.write(data)
            assert await client.error() == code
            await other.say(SynthesizeChunk(SENTENCE))
            await other.say(SynthesizeStop())
            assert len(pcm(await other.until("synthesize-stopped"))), "nobody else is disturbed"
        await desk.nothing_is_left()
        await settled(tasks, files)


async def test_an_error_ends_the_speech_of_its_connection() -> None:
    async with house() as desk:
        async with desk.client() as client:
            await client.say(Synthesize(SENTENCE * 100, HEART))
            await client.until("audio-chunk")
            assert client._writer is not None
            client._writer.write(b"not an event\n")
            assert await client.error() == "invalid_json"
        await desk.nothing_is_left()


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([Synthesize("Hi.", SynthesizeVoice(name="nobody"))], "unknown_voice"),
        ([SynthesizeStart(SynthesizeVoice(name="af_heart(x)"))], "invalid_voice"),
        ([Synthesize("<speak>broken", HEART, text_format="ssml")], "invalid_markup"),
        ([Synthesize("long " * 30_000, HEART)], "text_too_far_ahead"),
        ([SynthesizeStart(HEART), *[SynthesizeChunk("x" * 60_000)] * 2], "text_too_far_ahead"),
        ([SynthesizeChunk("Hi.")], "no_text_open"),
        ([SynthesizeStop()], "no_text_open"),
        ([SynthesizeStart(HEART), SynthesizeStart(HEART)], "text_open"),
    ],
)
async def test_a_wrong_request_is_explained(events: list[Synthesize | SynthesizeStart], code: str) -> None:
    async with house() as desk:
        async with desk.client() as client:
            for event in events:
                await client.say(event)
            assert await client.error() == code
        await desk.nothing_is_left()


async def test_a_refusal_comes_before_any_audio() -> None:
    async with house(speaks=False) as desk:
        streams = [desk.open(SENTENCE) for _ in range(8)]
        async with desk.client() as client:
            await client.say(Synthesize(SENTENCE, HEART))
            event = await client.hear()
            assert event is not None and (event.type, event.data["code"]) == ("error", "overloaded")
            assert await client.hear() is None
        for stream in streams:
            stream.close()
        assert desk.metrics.errors.latest()[0].kind == "overloaded"
        await desk.nothing_is_left()


async def test_no_voices_are_described_while_nothing_can_speak() -> None:
    """Home Assistant would drop a service that has no voices; one that fails is asked again."""
    async with house(connected=False) as desk, desk.client() as client:
        await client.say(Describe())
        assert await client.error() == "unavailable"


@pytest.mark.parametrize("cut", [line(type="synthesize", data_length=50) + b'{"te', b'{"type": "desc'])
async def test_an_event_that_is_cut_off_is_explained(cut: bytes) -> None:
    async with house() as desk:
        async with desk.client() as client:
            assert client._writer is not None
            client._writer.write(cut)
            client._writer.write_eof()
            assert await client.error() == "incomplete_event"
        await desk.nothing_is_left()


async def test_an_event_that_never_ends_is_explained() -> None:
    async with house(FrontSettings(body_timeout=0.1)) as desk:
        async with desk.client() as client:
            assert client._writer is not None
            client._writer.write(line(type="synthesize", data_length=50))
            assert await client.error() == "incomplete_event"
        await desk.nothing_is_left()


async def test_events_that_would_take_too_much_memory_together_are_refused() -> None:
    """Their budget is that of HTTP's bodies."""
    async with house(FrontSettings(max_body_bytes=1000, max_bodies_bytes=1500)) as desk:
        async with desk.client() as slow:
            assert slow._writer is not None
            slow._writer.write(line(type="ping", data_length=1000) + b"{")
            async with asyncio.timeout(60):
                while not desk.services.bodies._announced:  # noqa: ASYNC110 - a reader tells nobody that it waits
                    await asyncio.sleep(0)
            async with desk.client() as long:
                assert long._writer is not None
                long._writer.write(line(type="ping", data_length=501))
                assert await long.error() == "unavailable"
            async with desk.client() as short:
                await short.say(Ping("A short one finds room."))
                await short.until("pong")
            slow._writer.write(b"}".rjust(999))
            await slow.until("pong")
            async with desk.client() as long:
                assert long._writer is not None
                long._writer.write(line(type="ping", data_length=1000) + b"{}".ljust(1000))
                await long.until("pong")
        await desk.nothing_is_left()


async def test_a_client_that_leaves_within_a_text_leaves_nothing() -> None:
    async with house() as desk:
        async with desk.client() as client:
            await client.say(SynthesizeStart(HEART))
            await client.say(SynthesizeChunk(SENTENCE * 3))
            await client.until("audio-chunk")
            assert client._writer is not None
            client._writer.write_eof()
            assert await client.error() == "incomplete_text"
        await desk.nothing_is_left()


async def test_a_client_that_never_reads_costs_its_own_ring_only() -> None:
    async with house(FrontSettings(max_streams=8, write_timeout=0.5), rings=2) as desk:
        tasks, files = len(asyncio.all_tasks()), psutil.Process().num_fds()
        silent = sockets.create_connection(("127.0.0.1", desk.port))
        silent.sendall(line(type="synthesize", data={"text": SENTENCE * 300, "voice": {"name": "af_heart"}}))
        async with desk.client() as client:
            await client.say(Synthesize(SENTENCE, HEART))
            assert len(pcm(await client.until("audio-stop"))), "somebody else is heard meanwhile"
        for stream in desk.scheduler._shared.streams.values():
            assert stream.playback.position < 60 * 24_000, "no more is made than leaves for somebody who reads"
        await desk.nothing_is_left()
        silent.close()
        await settled(tasks, files)


async def test_a_text_that_fails_after_its_first_audio_is_counted_as_cut() -> None:
    async with house(speaks=False) as desk, desk.client() as client:
        [worker] = desk.workers
        await client.say(Synthesize(SENTENCE, HEART))
        order = await worker.has(1)
        worker.seal(order, 0, 24_000)
        await client.until("audio-chunk")
        worker.fail(order, "it has a fault")
        assert await client.error() == "unspeakable"
        assert desk.counted("streams_cut_total") == 1


@pytest.mark.parametrize("begun", [True, False])
async def test_a_text_that_outlasts_the_drain_is_counted_as_cut(begun: bool) -> None:
    async with house(FrontSettings(drain_timeout=0.1), speaks=False) as desk, desk.client() as client:
        [worker] = desk.workers
        await client.say(Synthesize(SENTENCE, HEART))
        order = await worker.has(1)
        if begun:
            worker.seal(order, 0, 24_000)
            await client.until("audio-chunk")
        await desk.stop()
        assert desk.counted("streams_cut_total") == begun
        await desk.nothing_is_left()


async def test_interruptions_leave_no_ring() -> None:
    async with house(rings=2) as desk:
        tasks, files = len(asyncio.all_tasks()), psutil.Process().num_fds()
        for _ in range(30):
            async with desk.client() as client:
                await client.say(Synthesize(SENTENCE * 3, HEART))
                await client.until("audio-chunk")
        await desk.nothing_is_left()
        await settled(tasks, files)


async def _refused(desk: House) -> None:
    async with desk.client() as client:
        assert await client.error() == "unavailable"


async def test_connections_beyond_the_limit_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "MAX_CONVERSATIONS", 1)
    monkeypatch.setattr(service_module, "REFUSED_AT_ONCE", 1)
    async with house() as desk, desk.client() as first:
        await first.say(Ping())
        await first.until("pong")
        await _refused(desk)
        async with Client("127.0.0.1", desk.port) as second:
            await second.until("error")  # it doesn't close
            async with Client("127.0.0.1", desk.port) as third:
                assert await third.hear() is None, "one at a time is told so"
        await first.say(Ping())
        await first.until("pong")


async def test_the_connections_of_all_protocols_have_one_limit() -> None:
    async with house(limit=1) as desk, desk.client() as first:
        await first.say(Ping())
        await first.until("pong")
        await _refused(desk)


async def test_a_client_that_never_closes_after_an_error_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "GOODBYE_SECONDS", 0.05)
    async with house() as desk, desk.client() as client:
        await client.write_event(Event("synthesize-stop"))
        await client.until("error")
        await desk.nothing_is_left()


@pytest.mark.parametrize("error", [TimeoutError(errno.ETIMEDOUT, "timed out"), OSError(errno.EHOSTUNREACH, "no route")])
async def test_a_client_whose_machine_vanished_has_left(error: OSError) -> None:
    """ETIMEDOUT is a `TimeoutError`: taken for a pause of the client, it would be read again without end."""
    reader = asyncio.StreamReader()
    reader.set_exception(error)
    with pytest.raises(ConnectionError):
        await read_line(reader)
    with pytest.raises(ConnectionError):
        await read_rest(reader, line(type="describe", data_length=3), 10, BodyMemory(10).reading)
