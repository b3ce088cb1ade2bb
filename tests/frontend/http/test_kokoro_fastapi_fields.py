"""Kokoro-FastAPI's fields and routes: each does something, or is named in the answer as having no effect."""

from __future__ import annotations

import io
import json
import wave
from typing import Any

import aiohttp
import msgspec
import numpy as np
import pytest

from frontend.contract.performer import DialogueTurn, Performer
from frontend.contract.request import MarkupKind, SpeechRequest
from frontend.contract.word_timing import WordTiming
from frontend.http.downloads import KEPT_BYTES, KEPT_SECONDS, Downloads, _file_name
from frontend.http.openapi import answers
from frontend.text.normalization.settings import RULES
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, FakeStream, serving, speech

SOUND = speech(4800)
HEART, BELLA = Performer((("af_heart", 1.0),), "en-us"), Performer((("af_bella", 1.0),), "en-us")


class Answer:
    """One answer."""

    def __init__(self, response: aiohttp.ClientResponse, body: bytes) -> None:
        self.status, self.headers, self.body = response.status, response.headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def asked(path: str, speaker: FakeSpeaker | None = None, **body: Any) -> Answer:
    async with (
        serving(speaker or FakeSpeaker(SOUND)) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post(path, json=body) as response,
    ):
        return Answer(response, await response.read())


async def request_of(path: str = "/v1/audio/speech", **body: Any) -> SpeechRequest:
    """The speech request that an accepted call becomes."""
    speaker = FakeSpeaker(SOUND)
    answer = await asked(path, speaker, **body)
    assert answer.status == 200, answer.body
    return speaker.opened[0]


async def refusal(path: str = "/v1/audio/speech", **body: Any) -> tuple[int, str, str]:
    answer = await asked(path, **body)
    error = answer.json["error"]
    return answer.status, error["code"], error["param"]


@pytest.mark.parametrize(
    ("fields", "markup"),
    [
        ({}, MarkupKind.BASIC),
        ({"allow_voice_tags": True}, MarkupKind.TAGS),
        ({"allow_voice_tags": True, "ssml": True}, MarkupKind.SSML),
        ({"allow_voice_tags": False, "ssml": False}, MarkupKind.BASIC),
        ({"allow_voice_tags": True, "markup": "none"}, MarkupKind.NONE),
    ],
)
async def test_tags_and_ssml_are_asked_for_by_their_fields(fields: dict[str, Any], markup: MarkupKind) -> None:
    assert (await request_of(input="Hi.", **fields)).markup is markup


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
    assert (await request_of(input="Hi.", normalization_options={"normalize": False})).rules_off == RULES
    some = {"unit_normalization": False, "phone_normalization": False, "url_normalization": True}
    assert (await request_of(input="Hi.", normalization_options=some)).rules_off == (
        "normalize_phones",
        "normalize_units",
    )
    addresses = {"url_normalization": False, "email_normalization": False}
    assert (await request_of(input="Hi.", normalization_options=addresses)).rules_off == ("normalize_web_addresses",)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"voice": "af_heart", "model": "tts-1", "speed": 1.0, "allow_voice_tags": True}, None),
        ({"foo": 1, "instructions": "Whisper."}, "foo, instructions"),
        ({"model": "gpt-5", "return_timing": True, "download_format": "wav"}, "model, return_timing, download_format"),
        ({"markup": "none", "allow_voice_tags": True, "ssml": True}, "allow_voice_tags, ssml"),
        (
            {"normalization_options": {"caps_normalization": False, "url_normalization": False}},
            "normalization_options.caps_normalization, normalization_options.url_normalization",
        ),
        ({"\r\nSet-Cookie": 1, "ok": 2}, "ok, 1 more"),
        ({"text": "Ho.", "format": "wav", "response_format": "pcm"}, "text, format"),
    ],
)
async def test_a_field_without_effect_is_named(fields: dict[str, Any], named: str | None) -> None:
    answer = await asked("/v1/audio/speech", input="Hi.", **fields)
    assert answer.status == 200
    assert answer.headers.get("X-Warning") == (named and f"no effect: {named}")


async def test_an_address_names_its_unknown_fields_too() -> None:
    async with (
        serving(FakeSpeaker(SOUND)) as server,
        aiohttp.ClientSession(server.url) as client,
        client.get("/v1/audio/speech", params={"input": "Hi.", "foo": "1"}) as response,
    ):
        assert (response.status, response.headers["X-Warning"]) == (200, "no effect: foo")


