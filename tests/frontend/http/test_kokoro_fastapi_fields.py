"""Fields of Kokoro-FastAPI's requests: each has its effect, or the answer names it."""

from typing import Any

import aiohttp
import numpy as np
import pytest

from tests.frontend.http.kokoro_fastapi import SOUND, asked, refusal, request_of
from tests.frontend.http_fakes import FakeSpeaker, asking, serving
from text.markup.marked import MarkupKind
from text.normalization.settings import RULES
from text.words.performer import DialogueTurn, Performer


@pytest.mark.parametrize(
    ("fields", "markup"),
    [
        ({}, MarkupKind.BASIC),
        ({"allow_voice_tags": True}, MarkupKind.TAGS),
        ({"allow_voice_tags": True, "ssml": True}, MarkupKind.TAGS),
        ({"allow_voice_tags": True, "ssml": True, "input": "<speak>Hi.</speak>"}, MarkupKind.SSML),
        ({"ssml": True}, MarkupKind.BASIC),
        ({"ssml": True, "input": "<speak>Hi.</speak>"}, MarkupKind.SSML),
        ({"allow_voice_tags": False, "ssml": False}, MarkupKind.BASIC),
        ({"allow_voice_tags": True, "markup": "none"}, MarkupKind.NONE),
    ],
)
async def test_tags_and_ssml_are_asked_for_by_their_fields(fields: dict[str, Any], markup: MarkupKind) -> None:
    assert (await request_of(**{"input": "Hi."} | fields)).markup is markup


async def test_an_alias_is_a_voice_with_a_pace_of_its_own() -> None:
    aliases = {"Slow": {"voice": "af_bella", "rate": 0.8}, "mix": "af_bella(3)+af_heart"}
    asked_for = await request_of(input="Hi.", voice="slow", voice_aliases=aliases)
    slow = Performer((("af_bella", 1.0),), "en-us", 0.8)
    mix = Performer((("af_bella", 0.75), ("af_heart", 0.25)), "en-us")
    assert asked_for.aliases == (("Slow", slow), ("mix", mix))
    assert asked_for.turns == (DialogueTurn("Hi.", slow),)
    assert (await request_of(input="Hi.", voice="mix", voice_aliases=aliases)).voice == mix.voice
    by_phonemes = await request_of(phonemes="abc", voice="slow", voice_aliases=aliases)
    assert (by_phonemes.speed, by_phonemes.turns) == (0.8, ())


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"voice_aliases": {"x": "nobody"}}, (400, "unknown_voice", "voice_aliases.x")),
        ({"voice_aliases": {"x": ""}}, (400, "invalid_voice", "voice_aliases.x")),
        ({"voice_aliases": {"x": {"voice": "af_bella", "rate": 9}}}, (400, "invalid_value", "voice_aliases[...].rate")),
        ({"voice": "narrator"}, (400, "unknown_voice", "voice")),
        ({"volume_multiplier": 10.1}, (400, "invalid_value", "volume_multiplier")),
        ({"volume_multiplier": -1}, (400, "invalid_value", "volume_multiplier")),
        ({"lang_code": "xx"}, (400, "unknown_language", "lang")),
        ({"return_download_link": True, "download_format": "m4a"}, (400, "invalid_value", "download_format")),
    ],
)
async def test_what_is_wrong_is_named(fields: dict[str, Any], expected: tuple[int, str, str]) -> None:
    assert await refusal(input="Hi.", **fields) == expected


async def test_the_language_has_kokoros_letters_and_another_name() -> None:
    asked_for = await request_of(input="Hi.", lang_code="b")
    assert (asked_for.language, asked_for.one_language) == ("en-gb", True)
    assert not (await request_of(input="Hi.")).one_language


@pytest.mark.parametrize("stream", [True, False])
async def test_the_volume_is_a_factor_on_the_samples(stream: bool) -> None:
    for factor in (0.0, 0.5, 3.0):
        got = await asked(
            "/v1/audio/speech", input="Hi.", response_format="pcm", volume_multiplier=factor, stream=stream
        )
        wanted = np.clip(np.rint(SOUND * factor), -32768, 32767)
        assert np.frombuffer(got.body, "<i2").tolist() == wanted.tolist()


