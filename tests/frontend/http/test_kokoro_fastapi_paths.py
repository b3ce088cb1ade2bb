"""Kokoro-FastAPI's further paths: captions, phonemes, names of voices and SSML."""

import json

import aiohttp
import msgspec
import pytest

from frontend.contract.request import SpeechRequest
from frontend.dialects.kokoro_fastapi import Blend, SsmlParts
from shm.timing import WordTiming
from tests.frontend.http.kokoro_fastapi import BELLA, SOUND, Answer, asked, refusal, request_of
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, FakeStream, asking, serving


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
    assert (parts.break_strengths["medium"], parts.rate_range) == (0.4, [0.25, 4.0])
    assert {"voice", "prosody", "break"} <= {*parts.elements}
