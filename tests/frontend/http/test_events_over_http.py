"""`stream_format`: OpenAI's events, to the letter, and numbered lines of JSON, from the form to the totals."""

import asyncio
import base64
import json
import re
from typing import Any

import aiohttp
import msgspec
import numpy as np
import pytest

from frontend.audio.formats import FORMATS
from frontend.contract.errors import Broken, Unavailable, Unspeakable
from frontend.dialects import openai
from frontend.http.openapi import build
from frontend.settings.front import FrontSettings
from frontend.speech.framing import Usage
from frontend.speech.lines import SpeechCut, SpeechDelta, SpeechDone, SpeechLine, SpeechStart
from shm.audio import SAMPLE_RATE
from shm.timing import SentenceTiming
from tests.frontend.audio.hearing import hear, vowels
from tests.frontend.http.test_timestamps_over_http import MARKING, MARKS, MarkedSpeaker
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, FakeSpeaker, asking, raw_post, serving

BODY = {"input": "Hello.", "stream_format": "sse"}


def events(body: bytes) -> list[dict[str, Any]]:
    """One `data:` line of JSON, one with its id, one empty line, again and again, and nothing else."""
    blocks = body.decode("ascii").split("\n\n")
    assert blocks.pop() == ""
    found = [re.fullmatch(r"(?:event: error\n)?data: (\{.*\})\nid: \d+", block) for block in blocks]
    assert all(found), body
    return [json.loads(match[1]) for match in found if match]


def ids(body: bytes) -> list[int]:
    return [int(each) for each in re.findall(rb"^id: (\d+)$", body, re.MULTILINE)]


def audio(deltas: list[dict[str, Any]]) -> bytes:
    for delta in deltas:
        assert delta.keys() == {"type", "audio"} and delta["type"] == "speech.audio.delta"
    return b"".join(base64.b64decode(delta["audio"], validate=True) for delta in deltas)


@pytest.mark.parametrize("audio_format", FORMATS)
async def test_events_carry_the_file_and_then_the_usage(audio_format: str) -> None:
    pieces = [vowels(1.0), vowels(0.5), vowels(0.0301)]
    async with asking(FakeSpeaker(*pieces), json=BODY | {"response_format": audio_format}) as response:
        body = await response.read()
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["X-Sample-Rate"] == "24000"
    *deltas, done = events(body)
    assert len(deltas) > 10
    frames = 62  # 1.5301 s of 25 ms, rounded up
    usage = {"input_tokens": 21, "output_tokens": frames, "total_tokens": 21 + frames}
    assert done == {"type": "speech.audio.done", "usage": usage}
    data = audio(deltas)
    if audio_format == "pcm":
        assert data == np.concatenate(pieces).tobytes()
    else:
        got = hear(data)
        assert len(got.samples) / got.sample_rate == pytest.approx(1.53, abs=0.11)


async def test_an_event_leaves_before_the_next_piece_is_there() -> None:
    gate = asyncio.Event()
    async with serving(FakeSpeaker(vowels(0.1), gate, vowels(0.1))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(json.dumps(BODY | {"response_format": "pcm"}).encode()))
        got = await asyncio.wait_for(reader.readuntil(b"\n\n"), DEFAULT_TIMEOUT)
        assert got.endswith(b'"}\nid: 2400\n\n')
        assert base64.b64encode(vowels(0.1).tobytes()) in got
        gate.set()
        assert b"speech.audio.done" in await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), DEFAULT_TIMEOUT)
        writer.close()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Broken("two workers died on it"), ("two workers died on it", "server_error", None, "synthesis_failed")),
        (Unavailable("the worker is gone"), ("the worker is gone", "server_error", None, "unavailable")),
        (Unspeakable("no such sound"), ("no such sound", "invalid_request_error", "input", "unspeakable")),
        (RuntimeError("secret"), ("The server failed; its log has", "server_error", None, "internal")),
    ],
)
async def test_an_error_in_mid_stream_is_an_event_and_the_connection_is_cut(
    error: Exception, expected: tuple[str, str, str | None, str]
) -> None:
    async with serving(FakeSpeaker(vowels(0.2), error)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(json.dumps(BODY | {"response_format": "pcm"}).encode()))
        await reader.readuntil(b"\r\n\r\n")
        body = await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        writer.close()
    assert not body.endswith(b"0\r\n\r\n")
    *deltas, last = events(re.sub(rb"[0-9a-f]+\r\n(.*?\n\n)\r\n", rb"\1", body, flags=re.DOTALL))
    assert len(audio(deltas)) == 0.2 * SAMPLE_RATE * 2
    assert last["type"] == "error"
    message, *rest = expected
    assert last["error"]["message"].startswith(message)
    assert [last["error"][key] for key in ("type", "param", "code")] == rest
    assert b"secret" not in body


PIECES = [vowels(1.0), vowels(0.5), vowels(0.0301)]
WHOLE = np.concatenate(PIECES)


