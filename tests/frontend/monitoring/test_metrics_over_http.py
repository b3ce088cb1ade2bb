"""The counts of /metrics equal the answers that the clients saw."""

import asyncio
import re
import socket
import struct

import aiohttp
import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from frontend.contract.errors import Broken, ListenersFirst, Overloaded
from frontend.monitoring.metrics import Event, Metrics
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, ENGINE, FakeSpeaker, raw_post, serving, speech
from text.g2p import G2P

Samples = dict[tuple[str, ...], float]


async def scrape(client: aiohttp.ClientSession) -> Samples:
    async with client.get("/metrics") as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=")
        return parse(await response.text())


def parse(text: str) -> Samples:
    return {
        (sample.name.removeprefix("kokoro_live_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def speak(client: aiohttp.ClientSession, path: str = "/v1/audio/speech", text: str = "Hello.") -> tuple[int, int]:
    async with client.post(path, json={"input": text, "response_format": "pcm"}) as response:
        body = await response.read()
        return response.status, len(body) if response.status == 200 else 0


async def test_counters_equal_what_the_client_counted() -> None:
    async with serving(FakeSpeaker(speech(5000), speech(77))) as server, aiohttp.ClientSession(server.url) as client:
        answers = [await speak(client) for _ in range(3)]
        answers += [await speak(client, "/audio/speech")]
        answers += [await speak(client, text="") for _ in range(2)]
        for path in ("/nothing", "/nowhere/else", "/v1/models/kokoro", "/v1/models/unknown"):
            async with client.get(path) as response:
                await response.read()
        found = await scrape(client)
    assert [status for status, _ in answers] == [200, 200, 200, 200, 400, 400]
    requests = {labels[1:]: value for labels, value in found.items() if labels[0] == "requests_total"}
    assert requests == {
        ("/v1/audio/speech", "200"): 3,
        ("/v1/audio/speech", "400"): 2,
        ("/audio/speech", "200"): 1,
        ("unmatched", "404"): 2,
        ("/v1/models/{id}", "200"): 1,
        ("/v1/models/{id}", "404"): 1,
    }
    assert found["request_duration_seconds_count", "/v1/audio/speech"] == 5
    assert found["audio_seconds_total",] == pytest.approx(sum(size for _, size in answers) / 48_000)
    assert found["time_to_first_audio_seconds_count",] == 4
    took = sum(found["request_duration_seconds_sum", path] for path in ("/v1/audio/speech", "/audio/speech"))
    assert 0 < found["time_to_first_audio_seconds_sum",] < took
    assert found["active_streams",] == 0
    assert found["streams_cut_total",] == 0


async def test_silence_is_not_first_audio_and_a_stream_is_active_until_it_ends() -> None:
    silence, gate = np.full(24_000, 60, np.int16), asyncio.Event()
    speaker = FakeSpeaker(silence, -silence, gate, np.array([0, -65], np.int16))
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        speaking = asyncio.create_task(speak(client))
        while not (speaker.streams and speaker.streams[0].waiting.is_set()):
            found = await scrape(client)
        found = await scrape(client)
        assert found["audio_seconds_total",] == pytest.approx(2)
        assert found["active_streams",] == 1
        assert found["time_to_first_audio_seconds_count",] == 0
        gate.set()
        await speaking
        found = await scrape(client)
        assert found["active_streams",] == 0
        assert found["time_to_first_audio_seconds_count",] == 1


async def test_the_first_audio_of_a_request_that_nobody_waits_for_is_not_counted() -> None:
    """A book's passage takes as long as it takes; the alert is about listeners."""
    asked = {"input": "Hello.", "response_format": "pcm", "stream": False}
    async with serving(FakeSpeaker(speech(4800))) as server, aiohttp.ClientSession(server.url) as client:
        for body, counted in ((asked | {"priority": "idle"}, 0), (asked, 1)):
            async with client.post("/v1/audio/speech", json=body) as response:
                assert len(await response.read()) == 9600
            found = await scrape(client)
            assert found["time_to_first_audio_seconds_count",] == counted
    assert found["audio_seconds_total",] == pytest.approx(0.4)


async def test_a_cut_stream_and_a_client_that_left_are_counted_as_such() -> None:
    speaker = FakeSpeaker(speech(100), Broken("gone"))
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        with pytest.raises(aiohttp.ClientPayloadError):
            await speak(client)
        assert (await scrape(client))["streams_cut_total",] == 1
        speaker.steps = (asyncio.Event(),)
        leaving = asyncio.create_task(speak(client))
        while len(speaker.streams) < 2:
            await scrape(client)
        leaving.cancel()
        await asyncio.wait_for(speaker.streams[1].closed.wait(), DEFAULT_TIMEOUT)
        found = await scrape(client)
    assert found["requests_total", "/v1/audio/speech", "499"] == 1
    assert (found["streams_cut_total",], found["active_streams",]) == (1, 0)


async def test_a_client_that_a_write_finds_gone_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    """The write that meets the reset comes before the event loop hears of it and cancels the handler."""
    sock = socket.socket()
    speaker = FakeSpeaker(speech(100), lambda: reset(sock), *[speech(100)] * 3)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        sock.connect(("127.0.0.1", server.port))
        sock.sendall(raw_post(b'{"input": "Hello."}'))
        while not speaker.streams:
            await scrape(client)
        await asyncio.wait_for(speaker.streams[0].closed.wait(), DEFAULT_TIMEOUT)
        found = await scrape(client)
    assert found["requests_total", "/v1/audio/speech", "499"] == 1
    assert found["streams_cut_total",] == 0
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


async def test_engine_info_is_who_speaks_now_and_absent_while_nobody_does() -> None:
    def engines(found: Samples) -> list[tuple[str, ...]]:
        return [labels[1:] for labels in found if labels[0] == "engine_info"]  # engine, model, provider

    speaker = FakeSpeaker(engine=None)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        assert engines(await scrape(client)) == []
        speaker.engine, speaker.reason = ENGINE, ""
        assert engines(await scrape(client)) == [("kokoro", "tiny.onnx", "CPUExecutionProvider")]
        speaker.reason = "the worker is starting again"
        assert engines(await scrape(client)) == [], "its successor may be another engine"
        speaker.engine, speaker.reason = None, "no worker will be started again"
        assert engines(await scrape(client)) == []


async def test_a_scraper_of_openmetrics_gets_openmetrics() -> None:
    async with serving(FakeSpeaker()) as server, aiohttp.ClientSession(server.url) as client:
        accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
        async with client.get("/metrics", headers=accept) as response:
            assert response.content_type == "application/openmetrics-text"
            assert (await response.text()).endswith("# EOF\n")


def test_resubmissions_add_up() -> None:
    metrics = Metrics()
    metrics.count(Event.RESUBMITTED)
    metrics.count(Event.RESUBMITTED)
    assert parse(metrics.exposition("")[0].decode())["segments_resubmitted_total",] == 2


def test_what_is_watched_is_looked_at_whenever_a_request_ends_because_a_front_that_drains_is_not_scraped() -> None:
    metrics = Metrics()
    depth = 3
    metrics.watch("queue_depth", lambda: depth)
    metrics.request_finished("/v1/audio/speech", 200, 1.0)
    assert metrics.registry.get_sample_value("kokoro_live_queue_depth") == 3


def test_words_without_a_lexicon_entry_are_counted_by_what_pronounced_them() -> None:
    metrics = Metrics()
    G2P(pronounced=metrics.pronounced).words("The zxqwv and the blorptang", "en-us")
    found = parse(metrics.exposition("")[0].decode())
    assert found["g2p_fallback_total", "espeak"] + found["g2p_fallback_total", "letters"] == 2


async def test_a_refusal_is_counted_and_kept_among_the_errors_without_its_text() -> None:
    speaker = FakeSpeaker(speech(10))
    speaker.refusal = Overloaded("no room", 3.0)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        headers = {"X-Request-Id": "the-one"}
        body = {"input": "A secret.", "response_format": "pcm"}
        async with client.post("/v1/audio/speech", json=body, headers=headers) as response:
            assert response.status == 429
        found = await scrape(client)
    assert found["requests_refused_total",] == 1
    (error,) = server.metrics.errors.latest()
    assert (error.request_id, error.kind) == ("the-one", "overloaded")


async def test_what_gives_way_to_listeners_is_no_refusal_and_no_error() -> None:
    """A book that is made in the background asks again and again: that is no reason for another machine."""
    speaker = FakeSpeaker(speech(10))
    speaker.refusal = ListenersFirst(3.0)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "A passage.", "response_format": "pcm", "stream": False, "priority": "idle"}
        async with client.post("/v1/audio/speech", json=body) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "3")
            assert (await response.json())["error"]["code"] == "listeners_first"
        found = await scrape(client)
    assert found["requests_refused_total",] == 0
    assert server.metrics.errors.latest() == []


async def test_a_cut_stream_is_among_the_errors_and_a_wrong_request_is_not() -> None:
    async with serving(FakeSpeaker(speech(100), Broken("gone"))) as server, aiohttp.ClientSession(server.url) as client:
        assert (await speak(client, text=""))[0] == 400
        with pytest.raises(aiohttp.ClientPayloadError):
            await speak(client)
        await scrape(client)
    assert [error.kind for error in server.metrics.errors.latest()] == ["cut: synthesis_failed"]


async def test_a_requests_line_in_the_log_has_its_stages_and_never_its_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with serving(FakeSpeaker(speech(5000))) as server, aiohttp.ClientSession(server.url) as client:
        await speak(client, text="Open sesame.")
    (line,) = [r.getMessage() for r in caplog.records if r.name == "frontend.http.app"]
    facts = "voice=af_heart language=en-us characters=12 engine=kokoro audio=0.21"
    times = r"first_byte=[\d.]+ first_audio=[\d.]+"
    assert re.fullmatch(rf"POST /v1/audio/speech 200 [\d.]+ s {facts} {times} [0-9a-f]{{32}}", line)
    assert "sesame" not in caplog.text


async def test_a_load_balancers_question_before_the_engine_speaks_is_no_error() -> None:
    async with serving(FakeSpeaker(engine=None)) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get("/ready") as response:
            assert response.status == 503
        assert (await speak(client))[0] == 503
    assert [error.kind for error in server.metrics.errors.latest()] == ["unavailable"]
