"""OpenAI's own Python SDK, and our own commands, against a real server."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import os
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.clients.keys import KEY
from tests.clients.limited import PER_MINUTE, use_up
from tests.frontend.audio.hearing import hear, loudness
from tests.lazy import Lazy
from tests.system.oracle import sentences
from tests.system.server import ROOT, Server
from tests.system.sound_card import SoundCard, audible, needs_pulseaudio

if TYPE_CHECKING:
    from openai import OpenAI


openai = Lazy("openai")
TEXT = "Spoken through the official client."
FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"]


@pytest.fixture
def client(espeak: Server) -> Iterator[OpenAI]:
    with openai.OpenAI(base_url=f"http://127.0.0.1:{espeak.port}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def pcm(client: OpenAI) -> bytes:
    return create(client, response_format="pcm").content


def parsed(body: bytes) -> list[dict[str, Any]]:
    """The events as the SDK's own reader has them."""
    from openai._streaming import SSEDecoder

    found = list(SSEDecoder().iter_bytes(iter([body])))
    assert all(each.id and each.id.isdecimal() for each in found)
    return [each.json() for each in found]


def create(client: OpenAI, **options: Any) -> Any:
    asked = {"model": "gpt-4o-mini-tts", "voice": "af_heart", "input": TEXT} | options
    return client.audio.speech.create(**asked)


def seconds(data: bytes, name: str) -> float:
    """The length of something that sounds."""
    if name == "pcm":
        return len(data) / 48_000
    got = hear(data)
    assert loudness(got.samples) > 500
    return len(got.samples) / got.sample_rate


@pytest.mark.parametrize("name", [None, *FORMATS])
def test_plain(client: OpenAI, pcm: bytes, name: str | None) -> None:
    options = {} if name is None else {"response_format": name}
    data = create(client, **options).content
    assert seconds(data, name or "mp3") == pytest.approx(len(pcm) / 48_000, abs=0.15)


@pytest.mark.parametrize("name", FORMATS)
def test_streaming_response(client: OpenAI, pcm: bytes, name: str) -> None:
    streaming = client.audio.speech.with_streaming_response
    fresh = {"Cache-Control": "no-store"}
    asked: dict[str, Any] = {"model": "tts-1", "voice": "af_heart", "input": TEXT, "response_format": name}
    with streaming.create(**asked, extra_headers=fresh) as response:
        assert response.headers["X-Engine"] == "espeak-ng"
        chunks = list(response.iter_bytes())
    assert len(chunks) > 3, "it comes piece by piece"
    assert seconds(b"".join(chunks), name) == pytest.approx(len(pcm) / 48_000, abs=0.15)


def test_streaming_to_a_file(client: OpenAI, pcm: bytes, tmp_path: Path) -> None:
    streaming = client.audio.speech.with_streaming_response
    with streaming.create(model="tts-1", voice="af_heart", input=TEXT, response_format="flac") as response:
        response.stream_to_file(tmp_path / "speech.flac")
    got = hear((tmp_path / "speech.flac").read_bytes())
    assert np.array_equal(got.samples, np.frombuffer(pcm, "<i2"))


async def test_async(espeak: Server, pcm: bytes) -> None:
    async with openai.AsyncOpenAI(
        base_url=f"http://127.0.0.1:{espeak.port}/v1", api_key="none", max_retries=0
    ) as client:
        speech = await client.audio.speech.create(
            model="kokoro", voice={"id": "af_heart"}, input=TEXT, response_format="pcm"
        )
        assert speech.content == pcm
        streaming = client.audio.speech.with_streaming_response
        async with streaming.create(model="kokoro", voice="af_heart", input=TEXT, response_format="wav") as response:
            body = b"".join([chunk async for chunk in response.iter_bytes()])
        assert body[44:] == pcm