async def resumed(
    after: object, settings: FrontSettings | None = None, speaker: FakeSpeaker | None = None, **fields: Any
) -> tuple[int, bytes]:
    """Status and body of a request that continues after an event; None: one that begins."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    async with (
        serving(speaker or FakeSpeaker(*PIECES), settings) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/audio/speech", json=BODY | {"response_format": "pcm"} | fields, headers=headers) as response,
    ):
        body = await response.read()
        first_audio = server.metrics.registry.get_sample_value("kokoro_live_time_to_first_audio_seconds_count")
        assert first_audio == (1 if response.status == 200 and not int(after or 0) else 0)  # type: ignore[call-overload]
    return response.status, body


@pytest.mark.parametrize("silence", [0.0, 0.1])
async def test_an_id_is_the_sample_at_which_a_repeated_request_continues(silence: float) -> None:
    settings = FrontSettings(prime_silence=silence)
    _, body = await resumed(None, settings)
    *deltas, done = events(body)
    whole = audio(deltas)
    assert len(whole) == 2 * (len(WHOLE) + silence * SAMPLE_RATE)
    *positions, end = ids(body)
    assert positions == [*np.cumsum([len(base64.b64decode(each["audio"])) // 2 for each in deltas])]
    assert end == len(whole) // 2
    for after in (positions[0], positions[len(positions) // 2], positions[-2], 777, 0):
        status, rest = await resumed(after, settings)
        *deltas, last = events(rest)
        assert (status, audio(deltas), last) == (200, whole[2 * after :], done)
        assert ids(rest)[-1] == end and ids(rest)[0] > after


@pytest.mark.parametrize(("name", "rate"), [*((name, 24_000) for name in FORMATS), ("pcm", 16_000), ("mp3", 48_000)])
async def test_a_continued_answer_is_a_file_of_its_own(name: str, rate: int) -> None:
    fields = {"response_format": name, "sample_rate": rate}
    status, body = await resumed(18_000, **fields)
    *deltas, _ = events(body)
    data, seconds = audio(deltas), len(WHOLE) / SAMPLE_RATE - 0.75
    if name == "pcm":
        assert (status, len(data)) == (200, pytest.approx(2 * rate * seconds, abs=2))
    else:
        got = hear(data)
        assert len(got.samples) / got.sample_rate == pytest.approx(seconds, abs=0.11)
    assert ids(body)[-1] == pytest.approx(len(WHOLE), abs=2)
    status, body = await resumed(len(WHOLE), **fields)
    assert status == 200 and events(body)[-1]["type"] == "speech.audio.done"


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "1" * 11, "req-1"])
async def test_an_id_that_is_none_of_ours_is_refused(after: str) -> None:
    async with serving(FakeSpeaker(*PIECES)) as server, aiohttp.ClientSession(server.url) as client:
        headers = {"Last-Event-ID": after}
        async with client.post("/v1/audio/speech", json=BODY, headers=headers) as response:
            error = (await response.json())["error"]
            assert (response.status, error["param"], error["code"]) == (400, "Last-Event-ID", "invalid_value")
        body = {"input": "Hello.", "response_format": "pcm"}  # without events it means nothing
        async with client.post("/v1/audio/speech", json=body, headers=headers) as response:
            assert await response.read() == WHOLE.tobytes()


LINES = {"input": "Hello.", "stream_format": "jsonl", "voice": "af_bella"}
DECODE = msgspec.json.Decoder(SpeechLine).decode


async def asked(
    speaker: FakeSpeaker, after: int | None = None, **fields: Any
) -> tuple[SpeechStart, list[SpeechDelta], SpeechDone]:
    """The lines of a whole answer, or of one that continues after a line, each of the described shape."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    async with asking(speaker, json=LINES | fields, headers=headers) as response:
        body = await response.read()
    assert (response.status, response.headers["Content-Type"]) == (200, "application/jsonl")
    assert body.endswith(b"\n")
    start, *deltas, done = map(DECODE, body.splitlines())
    assert isinstance(start, SpeechStart) and isinstance(done, SpeechDone)
    assert start.request_id == response.headers["X-Request-Id"]
    assert (start.engine, start.voice) == ("kokoro", "af_bella")
    parts = [line for line in deltas if isinstance(line, SpeechDelta)]
    assert [line.seq for line in parts] == [*range(len(deltas))] and done.lines == len(deltas)
    had = round((after or 0) * start.sample_rate / SAMPLE_RATE)
    assert sum(line.samples for line in parts) == done.samples - had
    assert [line.id for line in parts] == sorted({line.id for line in parts})
    if parts:
        assert parts[-1].id == pytest.approx(done.samples * SAMPLE_RATE / start.sample_rate, abs=1)
    return start, parts, done


