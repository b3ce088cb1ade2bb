"""The audio formats over real sockets: types, lengths, ends, and what `Accept` chooses."""

import asyncio
import gc
import io
import json
import threading
import wave
from typing import Any

import aiohttp
import av
import numpy as np
import pytest

from frontend.audio.encoding import MAX_THREADS, ThreadEncoding
from frontend.contract.errors import Broken
from frontend.settings.front import FrontSettings
from shm.audio import Pcm
from tests.frontend.audio.hearing import PADDING, hear, vowels
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, asking, raw_post, serving, slow_connection, speech

PIECES = [vowels(0.75), vowels(0.031), vowels(0.4)]
CONTENT_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
CODECS = ["mp3", "opus", "aac", "flac"]


def containers() -> int:
    """PyAV's containers that are alive and not frozen."""
    gc.collect()
    return sum(isinstance(found, av.container.Container) for found in gc.get_objects())


@pytest.mark.parametrize("rate", [None, 16_000, 48_000])
@pytest.mark.parametrize("name", CONTENT_TYPES)
async def test_streamed_and_whole_sound_the_same(name: str, rate: int | None) -> None:
    ask = {"input": "Hello.", "response_format": name, "sample_rate": rate}
    async with serving(FakeSpeaker(*PIECES)) as server, aiohttp.ClientSession(server.url) as client:
        async with client.post("/v1/audio/speech", json=ask) as response:
            streamed = await response.read()
            assert response.headers["Content-Type"] == CONTENT_TYPES[name]
            assert response.headers["X-Sample-Rate"] == str(rate or 24_000)
            assert response.headers["Transfer-Encoding"] == "chunked"
        async with client.post("/v1/audio/speech", json=ask | {"stream": False}) as response:
            whole = await response.read()
            assert response.headers["Content-Type"] == CONTENT_TYPES[name]
            assert response.headers["X-Sample-Rate"] == str(rate or 24_000)
            assert response.headers["Content-Length"] == str(len(whole))
    if name == "pcm":
        assert streamed == whole
        return
    first, second = hear(streamed).samples, hear(whole).samples
    if name == "mp3":
        first = first[PADDING["mp3"] :][: len(second)]
    assert np.array_equal(first, second)


async def test_a_whole_clip_s_chunks_are_long_because_each_waits_for_those_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its successors encode it from the beginning: under constant deaths it starved behind listeners' chunks."""
    seconds: list[float] = []
    encode = ThreadEncoding.encode

    async def counted(self: ThreadEncoding, pcm: Pcm) -> bytes:
        seconds.append(len(pcm) / 24_000)
        return await encode(self, pcm)

    monkeypatch.setattr(ThreadEncoding, "encode", counted)
    async with asking(FakeSpeaker(vowels(5.0)), json={"input": "Hello.", "stream": False}) as response:
        await response.read()
    assert len(seconds) <= 3 and max(seconds) <= 2, "nor does a listener's chunk wait long for its"


async def test_a_whole_clip_has_a_limit() -> None:
    speaker = FakeSpeaker(*[vowels(0.6)] * 9)
    async with (
        serving(speaker, FrontSettings(max_clip_seconds=2)) as server,
        aiohttp.ClientSession(server.url) as client,
    ):
        async with client.post("/audio/speech", json={"input": "A", "stream": False}) as response:
            error = (await response.json())["error"]
            assert (response.status, error["param"], error["code"]) == (400, "stream", "clip_too_long")
        assert speaker.streams[0].given == 4 and speaker.streams[0].closed.is_set()
        async with client.post("/audio/speech", json={"input": "A", "stream": True}) as response:
            assert response.status == 200
            await response.read()


@pytest.mark.parametrize("name", CODECS)
async def test_a_cut_stream_has_no_clean_end_and_no_encoders_tail(name: str) -> None:
    """The received bytes decode to the sound that was encoded, without the frames that an encoder adds at its end."""
    speaker = FakeSpeaker(vowels(1.0), Broken("gone"))
    ask = json.dumps({"input": "Hello.", "response_format": name}).encode()
    data = b""
    async with asking(speaker, data=ask) as response:
        with pytest.raises(aiohttp.ClientPayloadError):
            async for chunk in response.content.iter_any():
                data += chunk
    got = hear(data)
    assert 0.85 < (len(got.samples) - PADDING.get(name, 0)) / got.sample_rate < 0.99