def test_other_options(client: OpenAI, pcm: bytes) -> None:
    fast = create(client, speed=2.0, instructions="Cheerfully.", response_format="pcm").content
    assert len(fast) < 0.7 * len(pcm)
    events = create(client, stream_format="sse", response_format="pcm").content
    assert events.startswith(b'data: {"type":"speech.audio.delta"')
    assert b'"type":"speech.audio.done"' in events
    heard = b"".join(base64.b64decode(each["audio"]) for each in parsed(events) if "audio" in each)
    assert heard == pcm
    rest = create(client, stream_format="sse", response_format="pcm", extra_headers={"Last-Event-ID": "4800"}).content
    heard = b"".join(base64.b64decode(each["audio"]) for each in parsed(rest) if "audio" in each)
    assert heard == pcm[9600:]
    resampled = create(client, response_format="pcm", extra_body={"sample_rate": 8_000}).content
    assert abs(3 * len(resampled) - len(pcm)) <= 6


@pytest.mark.parametrize(
    ("options", "param", "code"),
    [
        ({"voice": "nobody"}, "voice", "unknown_voice"),
        ({"input": ""}, "input", "unspeakable"),
        ({"speed": 9}, "speed", "invalid_value"),
        ({"response_format": "ogg"}, "response_format", "invalid_value"),
    ],
)
def test_a_bad_request_is_the_sdks_bad_request(client: OpenAI, options: dict[str, Any], param: str, code: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        create(client, **options)
    assert (caught.value.param, caught.value.code) == (param, code)
    assert caught.value.type == "invalid_request_error"


def busy(with_server: Server) -> http.client.HTTPConnection:
    """The one stream that the server makes, taken by a listener that doesn't read."""
    listener = with_server.connect()
    listener.request("POST", "/v1/audio/speech", json.dumps({"input": sentences(150), "response_format": "pcm"}))
    assert listener.getresponse().status == 200
    return listener


def test_without_retries_a_busy_server_is_an_error_of_the_sdk(espeak: Server, client: OpenAI) -> None:
    listener = busy(espeak)
    with pytest.raises(openai.RateLimitError) as caught:
        create(client)
    assert caught.value.code == "overloaded"
    assert int(caught.value.response.headers["Retry-After"]) >= 1
    listener.close()
    espeak.await_streams(0)


def test_a_busy_server_is_asked_again_when_it_said(espeak: Server) -> None:
    """The stream is collected whole, so that a place is likely after seconds, not once its audio has been played."""
    listener = espeak.connect()
    whole = {"input": sentences(150), "response_format": "pcm", "stream": False}
    listener.request("POST", "/v1/audio/speech", json.dumps(whole))
    espeak.await_streams(1)
    answers: list[tuple[int, float]] = []

    def note(response: Any) -> None:
        answers.append((response.status_code, time.monotonic()))
        if response.status_code == 429:
            listener.close()

    http_client = openai.DefaultHttpxClient(event_hooks={"response": [note]})
    with openai.OpenAI(
        base_url=f"http://127.0.0.1:{espeak.port}/v1", api_key="none", http_client=http_client
    ) as client:
        assert seconds(create(client).content, "mp3") > 1
    assert [status for status, _ in answers] == [429, 200]
    assert answers[1][1] - answers[0][1] >= 1, "the SDK's own first pause is half a second"


def test_a_wrong_key_is_the_sdks_authentication_error(limited: Server) -> None:
    with openai.OpenAI(base_url=f"http://127.0.0.1:{limited.port}/v1", api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError) as caught:
            create(stranger)
        assert caught.value.code == "invalid_api_key"
        assert "kokoro" in [model.id for model in stranger.models.list()], "lists need none on this machine"
    with openai.OpenAI(base_url=f"http://127.0.0.1:{limited.port}/v1", api_key="one", max_retries=0) as friend:
        assert create(friend).content


def test_too_many_requests_are_the_sdks_rate_limit_and_it_comes_again_when_told(limited: Server) -> None:
    url = f"http://127.0.0.1:{limited.port}/v1"
    use_up(limited, "two")
    with (
        openai.OpenAI(base_url=url, api_key="two", max_retries=0) as impatient,
        pytest.raises(openai.RateLimitError) as caught,
    ):
        create(impatient)
    assert caught.value.code == "rate_limit_exceeded"
    told = int(caught.value.response.headers["retry-after-ms"])
    assert 0 < told <= 60_000 / PER_MINUTE
    answers: list[int] = []
    hooks = {"response": [lambda response: answers.append(response.status_code)]}
    http_client = openai.DefaultHttpxClient(event_hooks=hooks)  # type: ignore[arg-type]
    use_up(limited, "two")
    with openai.OpenAI(base_url=url, api_key="two", max_retries=1, http_client=http_client) as patient:
        assert create(patient).content
    assert answers == [429, 200]


async def test_async_errors_and_many_at_once(limited: Server) -> None:
    async with openai.AsyncOpenAI(
        base_url=f"http://127.0.0.1:{limited.port}/v1", api_key="one", max_retries=0
    ) as client:

        async def one(number: int) -> bytes:
            streaming = client.audio.speech.with_streaming_response
            text = f"Sentence number {number}."
            async with streaming.create(model="tts-1", voice="alloy", input=text, response_format="pcm") as response:
                return b"".join([chunk async for chunk in response.iter_bytes()])

        first = [await one(number) for number in range(3)]
        assert list(await asyncio.gather(*map(one, range(3)))) == first
        with pytest.raises(openai.BadRequestError, match="nobody"):
            await client.audio.speech.create(model="tts-1", voice="nobody", input=TEXT)
        streaming = client.audio.speech.with_streaming_response
        with pytest.raises(openai.BadRequestError):
            async with streaming.create(model="tts-1", voice="nobody", input=TEXT):
                pass


def test_a_stream_that_breaks_is_an_error_of_the_sdk(client: OpenAI, espeak: Server) -> None:
    streaming = client.audio.speech.with_streaming_response
    mine = {"user": "one", "on_busy": "interrupt"}
    with streaming.create(model="kokoro", voice="af_heart", input=sentences(150), extra_body=mine) as response:
        chunks = response.iter_bytes()
        assert next(chunks)
        later = {"input": "Stop.", "response_format": "pcm", **mine}
        threading.Thread(target=espeak.post, args=("/v1/audio/speech", later)).start()
        with pytest.raises(Exception, match=r"(?i)peer closed connection|incomplete|reset"):
            for _ in chunks:
                pass


def command(port: int, folder: Path, *arguments: str, key: str | None) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("KOKORO_LIVE_")}
    variables |= {"XDG_CONFIG_HOME": str(folder), "KOKORO_LIVE_URL": f"http://127.0.0.1:{port}"}
    variables |= {"KOKORO_LIVE_API_KEY": key} if key else {}
    run = [sys.executable, "-m", "supervisor", *arguments]
    return subprocess.run(run, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)


def test_say_has_its_key_from_a_variable(keyed: Server, tmp_path: Path) -> None:
    out = tmp_path / "said.wav"
    refused = command(keyed.port, tmp_path, "say", "Hello.", "-o", str(out), key=None)
    assert refused.returncode == 1 and "KOKORO_LIVE_API_KEY" in refused.stderr
    assert not out.exists()
    done = command(keyed.port, tmp_path, "say", "Hello.", "-o", str(out), key=KEY)
    assert done.returncode == 0, done.stderr
    listed = command(keyed.port, tmp_path, "voices", key=None)
    assert listed.returncode == 0, "lists need none on this machine"
    with wave.open(str(out)) as reader:
        assert reader.getnframes() > 5_000


@needs_pulseaudio
def test_play_and_the_player_itself_have_their_keys(keyed: Server, card: SoundCard, tmp_path: Path) -> None:
    refused = command(keyed.port, tmp_path, "play", "Hello.", key=None)
    assert refused.returncode == 1 and "KOKORO_LIVE_API_KEY" in refused.stderr
    recording = card.record()
    done = command(keyed.port, tmp_path, "play", "Hello.", key=KEY)
    assert done.returncode == 0, done.stderr
    assert audible(recording.samples).size > 5_000