@pytest.mark.parametrize("rate", [24_000, 16_000])
@pytest.mark.parametrize("name", FORMATS)
async def test_lines_carry_the_file_between_its_form_and_the_totals(name: str, rate: int) -> None:
    start, deltas, done = await asked(FakeSpeaker(*PIECES), response_format=name, sample_rate=rate)
    assert (start.format, start.sample_rate) == (name, rate)
    assert len(deltas) > 10
    assert done.usage == Usage(21, 62, 83)  # 1.5301 s of 25 ms, rounded up
    assert done.duration == pytest.approx(1.53, abs=0.002)
    data = b"".join(line.audio for line in deltas)
    if name == "pcm" and rate == 24_000:
        assert data == np.concatenate(PIECES).tobytes()
        assert all(len(line.audio) == 2 * line.samples for line in deltas)
    elif name != "pcm":
        got = hear(data)
        assert len(got.samples) / got.sample_rate == pytest.approx(1.53, abs=0.2)


@pytest.mark.parametrize("rate", [24_000, 16_000])
async def test_a_lines_id_is_the_sample_at_which_a_repeated_request_continues(rate: int) -> None:
    _, deltas, done = await asked(FakeSpeaker(*PIECES), sample_rate=rate, response_format="pcm")
    whole = b"".join(line.audio for line in deltas)
    for place in (0, len(deltas) // 2, len(deltas) - 1):
        _, rest, again = await asked(
            FakeSpeaker(*PIECES), after=deltas[place].id, sample_rate=rate, response_format="pcm"
        )
        assert again.usage == done.usage
        assert again.samples == pytest.approx(done.samples, abs=rate != SAMPLE_RATE)  # a resampler rounds its part
        assert again.lines == len(rest)
        had = sum(line.samples for line in deltas[: place + 1])
        assert sum(line.samples for line in rest) == pytest.approx(done.samples - had, abs=1)
        if rate == SAMPLE_RATE:
            assert b"".join(line.audio for line in rest) == whole[2 * had :]


async def test_a_line_leaves_before_the_next_piece_is_there() -> None:
    gate = asyncio.Event()
    async with asking(FakeSpeaker(vowels(0.1), gate, vowels(0.1)), json=LINES | {"response_format": "pcm"}) as response:
        got = [await asyncio.wait_for(response.content.readline(), DEFAULT_TIMEOUT) for _ in range(2)]
        assert [type(DECODE(line)) for line in got] == [SpeechStart, SpeechDelta]
        gate.set()
        assert isinstance(DECODE((await response.read()).splitlines()[-1]), SpeechDone)


async def test_words_and_marks_come_with_the_audio_in_which_they_sound() -> None:
    _, deltas, _ = await asked(
        MarkedSpeaker(engine=MARKING), voice="af_bella", response_format="pcm", timestamps="word"
    )
    first = json.loads(msgspec.json.encode(deltas[0]))
    assert [word["word"] for word in first["words"]] == ["Hi", "42"]
    assert first["words"][1] == {"word": "42", "said": "forty two", "start": 0.05, "end": 0.1}
    assert first["marks"] == MARKS
    assert [{*json.loads(msgspec.json.encode(line))} for line in deltas[1:]] == [
        {"type", "seq", "audio", "samples", "id"}
    ]


async def test_sentences_come_with_the_audio_in_which_they_begin() -> None:
    speaker = FakeSpeaker(
        vowels(0.1), lambda: speaker.streams[0].sentences.append(SentenceTiming(1, "Ho.", 2700)), vowels(0.1)
    )
    _, deltas, _ = await asked(speaker, response_format="pcm", timestamps="sentence", sample_rate=48_000)
    begun = [(line.seq, each.number, each.text, each.sample) for line in deltas for each in line.sentences or ()]
    assert begun[0][1:] == (1, "Ho.", 5400)
    assert sum(line.samples for line in deltas[: begun[0][0]]) <= 5400


async def test_an_error_in_mid_stream_is_a_line_and_the_connection_is_cut() -> None:
    async with serving(FakeSpeaker(vowels(0.2), Broken("two workers died on it"))) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(raw_post(json.dumps(LINES | {"response_format": "pcm"}).encode()))
        body = await asyncio.wait_for(reader.read(), DEFAULT_TIMEOUT)
        writer.close()
    assert not body.endswith(b"0\r\n\r\n")
    lines = [DECODE(line) for line in body.splitlines() if line.startswith(b"{")]
    assert not any(isinstance(line, SpeechDone) for line in lines)
    assert isinstance(lines[-1], SpeechCut) and lines[-1].error.code == "synthesis_failed"
    assert sum(line.samples for line in lines if isinstance(line, SpeechDelta)) == 4800


def test_the_lines_are_described() -> None:
    described = build(openai.ROUTES)["paths"]["/v1/audio/speech"]["post"]["responses"]["200"]["content"]
    shapes = {each["$ref"].rpartition("/")[2] for each in described["application/jsonl"]["schema"]["anyOf"]}
    assert shapes == {"SpeechStart", "SpeechDelta", "SpeechDone", "SpeechCut"}