@pytest.mark.parametrize("name", CODECS)
async def test_the_first_bytes_leave_before_the_second_piece_is_there(name: str) -> None:
    gate = asyncio.Event()
    async with asking(
        FakeSpeaker(vowels(0.1), gate, vowels(0.1)), json={"input": "Hello.", "response_format": name}
    ) as response:
        first = await asyncio.wait_for(response.content.readany(), DEFAULT_TIMEOUT)
        assert len(first) > 100
        gate.set()
        got = hear(first + await response.read())
        assert len(got.samples) / got.sample_rate >= 0.2


@pytest.mark.parametrize("name", [*CODECS, "wav"])
async def test_clients_that_leave_leave_nothing_behind(name: str) -> None:
    gc.collect()
    gc.freeze()  # objects of earlier tests, of which there are millions, are not counted below
    threads = threading.active_count()
    ask = json.dumps({"input": "Hello.", "response_format": name, "sample_rate": 48_000}).encode()
    speaker = FakeSpeaker(*[vowels(0.5)] * 2000)
    async with serving(speaker) as server:
        for _ in range(6):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(raw_post(ask))
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
            writer.transport.abort()
            await asyncio.wait_for(speaker.streams[-1].closed.wait(), DEFAULT_TIMEOUT)
            assert speaker.streams[-1].given < 2000
        assert threading.active_count() - threads <= MAX_THREADS
    assert threading.active_count() == threads
    await asyncio.sleep(0)  # a thread's last word to the loop still holds what it worked with
    assert containers() == 0


async def test_a_slow_reader_of_a_codec_stalls_its_stream_and_loses_nothing() -> None:
    pieces = [speech(24_000, first=n) for n in range(200)]
    speaker = FakeSpeaker(*pieces)
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        reader, writer = await slow_connection(server.port)
        writer.write(raw_post(b'{"input": "A", "response_format": "flac"}', version="1.0"))
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEFAULT_TIMEOUT)
        given = -1
        while given != speaker.streams[0].given:  # until it stands still
            given = speaker.streams[0].given
            for _ in range(20):
                async with client.get("/health") as response:
                    assert response.status == 200
        assert given < len(pieces)
        data = await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        writer.close()
    assert np.array_equal(hear(data).samples, np.concatenate(pieces))


@pytest.mark.parametrize("name", CODECS)
async def test_the_audio_that_is_counted_is_what_was_sent(name: str) -> None:
    async with serving(FakeSpeaker(*PIECES)) as server, aiohttp.ClientSession(server.url) as client:
        for stream in (True, False):
            ask = {"input": "Hello.", "response_format": name, "stream": stream}
            async with client.post("/v1/audio/speech", json=ask) as response:
                await response.read()
        counted = server.metrics.registry.get_sample_value
        assert counted("kokoro_live_audio_seconds_total") == pytest.approx(2 * sum(map(len, PIECES)) / 24_000)
        assert counted("kokoro_live_time_to_first_audio_seconds_count") == 2


@pytest.mark.parametrize("name", CODECS)
async def test_sound_that_a_codec_still_holds_does_not_count_as_sent(name: str) -> None:
    gate = asyncio.Event()
    quiet = np.zeros(4800, np.int16)
    quiet[-24:] = 10_000
    speaker = FakeSpeaker(quiet, gate, vowels(0.2))
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        counted = server.metrics.registry.get_sample_value
        async with client.post("/v1/audio/speech", json={"input": "Hello.", "response_format": name}) as response:
            await asyncio.wait_for(speaker.streams[0].waiting.wait(), DEFAULT_TIMEOUT)
            assert 0 < (counted("kokoro_live_audio_seconds_total") or 0) < 0.2
            assert counted("kokoro_live_time_to_first_audio_seconds_count") == 0
            gate.set()
            await response.read()
        assert counted("kokoro_live_audio_seconds_total") == pytest.approx(0.4)
        assert counted("kokoro_live_time_to_first_audio_seconds_count") == 1