@pytest.mark.parametrize("path", ["/v1/audio/dialogue", "/dev/dialogue"])
async def test_a_dialogue_is_its_turns_each_with_its_voice(path: str) -> None:
    body = {
        "turns": [{"voice": "narrator", "text": "One."}, {"voice": "zf_xiaobei", "text": "Two."}, {"text": "Three."}],
        "voice": "af_heart",
        "voice_aliases": {"narrator": "af_bella"},
        "pause_between_turns": 0.5,
    }
    asked_for = await request_of(path, **body)
    xiaobei = Performer((("zf_xiaobei", 1.0),), "cmn")
    assert asked_for.turns == (
        DialogueTurn("One.", BELLA, 0.5),
        DialogueTurn("Two.", xiaobei, 0.5),
        DialogueTurn("Three.", HEART, 0.5),
    )
    assert asked_for.text == "One.\nTwo.\nThree."


async def test_a_dialogue_takes_elevenlabs_names_and_names_of_unknown_fields() -> None:
    answer = await asked("/dev/dialogue", inputs=[{"voice_id": "af_bella", "text": "One."}], foo=1)
    assert (answer.status, answer.headers["X-Warning"]) == (200, "no effect: foo")
    asked_for = await request_of("/dev/dialogue", inputs=[{"voice_id": "af_bella", "text": "One."}])
    assert asked_for.turns == (DialogueTurn("One.", BELLA),)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (400, "missing_required", "turns")),
        ({"turns": []}, (400, "invalid_value", "turns")),
        ({"turns": [{"text": "Hi."}, {"text": " "}]}, (400, "unspeakable", "turns[1].text")),
        ({"inputs": [{"text": ""}]}, (400, "unspeakable", "inputs[0].text")),
        ({"turns": [{"text": "Hi."}, {"voice": "nobody", "text": "Hi."}]}, (400, "unknown_voice", "turns[1].voice")),
        ({"turns": [{"text": "Hi."}], "input": "Hi."}, (400, "invalid_value", "input")),
        ({"turns": [{"text": "Hi."}], "pause_between_turns": 11}, (400, "invalid_value", "pause_between_turns")),
        ({"turns": [{"text": "x" * 60_000}] * 2}, (400, "string_above_max_length", "input")),
    ],
)
async def test_a_dialogue_says_which_turn_is_wrong(body: dict[str, Any], expected: tuple[int, str, str]) -> None:
    assert await refusal("/v1/audio/dialogue", **body) == expected


def marking(*steps: Any) -> FakeSpeaker:
    return FakeSpeaker(*steps, engine=msgspec.structs.replace(ENGINE, marks=True))


class TalkingSpeaker(FakeSpeaker):
    """Its words name voices."""

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


async def test_the_download_is_the_whole_file_once_the_response_has_ended() -> None:
    async with serving(FakeSpeaker(SOUND)) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "Hi.", "response_format": "pcm", "return_download_link": True, "download_format": "wav"}
        async with client.post("/v1/audio/speech", json=body) as response:
            path = response.headers["X-Download-Path"]
            pcm = await response.read()
        async with client.get(path, params={"name": "../my talk.mp3"}) as response:
            assert (response.status, response.content_type) == (200, "audio/wav")
            assert response.headers["Content-Disposition"] == 'attachment; filename="my_talk.wav"'
            with wave.open(io.BytesIO(await response.read())) as file:
                assert file.readframes(file.getnframes()) == pcm == SOUND.tobytes()
        async with client.get("/v1/download/other.wav") as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "download_not_found")


async def test_a_response_that_breaks_has_no_download() -> None:
    speaker = FakeSpeaker(SOUND, RuntimeError("broken"))
    async with serving(speaker) as server, aiohttp.ClientSession(server.url) as client:
        body = {"input": "Hi.", "response_format": "pcm", "return_download_link": True}
        async with client.post("/v1/audio/speech", json=body) as response:
            path = response.headers["X-Download-Path"]
            with pytest.raises(aiohttp.ClientError):
                await response.read()
        async with client.get(path) as response:
            assert response.status == 404


