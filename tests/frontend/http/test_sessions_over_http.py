"""A session's requests on the wire, interruptions, primed silence, and what the cache gives and its labels say."""

import asyncio
import json
import socket
import wave
from io import BytesIO
from typing import Any

import aiohttp
import pytest
from aiohttp.web_protocol import RequestHandler

from frontend.contract.errors import Interrupted, Overloaded, Unspeakable
from frontend.settings.front import FrontSettings
from frontend.speech.sessions import OnBusy, Sessions
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, CachedSpeaker, FakeSpeaker, asking, raw_post, serving, speech


class Requests:
    """Requests of sessions as tasks; each says when it is in its turn, and lasts until it is let go."""

    def __init__(self) -> None:
        self.sessions = Sessions()
        self.began: list[str] = []
        self.let_go: dict[str, asyncio.Event] = {}

    async def ask(self, name: str, session: str | None, on_busy: OnBusy | None) -> asyncio.Task[None]:
        self.let_go[name] = asyncio.Event()

        async def speak() -> None:
            async with self.sessions.turn(session, on_busy):
                self.began.append(name)
                await self.let_go[name].wait()

        task = asyncio.create_task(speak())
        await asyncio.sleep(0)
        return task


async def ended(*tasks: asyncio.Task[None]) -> None:
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks)


async def test_an_interrupting_request_ends_all_that_were_before_it() -> None:
    requests = Requests()
    first = await requests.ask("first", "s", None)
    second = await requests.ask("second", "s", OnBusy.QUEUE)
    third = await requests.ask("third", "s", OnBusy.INTERRUPT)
    for interrupted in (first, second):
        with pytest.raises(Interrupted):
            await interrupted
    assert requests.began == ["first", "third"]
    requests.let_go["third"].set()
    await ended(third)


async def test_queued_requests_follow_in_the_order_in_which_they_came() -> None:
    requests = Requests()
    tasks = [await requests.ask(str(number), "s", OnBusy.QUEUE) for number in range(4)]
    for number in range(4):
        assert requests.began == [str(n) for n in range(number + 1)]
        requests.let_go[str(number)].set()
        await ended(tasks[number])
        for _ in range(3):
            await asyncio.sleep(0)


async def test_other_sessions_and_requests_without_a_wish_go_on_side_by_side() -> None:
    requests = Requests()
    tasks = [
        await requests.ask("a", "s", None),
        await requests.ask("b", "s", None),
        await requests.ask("c", "other", OnBusy.INTERRUPT),
        await requests.ask("d", None, OnBusy.INTERRUPT),
        await requests.ask("e", None, OnBusy.QUEUE),
    ]
    assert requests.began == list("abcde")
    for name in requests.began:
        requests.let_go[name].set()
    await ended(*tasks)


async def test_a_queued_request_whose_client_leaves_makes_room_for_the_next() -> None:
    requests = Requests()
    first = await requests.ask("first", "s", OnBusy.QUEUE)
    second = await requests.ask("second", "s", OnBusy.QUEUE)
    third = await requests.ask("third", "s", OnBusy.QUEUE)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    requests.let_go["first"].set()
    requests.let_go["third"].set()
    await ended(first, third)
    assert requests.began == ["first", "third"]


async def test_a_client_that_leaves_was_not_interrupted() -> None:
    requests = Requests()
    first = await requests.ask("first", "s", None)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = await requests.ask("second", "s", None)
    second.cancel()
    third = await requests.ask("third", "s", OnBusy.INTERRUPT)
    with pytest.raises(asyncio.CancelledError):
        await second
    requests.let_go["third"].set()
    await ended(third)


async def test_an_ended_session_leaves_nothing() -> None:
    requests = Requests()
    task = await requests.ask("a", "s", OnBusy.QUEUE)
    requests.let_go["a"].set()
    await ended(task)
    assert not requests.sessions._turns


PIECE = speech(2400)


def said(text: str, on_busy: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"input": text, "response_format": "pcm", "on_busy": on_busy} | fields