SHORT_PIECES = [speech(2400), speech(700)]
USUAL = "audio/mpeg"
FIREFOX = "audio/webm,audio/ogg,audio/wav,audio/*;q=0.9,application/ogg;q=0.7,video/*;q=0.6,*/*;q=0.5"
CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"

CHOSEN = {
    "audio/mpeg": "audio/mpeg",
    "audio/mp3": "audio/mpeg",
    "audio/wav": "audio/wav",
    "Audio/X-WAV": "audio/wav",
    "audio/flac": "audio/flac",
    "audio/ogg": "audio/ogg",
    "audio/ogg; codecs=opus": "audio/ogg",
    "application/ogg": "audio/ogg",
    "audio/aac": "audio/aac",
    "audio/x-caf": "audio/x-caf",
    "audio/pcm": "audio/pcm",
    "audio/L16": "audio/L16;rate=24000",
    "audio/L16;rate=24000": "audio/L16;rate=24000",
    "audio/L16; rate=16000; channels=1": "audio/L16;rate=16000",
    "audio/basic": "audio/basic;rate=8000",
    "audio/flac;q=0.5, audio/aac;q=0.8": "audio/aac",
    "audio/midi, audio/flac;q=0.1": "audio/flac",
    "audio/flac, audio/aac": "audio/flac",
    "audio/x-wav, */*;q=0.1": "audio/wav",
    "audio/x-wav, application/json": "audio/wav",
    "audio/mpeg;q=0, audio/*": "audio/ogg",
    "audio/L16;channels=2, audio/L16;rate=1, audio/flac": "audio/flac",
}
"""Headers that choose."""

LEFT = [
    "*/*",
    "audio/*",
    "audio/*;q=0.1",
    FIREFOX,
    CHROMIUM,
    "application/octet-stream",
    "application/json",
    "application/json, text/plain, */*",
    "text/event-stream",
    "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",  # Java's
    "audio/flac;q=0.5, */*",
    "audio/flac, audio/mpeg, audio/wav",
    "nonsense",
    "audio/flac;q=much",
    "",
]
"""Headers that leave the choice to the server."""

REFUSED = [
    "audio/midi",
    "image/png",
    "video/*",
    "audio/mpeg;q=0",
    "*/*;q=0",
    "audio/L16;channels=2",
    "audio/L16;rate=96000",
    "audio/ogg;codecs=vorbis",
]


async def posted(
    accept: str | None, settings: FrontSettings | None = None, path: str = "/v1/audio/speech", **fields: Any
) -> tuple[aiohttp.ClientResponse, bytes]:
    headers = {} if accept is None else {"Accept": accept}
    async with asking(
        FakeSpeaker(*SHORT_PIECES), path, settings=settings, json={"input": "Hello."} | fields, headers=headers
    ) as response:
        return response, await response.read()


@pytest.mark.parametrize(("accept", "content_type"), CHOSEN.items())
async def test_a_header_that_prefers_a_type_chooses_it(accept: str, content_type: str) -> None:
    response, body = await posted(accept)
    assert (response.status, response.headers["Content-Type"]) == (200, content_type)
    if content_type == "audio/L16;rate=24000":
        assert np.array_equal(np.frombuffer(body, ">i2"), np.concatenate(SHORT_PIECES))


@pytest.mark.parametrize("accept", LEFT)
async def test_a_header_that_says_nothing_of_a_format_changes_nothing(accept: str) -> None:
    response, _ = await posted(accept)
    assert (response.status, response.headers["Content-Type"]) == (200, USUAL)
    assert response.headers["Transfer-Encoding"] == "chunked"
    response, _ = await posted(accept, FrontSettings(default_format="wav"))
    assert response.headers["Content-Type"] == "audio/wav"
    assert response.headers["Transfer-Encoding"] == "chunked"