class FakeEncoders:
    """Opens encodings that give their samples as bytes."""

    def open(self, *_: object, **__: object) -> FakeEncoders:
        return self

    given_out = 0.0
    bytes_per_second = 48_000.0

    async def encode(self, pcm: np.ndarray) -> bytes:
        return pcm.tobytes()

    async def finish(self) -> bytes:
        return b""

    def close(self) -> None: ...


async def kept(store: Downloads, samples: int) -> str:
    recording = store.begin(FakeEncoders(), "pcm", 24_000)  # type: ignore[arg-type]
    await recording.encode(np.zeros(samples, np.int16))
    await recording.finish()
    return recording.path.rpartition("/")[2]


async def test_downloads_are_bounded_in_number_age_and_length() -> None:
    now = 0.0
    store = Downloads(FakeEncoders(), 2e6, lambda: now)  # type: ignore[arg-type]
    first = await kept(store, 10)
    assert [*store._kept] == [first]
    now = KEPT_SECONDS
    second = await kept(store, KEPT_BYTES // 4)
    assert [*store._kept] == [second]
    third = await kept(store, KEPT_BYTES // 2 - 1)
    assert [*store._kept] == [third]
    short = Downloads(FakeEncoders(), 1.0, lambda: now)  # type: ignore[arg-type]
    await kept(short, 24_001)
    assert not short._kept


@pytest.mark.parametrize(
    ("wanted", "saved"),
    [
        ("", "t.mp3"),
        ("af_bella+af_sky", "af_bella_af_sky.mp3"),
        ("report.wav", "report.mp3"),
        ("../../etc/passwd", "etc_passwd.mp3"),
        ('bad";\r\nname', "bad_name.mp3"),
        ("...", "t.mp3"),
        ("é" * 200, "t.mp3"),
        ("x" * 200, f"{'x' * 100}.mp3"),
    ],
)
def test_a_saved_files_name_is_safe(wanted: str, saved: str) -> None:
    assert _file_name(wanted, "t.mp3") == saved


async def test_voices_are_names_for_older_clients() -> None:
    async with serving(FakeSpeaker()) as server, aiohttp.ClientSession(server.url) as client:
        async with client.get("/v1/audio/voices?legacy=true") as response:
            assert await response.json() == {"voices": [*ENGINE.voices], "default_voice": "af_heart"}
        async with client.get("/v1/audio/voices?legacy=false") as response:
            assert (await response.json())["voices"][0]["id"] == "af_heart"
        async with client.get("/v1/audio/voices?legacy=perhaps") as response:
            assert response.status == 400
        async with client.get("/v1/test") as response:
            assert (response.status, await response.json()) == (200, {"status": "ok"})


async def posted(path: str, data: object) -> Answer:
    async with (
        serving(FakeSpeaker()) as server,
        aiohttp.ClientSession(server.url) as client,
        client.post(path, json=data) as response,
    ):
        return Answer(response, await response.read())


@pytest.mark.parametrize("spec", ["af_bella(2)+af_heart(1)", ["af_bella(2)", "af_heart"]])
async def test_combined_voices_are_a_name_that_can_be_spoken_with(spec: object) -> None:
    answer = await posted("/v1/audio/voices/combine", spec)
    blend = msgspec.json.decode(answer.body, type=answers.Blend)
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


async def test_without_a_voice_ssmls_voices_and_paces_are_left_out() -> None:
    document = '<speak>one <voice name="x"><prosody rate="slow">two</prosody></voice></speak>'
    assert (await posted("/dev/ssml", {"text": document})).json == {"text": "one two"}


async def test_ssml_that_can_not_be_read_is_refused() -> None:
    for document in ("<speak>unclosed <voice>", '<!DOCTYPE speak [<!ENTITY a "aaa">]><speak>&a;</speak>'):
        assert (await posted("/dev/ssml", {"text": document})).status == 400
    assert (await posted("/dev/ssml", {})).json["error"]["param"] == "text"


async def test_the_known_part_of_ssml_is_described() -> None:
    async with (
        serving(FakeSpeaker()) as server,
        aiohttp.ClientSession(server.url) as client,
        client.get("/dev/ssml") as response,
    ):
        body = await response.read()
    parts = msgspec.json.decode(body, type=answers.SsmlParts)
    assert (parts.break_strengths["medium"], parts.rate_range) == (0.4, [0.25, 4.0])
    assert {"voice", "prosody", "break"} <= {*parts.elements}