@pytest.mark.parametrize("named", ["header", "user"])
async def test_a_text_that_is_being_read_is_interrupted_by_the_next(named: str) -> None:
    speaker = FakeSpeaker(PIECE, asyncio.Event())
    headers = {"X-Session": "me"} if named == "header" else {}
    fields = {"user": "me"} if named == "user" else {}
    async with serving(speaker) as server, aiohttp.ClientSession(server.url, headers=headers) as client:
        first = await client.post("/v1/audio/speech", json=said("first", **fields))
        assert await first.content.readexactly(PIECE.nbytes) == PIECE.tobytes()
        speaker.steps = (PIECE,)
        async with client.post("/v1/audio/speech", json=said("second", "interrupt", **fields)) as second:
            assert await second.read() == PIECE.tobytes()
        with pytest.raises(aiohttp.ClientPayloadError):
            await first.read()
        first.close()
        await speaker.streams[0].closed.wait()
        assert server.metrics.totals()["kokoro_live_streams_cut_total"] == 0, "the session wished it"


async def test_one_that_nothing_was_heard_of_yet_is_answered_with_409_and_one_in_events_is_told() -> None:
    speaker = FakeSpeaker(asyncio.Event())
    async with serving(speaker) as server, aiohttp.ClientSession(server.url, headers={"X-Session": "me"}) as client:
        silent = asyncio.create_task(client.post("/v1/audio/speech", json=said("first")))
        await speaker.was_asked.wait()
        await speaker.streams[0].waiting.wait()
        speaker.steps = (PIECE, asyncio.Event())
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        body = json.dumps(said("second", "interrupt", stream_format="sse", user="me"))
        writer.write(raw_post(body.encode()))
        await reader.readuntil(b"speech.audio.delta")
        response = await silent
        assert (response.status, (await response.json())["error"]["code"]) == (409, "interrupted")
        speaker.steps = (PIECE,)
        async with client.post("/v1/audio/speech", json=said("third", "interrupt")) as third:
            assert await third.read() == PIECE.tobytes()
        told = await reader.read()
        writer.close()
        assert b'"code":"interrupted"' in told
        assert not told.endswith(b"0\r\n\r\n"), "it must not look whole"


async def test_a_queued_request_follows_the_one_before_it() -> None:
    gate = asyncio.Event()
    speaker = FakeSpeaker(PIECE, gate)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url, headers={"X-Session": "me"}) as client:
        first = await client.post("/v1/audio/speech", json=said("first"))
        second = asyncio.create_task(client.post("/v1/audio/speech", json=said("second", "queue")))
        # A request of another session is answered meanwhile, and the queued one isn't even begun.
        async with client.get("/health", headers={"X-Session": "other"}) as alive:
            assert alive.status == 200
        assert [request.text for request in speaker.opened] == ["first"]
        gate.set()
        async with first, await second as followed:
            assert len(await first.read()) == len(await followed.read()) == PIECE.nbytes
        assert [request.text for request in speaker.opened] == ["first", "second"]


async def test_a_wish_that_nobody_knows_and_a_session_without_end_are_refused() -> None:
    async with serving(FakeSpeaker(PIECE)) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post("/v1/audio/speech", json=said("x", "shout")) as response:
            assert (response.status, (await response.json())["error"]["param"]) == (400, "on_busy")
        async with client.post("/v1/audio/speech", json=said("x"), headers={"X-Session": "s" * 300}) as response:
            assert (response.status, (await response.json())["error"]["code"]) == (400, "invalid_session")


async def test_clients_are_told_apart_and_no_store_is_heard() -> None:
    speaker = FakeSpeaker(PIECE)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        for headers in ({}, {"X-Session": "a"}, {"User-Agent": "b"}, {"Cache-Control": "no-store"}):
            async with client.post("/v1/audio/speech", json=said("x"), headers=headers) as response:
                await response.read()
    plain, session, agent, no_store = speaker.opened
    assert len({plain.client, session.client, agent.client}) == 3
    assert [request.fresh for request in speaker.opened] == [False, False, False, True]
    assert no_store.client == plain.client