async def test_normalization_options_turn_rules_off() -> None:
    assert (await request_of(input="Hi.", normalization_options={"normalize": False})).rules_off == tuple(RULES)
    some = {"unit_normalization": False, "phone_normalization": False, "url_normalization": True}
    assert (await request_of(input="Hi.", normalization_options=some)).rules_off == (
        "phones",
        "units",
    )
    addresses = {"url_normalization": False, "email_normalization": False}
    assert (await request_of(input="Hi.", normalization_options=addresses)).rules_off == ("web_addresses",)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"voice": "af_heart", "model": "tts-1", "speed": 1.0, "allow_voice_tags": True}, None),
        ({"foo": 1, "instructions": "Whisper."}, "foo, instructions"),
        ({"model": "gpt-5", "return_timing": True, "download_format": "wav"}, "model, download_format, return_timing"),
        ({"markup": "none", "allow_voice_tags": True, "ssml": True}, "allow_voice_tags, ssml"),
        (
            {"normalization_options": {"caps_normalization": False, "url_normalization": False}},
            "normalization_options.url_normalization, normalization_options.caps_normalization",
        ),
        ({"\r\nSet-Cookie": 1, "ok": 2}, "ok, 1 more"),
        ({"text": "Ho.", "format": "wav", "response_format": "pcm"}, "text, format"),
        ({"lang": "es", "lang_code": "fr"}, "lang_code"),
        (
            {
                "markup": "ssml",
                "input": "<speak><amazon:effect><emphasis>a</emphasis></amazon:effect></speak>",
            },
            "ssml.amazon:effect",
        ),
        ({"allow_voice_tags": True, "ssml": True}, None),
        ({"allow_voice_tags": True, "markup": "tags"}, None),
        ({"return_timestamps": True}, "return_timestamps"),
        ({"on_busy": "queue"}, "on_busy"),
        ({"on_busy": "queue", "user": "me"}, None),
        ({"voice_aliases": {"slow": "af_bella"}}, "voice_aliases"),
        ({"voice_aliases": {"slow": "af_bella"}, "voice": "Slow"}, None),
        ({"voice_aliases": {"slow": "af_bella"}, "allow_voice_tags": True}, None),
        (
            {"voice": {"id": "slow", "a": 1}, "voice_aliases": {"slow": {"voice": "af_bella", "pitch": 2}}},
            "voice.a, voice_aliases.slow.pitch",
        ),
        ({"normalization_options": {"normalize": True, "emoji": 1}}, "normalization_options.emoji"),
    ],
)
async def test_a_field_without_effect_is_named(fields: dict[str, Any], named: str | None) -> None:
    answer = await asked("/v1/audio/speech", **{"input": "Hi."} | fields)
    assert answer.status == 200
    assert answer.headers.get("X-Warning") == (named and f"no effect: {named}")


async def test_phonemes_leave_most_fields_without_effect() -> None:
    fields = {
        "voice_aliases": {"slow": "af_bella"},
        "normalization_options": {"caps_normalization": False},
        "lang": "es",
        "markup": "tags",
        "allow_voice_tags": True,
    }
    answer = await asked("/v1/audio/speech", phonemes="abc", **fields)
    assert answer.status == 200
    named = "lang, markup, allow_voice_tags, normalization_options, voice_aliases"
    assert answer.headers["X-Warning"] == f"no effect: {named}"


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("/dev/captioned_speech", {"timestamps": "word", "stream_format": "audio"}, "timestamps, stream_format"),
        ("/dev/captioned_speech", {"return_timestamps": False}, None),
        ("/dev/generate_from_phonemes", {"format": "pcm"}, None),
        ("/dev/generate_from_phonemes", {"format": "pcm", "response_format": "mp3"}, "format"),
        ("/dev/dialogue", {"turns": [{"text": "Hi."}], "voice": "af_bella"}, None),
        (
            "/dev/dialogue",
            {
                "turns": [{"text": "Hi.", "voice": "af_bella", "voice_id": "af_heart", "name": "Ann"}],
                "inputs": [{"text": "Ho."}],
                "voice": "af_heart",
            },
            "turns[0].name, voice, turns[0].voice_id, inputs",
        ),
    ],
)
async def test_other_paths_name_fields_without_effect_too(path: str, body: dict[str, Any], named: str | None) -> None:
    text = {"dialogue": {}, "captioned_speech": {"input": "Hi.", "return_timestamps": False}}
    answer = await asked(path, **(text.get(path.rpartition("/")[2], {"phonemes": "abc"}) | body))
    assert answer.status == 200, answer.body
    assert answer.headers.get("X-Warning") == (named and f"no effect: {named}")


async def test_a_user_is_named_where_a_header_names_the_session() -> None:
    async with serving(FakeSpeaker(SOUND)) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "Hi.", "user": "me", "on_busy": "queue"}
        async with client.post("/v1/audio/speech", json=body, headers={"X-Session": "you"}) as response:
            assert response.headers["X-Warning"] == "no effect: user"
        async with client.post("/v1/audio/speech", json=body, headers={"X-Session": ""}) as response:
            assert "X-Warning" not in response.headers


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("GET", "/v1/audio/speech?input=Hi.&instructions=Whisper.&foo=1&foo=2", 200, "foo, instructions"),
        ("GET", "/audio/speech?input=Hi.", 200, None),
        ("POST", "/v1/audio/speech?voice=af_bella", 200, "voice, user"),
        ("GET", "/v1/audio/voices?legacy=true&page_size=10", 200, "page_size"),
        ("HEAD", "/v1/audio/voices?page_size=10", 200, "page_size"),
        ("GET", "/v1/voices?legacy=true", 200, "legacy"),
        ("GET", "/v1/models/kokoro?a[]=1", 200, "a[]"),
        ("GET", "/health?a=1", 200, "a"),
        ("GET", "/?a=1", 200, None),
        ("GET", "/v1/models/nothing?a=1", 404, None),
    ],
)
async def test_an_address_names_its_unknown_parameters(method: str, path: str, status: int, named: str | None) -> None:
    body = {"json": {"input": "Hi.", "user": "me"}, "headers": {"X-Session": "you"}} if method == "POST" else {}
    async with asking(FakeSpeaker(SOUND), path, method=method, **body) as response:
        assert (response.status, response.headers.get("X-Warning")) == (status, named and f"no effect: {named}")
