"""`Accept`: which headers choose the audio's format, and which leave it as it is."""

import io
import json
import wave
from typing import Any

import aiohttp
import numpy as np
import pytest

from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import FakeSpeaker, asking, speech

PIECES = [speech(2400), speech(700)]
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
        FakeSpeaker(*PIECES), path, settings=settings, json={"input": "Hello."} | fields, headers=headers
    ) as response:
        return response, await response.read()


@pytest.mark.parametrize(("accept", "content_type"), CHOSEN.items())
async def test_a_header_that_prefers_a_type_chooses_it(accept: str, content_type: str) -> None:
    response, body = await posted(accept)
    assert (response.status, response.headers["Content-Type"]) == (200, content_type)
    if content_type == "audio/L16;rate=24000":
        assert np.array_equal(np.frombuffer(body, ">i2"), np.concatenate(PIECES))


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
    [
        ({"stream_format": "sse"}, "text/event-stream"),
        ({"timestamps": "word", "stream": False}, "application/json"),
    ],
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
            assert file.readframes(file.getnframes()) == np.concatenate(PIECES).tobytes()
            assert file.getnframes() == sum(map(len, PIECES))


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
        FakeSpeaker(*PIECES),
        "/v1/audio/speech?input=Hello.",
        method="GET",
        headers=[("Accept", "audio/midi"), ("Accept", "audio/flac")],
    ) as got:
        assert got.headers["Content-Type"] == "audio/flac"