async def test_what_comes_from_the_cache_is_labelled_and_a_wav_of_it_has_true_sizes() -> None:
    async with serving(CachedSpeaker(PIECE, PIECE)) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post("/v1/audio/speech", json=said("x", response_format="wav")) as response:
            assert (response.headers["X-Cache"], "Content-Length" in response.headers) == ("hit", True)
            with wave.open(BytesIO(await response.read())) as file:
                assert file.getnframes() == 2 * len(PIECE)
        async with client.post("/v1/audio/speech", json=said("x", response_format="mp3")) as response:
            assert (response.headers["X-Cache"], "Content-Length" in response.headers) == ("hit", False)
    async with (
        serving(FakeSpeaker(PIECE)) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=said("x")) as response,
    ):
        assert "X-Cache" not in response.headers


async def test_primed_silence_leaves_at_once_is_labelled_and_is_no_first_audio() -> None:
    gate = asyncio.Event()
    speaker = FakeSpeaker(gate, PIECE)
    async with (
        serving(speaker, FrontSettings(prime_silence=0.25)) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=said("x")) as response,
    ):
        assert response.headers["X-Primed-Silence"] == "0.25"
        assert not any(await response.content.readexactly(12_000))
        counted = server.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_count")
        assert counted == 0
        gate.set()
        assert await response.read() == PIECE.tobytes()
        counted = server.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_count")
        assert counted == 1


@pytest.mark.parametrize(
    ("refusal", "status"), [(Overloaded("no room", 3.0), 429), (Unspeakable("no such phoneme"), 400)]
)
async def test_a_refused_request_gets_its_status_and_no_primed_silence(refusal: Exception, status: int) -> None:
    async with (
        serving(FakeSpeaker(refusal), FrontSettings(prime_silence=0.25)) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=said("x")) as response,
    ):
        assert response.status == status
        assert "X-Primed-Silence" not in response.headers


async def test_a_cached_wav_that_is_longer_than_a_clip_may_be_is_streamed_as_it_was_the_first_time() -> None:
    async with asking(
        CachedSpeaker(*[speech(24_000)] * 3),
        "/v1/audio/speech",
        settings=FrontSettings(max_clip_seconds=2),
        json={"input": "x", "response_format": "wav"},
    ) as response:
        assert response.status == 200
        with wave.open(BytesIO(await response.read())) as file:
            assert file.getnframes() == 3 * 24_000


async def test_a_header_that_says_hit_is_true_when_it_leaves() -> None:
    """An MP3's first bytes come after several pieces."""
    speaker = CachedSpeaker()

    def miss() -> None:
        speaker.streams[0].cached = False

    speaker.steps = (speech(200), miss, speech(48_000))
    async with asking(speaker, json={"input": "x", "response_format": "mp3"}) as response:
        assert "X-Cache" not in response.headers


async def test_who_is_refused_behind_a_cached_beginning_is_told_so() -> None:
    ask = {"input": "x", "response_format": "pcm", "stream_format": "sse"}
    async with serving(CachedSpeaker(speech(24_000), Overloaded("full", 3.0))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(json.dumps(ask).encode()))
        told = await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        writer.close()
    assert b"speech.audio.delta" in told
    assert b'"code":"overloaded"' in told


async def test_an_interrupted_event_stream_whose_reader_is_paused_gives_its_place_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = asyncio.Event()
    pause = RequestHandler.pause_writing
    monkeypatch.setattr(RequestHandler, "pause_writing", lambda self: (waits.set(), pause(self)))
    ask = {"response_format": "pcm", "user": "me"}
    speaker = FakeSpeaker(*[speech(240_000)] * 40, asyncio.Event())
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", server.port))
            deaf.sendall(raw_post(json.dumps(ask | {"input": "a", "stream_format": "sse"}).encode()))
            async with asyncio.timeout(DEFAULT_TIMEOUT):
                await waits.wait()
            (stream,) = speaker.streams
            assert not stream.waiting.is_set(), "it was all written"
            speaker.steps = (speech(2400),)
            async with client.post("/v1/audio/speech", json=ask | {"input": "b", "on_busy": "interrupt"}) as second:
                assert len(await second.read()) == 4800
            assert stream.closed.is_set()
