"""Kokoro-FastAPI's requests: each field has its effect or is named; captions, phonemes, names of voices and SSML."""

import json
from typing import Any

import aiohttp
import msgspec
import numpy as np
import pytest

from frontend.contract.request import SpeechRequest
from frontend.dialects.kokoro_fastapi import Blend, SsmlParts
from shm.timing import WordTiming
from tests.frontend.http.kokoro_fastapi import BELLA, SOUND, Answer, asked, refusal, request_of
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, FakeStream, asking, serving
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
    assert (await request_of(input="Hi.", normalization_options=some)).rules_off == ("phones", "units")
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
            {"markup": "ssml", "input": "<speak><amazon:effect><emphasis>a</emphasis></amazon:effect></speak>"},
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


class TalkingSpeaker(FakeSpeaker):
    def open(self, request: SpeechRequest) -> FakeStream:
        stream = super().open(request)
        stream.words = [WordTiming("Hi", "Hi", 0.0, 0.1), WordTiming("Ho", "Ho", 0.1, 0.2, "af_bella")]
        return stream


TALKING = msgspec.structs.replace(ENGINE, marks=True)


async def test_captions_name_the_voices_where_voices_may_change() -> None:
    for stream in (True, False):
        speaker = TalkingSpeaker(SOUND, engine=TALKING)
        body = {"input": "Hi Ho", "voice": "af_heart", "stream": stream, "allow_voice_tags": True}
        answer = await asked("/dev/captioned_speech", speaker, **body)
        words = [word for line in answer.body.splitlines() for word in json.loads(line)["timestamps"]]
        assert [(word["word"], word["voice"]) for word in words] == [("Hi", "af_heart"), ("Ho", "af_bella")]


async def test_captions_without_times_need_no_engine_that_knows_them() -> None:
    answer = await asked("/dev/captioned_speech", input="Hi.", stream=False, return_timestamps=False)
    assert (answer.status, answer.json["timestamps"]) == (200, None)
    assert (await asked("/dev/captioned_speech", input="Hi.", stream=False)).status == 400


async def test_phonemes_are_spoken_as_wav_where_no_format_is_named() -> None:
    speaker = FakeSpeaker(SOUND)
    answer = await asked("/dev/generate_from_phonemes", speaker, phonemes="abc", voice="af_bella")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "audio/wav")
    assert (speaker.opened[0].phonemes, speaker.opened[0].voice) == (True, BELLA.voice)
    assert await refusal("/dev/generate_from_phonemes", voice="af_bella") == (400, "missing_required", "phonemes")


async def test_voices_are_names_for_older_clients() -> None:
    async with serving(FakeSpeaker()) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get("/v1/audio/voices?legacy=true") as response:
            assert await response.json() == {
                "voices": [*ENGINE.voice_names],
                "default_voice": "af_heart",
                "default_speed": 1.0,
            }
        async with client.get("/v1/audio/voices?legacy=false") as response:
            assert (await response.json())["voices"][0]["id"] == "af_heart"
        async with client.get("/v1/audio/voices?legacy=perhaps") as response:
            assert response.status == 400
        async with client.get("/v1/test") as response:
            assert (response.status, await response.json()) == (200, {"status": "ok"})


async def posted(path: str, data: object) -> Answer:
    async with asking(FakeSpeaker(), path, json=data) as response:
        return Answer(response, await response.read())


@pytest.mark.parametrize("spec", ["af_bella(2)+af_heart(1)", ["af_bella(2)", "af_heart"]])
async def test_combined_voices_are_a_name_that_can_be_spoken_with(spec: object) -> None:
    answer = await posted("/v1/audio/voices/combine", spec)
    blend = msgspec.json.decode(answer.body, type=Blend)
    assert (answer.status, blend.id) == (200, "af_bella(0.6667)+af_heart(0.3333)")
    voice = dict((await request_of(input="Hi.", voice=blend.id)).voice)
    assert voice == pytest.approx({"af_bella": 2 / 3, "af_heart": 1 / 3}, abs=1e-3)


@pytest.mark.parametrize("spec", ["af_bella+nobody", [], 5])
async def test_what_is_no_blend_is_refused(spec: object) -> None:
    assert (await posted("/v1/audio/voices/combine", spec)).status == 400


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("Hello [pause:1s]", "Hello [pause:1s]"),
        ('<speak>Hi<break time="750ms"/>there</speak>', "Hi [pause:0.75s] there"),
        ('<speak><phoneme alphabet="ipa" ph="wˈʊstər">Worcester</phoneme></speak>', "[Worcester](/wˈʊstər/)"),
        ('<speak><sub alias="World Wide Web">WWW</sub></speak>', "World Wide Web"),
        (
            '<speak>one <voice name="am_michael">two</voice> three</speak>',
            "one [voice:am_michael] two [voice:af_bella] three",
        ),
        ('<speak>one <prosody rate="slow">two</prosody> three</speak>', "one [rate:0.75] two [rate:1] three"),
        (
            '<speak><prosody rate="slow">a <voice name="am_michael">b</voice> c</prosody></speak>',
            "[rate:0.75] a [voice:am_michael] [rate:0.75] b [voice:af_bella] [rate:0.75] c",
        ),
        ("<speak><p><s>One.</s> <s>Two.</s></p><p>Three.</p></speak>", "One. Two.\n\nThree."),
    ],
)
async def test_ssml_becomes_a_text_with_tags(document: str, text: str) -> None:
    answer = await posted("/dev/ssml", {"text": document, "voice": "af_bella"})
    assert (answer.status, answer.json) == (200, {"text": text})


@pytest.mark.parametrize("text", ["Hello.", "<speak>Hello.</speak>"])
async def test_ssmls_fields_without_effect_are_named(text: str) -> None:
    answer = await posted("/dev/ssml", {"text": text, "input": "Ho.", "speed": 2})
    assert (answer.json, answer.headers["X-Warning"]) == ({"text": "Hello."}, "no effect: speed, input")


async def test_without_a_voice_ssmls_voices_and_paces_are_left_out() -> None:
    document = '<speak>one <voice name="x"><prosody rate="slow">two</prosody></voice></speak>'
    assert (await posted("/dev/ssml", {"text": document})).json == {"text": "one two"}


async def test_ssml_that_can_not_be_read_is_refused() -> None:
    for document in ("<speak>unclosed <voice>", '<!DOCTYPE speak [<!ENTITY a "aaa">]><speak>&a;</speak>'):
        assert (await posted("/dev/ssml", {"text": document})).status == 400
    assert (await posted("/dev/ssml", {})).json["error"]["param"] == "text"


async def test_the_known_part_of_ssml_is_described() -> None:
    async with asking(FakeSpeaker(), "/dev/ssml", method="GET") as response:
        body = await response.read()
    parts = msgspec.json.decode(body, type=SsmlParts)
    assert (parts.break_strengths["medium"], parts.rate_range) == (0.4, [0.25, 5.0])
    assert {"voice", "prosody", "break"} <= {*parts.elements}