@pytest.mark.parametrize("accept", REFUSED)
async def test_a_header_that_takes_nothing_of_ours_is_told_what_there_is(accept: str) -> None:
    response, body = await posted(accept)
    error = json.loads(body)["error"]
    assert (response.status, error["code"], error["type"]) == (406, "not_acceptable", "invalid_request_error")
    assert all(each in error["message"] for each in ("audio/mpeg", "audio/wav", "audio/L16"))


@pytest.mark.parametrize("accept", [None, "*/*", "audio/flac", "audio/midi"])
@pytest.mark.parametrize(
    "fields", [{}, {"stream": False}, {"response_format": "mp3"}, {"format": "mp3"}, {"stream_format": "sse"}]
)
async def test_an_answer_varies_by_the_header_where_that_may_choose(accept: str | None, fields: dict[str, Any]) -> None:
    response, _ = await posted(accept, **fields)
    varies = response.headers["Vary"].split(", ")
    assert ("Accept" in varies) == (not fields or "stream" in fields)
    assert "Origin" in varies


@pytest.mark.parametrize("fields", [{"response_format": "flac"}, {"format": "flac"}])
@pytest.mark.parametrize("accept", ["audio/x-wav", "audio/midi"])
async def test_the_body_wins(accept: str, fields: dict[str, Any]) -> None:
    response, _ = await posted(accept, **fields)
    assert (response.status, response.headers["Content-Type"]) == (200, "audio/flac")


@pytest.mark.parametrize(
    ("fields", "content_type"),
    [({"stream_format": "sse"}, "text/event-stream"), ({"timestamps": "word", "stream": False}, "application/json")],
)
async def test_an_answer_that_is_no_audio_file_is_not_negotiated(fields: dict[str, Any], content_type: str) -> None:
    response, body = await posted("audio/midi", **fields)
    refused = response.status == 400 and b"timestamps_unavailable" in body  # this engine has no times of words
    assert refused or response.headers["Content-Type"] == content_type


@pytest.mark.parametrize(
    ("fields", "whole"), [({}, True), ({"stream": None}, True), ({"stream": False}, True), ({"stream": True}, False)]
)
async def test_a_wav_that_the_header_chooses_has_its_length(fields: dict[str, Any], whole: bool) -> None:
    response, body = await posted("audio/x-wav", **fields)
    assert response.headers["Content-Type"] == "audio/wav"
    assert ("Content-Length" in response.headers) is whole
    if whole:
        with wave.open(io.BytesIO(body)) as file:
            assert file.readframes(file.getnframes()) == np.concatenate(SHORT_PIECES).tobytes()
            assert file.getnframes() == sum(map(len, SHORT_PIECES))


async def test_the_rate_of_the_body_wins_over_that_of_the_header() -> None:
    response, _ = await posted("audio/L16;rate=16000", sample_rate=8000)
    assert response.headers["Content-Type"] == "audio/L16;rate=8000"
    response, body = await posted("audio/mpeg", sample_rate=12345)
    assert (response.status, json.loads(body)["error"]["param"]) == (400, "sample_rate")


async def test_every_call_of_openais_form_obeys() -> None:
    response, _ = await posted("audio/flac", path="/v1/audio/dialogue", input=None, turns=[{"text": "Hello."}])
    assert response.headers["Content-Type"] == "audio/flac"
    phonemes = {"path": "/dev/generate_from_phonemes", "input": None, "phonemes": "abc"}
    assert (await posted("audio/flac", **phonemes))[0].headers["Content-Type"] == "audio/flac"
    assert (await posted("*/*", **phonemes))[0].headers["Content-Type"] == "audio/wav"
    async with asking(
        FakeSpeaker(*SHORT_PIECES),
        "/v1/audio/speech?input=Hello.",
        method="GET",
        headers=[("Accept", "audio/midi"), ("Accept", "audio/flac")],
    ) as got:
        assert got.headers["Content-Type"] == "audio/flac"
