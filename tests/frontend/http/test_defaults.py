"""The defaults of a request that names no voice, no pace and no format: one setting each, in every protocol."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from wyoming.event import Event

from frontend.contract.request import SpeechRequest
from frontend.dialects.wyoming.events import asked_by, text_fields
from frontend.settings.front import FrontSettings
from frontend.speech.voices import usual_voice
from shm.engine_info import VoiceInfo
from tests.frontend.http.jobs_desk import desk
from tests.frontend.http.test_play_over_http import FakePlayer
from tests.frontend.http_fakes import DEFAULT_TIMEOUT, ENGINE, FakeSpeaker, asking, serving, speech

SETTINGS = FrontSettings(default_voice="bf_emma", default_speed=1.5, default_format="flac")
EMMA = (("bf_emma", 1.0),)
POSTS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/audio/speech", {"input": "a"}),
    ("/dev/captioned_speech", {"input": "a", "return_timestamps": False}),
    ("/v1/audio/dialogue", {"turns": [{"text": "a"}]}),
    ("/tts/bytes", {"transcript": "a"}),
    ("/v1/speak", {"text": "a"}),
]
NAMED: list[tuple[str, dict[str, Any]]] = [
    ("/v1/audio/speech", {"input": "a", "voice": "am_echo", "speed": 0.5, "response_format": "wav"}),
    ("/tts/bytes", {"transcript": "a", "voice": "am_echo", "speed": 0.5, "output_format": {"container": "wav"}}),
    ("/v1/speak?model=am_echo&speed=0.5&encoding=linear16", {"text": "a"}),
    ("/v1/text-to-speech/am_echo?output_format=wav_24000", {"text": "a", "voice_settings": {"speed": 0.5}}),
]
SOCKETS: list[tuple[str, dict[str, Any]]] = [
    ("/tts/websocket", {"transcript": "a.", "context_id": "c"}),
    ("/v1/speak", {"type": "Speak", "text": "a."}),
]


async def posted(path: str, body: dict[str, Any], settings: FrontSettings = SETTINGS) -> tuple[SpeechRequest, str]:
    """The speech that a call asks for, and its answer's content type."""
    speaker = FakeSpeaker(speech(2400))
    async with asking(speaker, path, settings=settings, json=body) as response:
        assert response.status == 200, await response.text()
        await response.read()
    return speaker.opened[-1], response.content_type


@pytest.mark.parametrize(("path", "body"), POSTS)
async def test_a_call_that_names_nothing_has_the_defaults(path: str, body: dict[str, Any]) -> None:
    asked, content_type = await posted(path, body)
    assert (asked.voice, asked.language, asked.speed) == (EMMA, "en-gb", 1.5)
    assert content_type == ("application/x-ndjson" if "captioned" in path else "audio/flac")


@pytest.mark.parametrize(("path", "body"), NAMED)
async def test_a_call_that_names_them_has_its_own(path: str, body: dict[str, Any]) -> None:
    asked, content_type = await posted(path, body)
    assert (asked.voice, asked.speed, content_type) == ((("am_echo", 1.0),), 0.5, "audio/wav")


async def test_a_field_without_effect_on_the_default_format_is_named() -> None:
    path = "/v1/speak?bit_rate=64000"
    async with asking(FakeSpeaker(speech(2400)), path, settings=SETTINGS, json={"text": "a"}) as response:
        assert response.headers["X-Warning"] == "no effect: bit_rate"


async def test_elevenlabs_calls_name_their_voice_in_the_path() -> None:
    asked, content_type = await posted("/v1/text-to-speech/am_echo", {"text": "a"})
    assert (asked.speed, content_type) == (1.5, "audio/flac")


@pytest.mark.parametrize(("path", "message"), SOCKETS)
async def test_a_socket_has_the_default_voice_and_pace(path: str, message: dict[str, Any]) -> None:
    speaker = FakeSpeaker(speech(2400))
    async with (
        serving(speaker, SETTINGS) as server,
        aiohttp.ClientSession(server.url) as client,
        client.ws_connect(path) as socket,
        asyncio.timeout(DEFAULT_TIMEOUT),
    ):
        await socket.send_json(message)
        if "speak" in path:
            await socket.send_json({"type": "Flush"})
        await speaker.was_asked.wait()
    assert (speaker.opened[0].voice, speaker.opened[0].speed) == (EMMA, 1.5)


async def test_elevenlabs_socket_has_the_default_pace() -> None:
    speaker = FakeSpeaker(speech(2400))
    async with (
        serving(speaker, SETTINGS) as server,
        aiohttp.ClientSession(server.url) as client,
        client.ws_connect("/v1/text-to-speech/am_echo/stream-input") as socket,
        asyncio.timeout(DEFAULT_TIMEOUT),
    ):
        await socket.send_json({"text": "a.", "flush": True})
        await speaker.was_asked.wait()
    assert speaker.opened[0].speed == 1.5


def test_wyoming_has_the_default_voice_and_pace() -> None:
    asked = {language: wyoming_speech(language) for language in (None, "en-GB", "zh-CN")}
    assert (asked[None].voice, asked[None].speed) == (EMMA, 1.5)
    assert asked["en-GB"].voice == EMMA
    assert asked["zh-CN"].voice == (("zf_xiaobei", 1.0),)


def wyoming_speech(language: str | None) -> SpeechRequest:
    """The speech of a `synthesize` whose voice names that language, or of one without a voice."""
    data = {"voice": {"language": language}} if language else {}
    return asked_by(text_fields(Event("synthesize", data)), ENGINE, SETTINGS)


async def test_what_is_played_has_the_default_voice_and_pace() -> None:
    player = FakePlayer()
    async with (
        serving(FakeSpeaker(), SETTINGS, player=player) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post("/v1/play", json={"input": "a"}) as response,
    ):
        assert response.status == 202
    ((item, _),) = player.items
    assert (item.voice, item.speed) == ("bf_emma", 1.5)


async def test_a_book_keeps_the_pace_of_its_beginning(tmp_path: Path) -> None:
    async with desk(tmp_path, SETTINGS) as made:
        status, job = await made.upload()
        assert (status, job["options"]["speed"]) == (202, 1.5)
        assert (await made.upload(speed="0.5"))[1]["options"]["speed"] == 0.5


async def test_clients_can_read_the_defaults() -> None:
    async with serving(FakeSpeaker(), SETTINGS) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get("/v1/audio/voices") as response:
            voices = await response.json()
        async with client.get("/v1/audio/formats") as response:
            formats = await response.json()
    assert (voices["default_voice"], voices["default_speed"], formats["default_format"]) == ("bf_emma", 1.5, "flac")
    assert {"id": "caf", "title": "CAF (Apple)", "content_type": "audio/x-caf", "sample_rates": []} in formats[
        "formats"
    ]


async def test_without_the_settings_each_service_keeps_its_own() -> None:
    types = {path: await posted(path, body, FrontSettings()) for path, body in POSTS}
    assert [asked.speed for asked, _ in types.values()] == [1.0] * len(POSTS)
    assert [asked.voice for asked, _ in types.values()] == [(("af_heart", 1.0),)] * len(POSTS)
    assert types["/v1/audio/speech"][1] == types["/v1/speak"][1] == "audio/mpeg"
    assert types["/tts/bytes"][1] == "audio/pcm"


def test_an_engine_without_the_default_voice_speaks_with_its_own() -> None:
    other = msgspec.structs.replace(ENGINE, voices=(VoiceInfo("en-us"), VoiceInfo("de")), default_voice="en-us")
    assert usual_voice(other, SETTINGS) == "en-us"
    assert usual_voice(ENGINE, FrontSettings(default_voice="af_heart(2)+bf_emma")) == "af_heart(2)+bf_emma"


@pytest.mark.parametrize(
    ("settings", "named"), [({"default_speed": 5.5}, "default_speed"), ({"default_format": "ogg"}, "default_format")]
)
def test_defaults_that_no_request_may_have_are_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        FrontSettings(**settings)
