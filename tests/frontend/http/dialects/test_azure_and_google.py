"""The one-shot calls of Azure's and Google's clients: what is spoken of them, and what they get."""

import base64
import struct
from typing import Any

import aiohttp
import pytest

from frontend.contract.request import SpeechRequest
from frontend.settings.front import FrontSettings
from shm.inflection import Inflection
from tests.engine_infos import kokoro
from tests.frontend.http.test_timestamps_over_http import MARKING, MARKS, MarkedSpeaker
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, asking, serving, speech
from text.markup.marked import MarkupKind

PIECE = speech(24_000)
DOCUMENT = '<speak version="1.0" xml:lang="en-US"><voice name="en-US-JennyNeural">Hello.</voice></speak>'
AZURE, LIST = "/cognitiveservices/v1", "/cognitiveservices/voices/list"
GOOGLE = "/v1/text:synthesize"
SINGING = kokoro("af_heart", "am_michael", "bf_emma", "bm_george", "ff_siwis", inflects=True, marks=True)
KEYED = FrontSettings(api_keys=("open-sesame",))


def kind(audio: bytes) -> tuple[str, int, int, int] | str:
    """A WAV's format tag, rate and bits, with the length that its header says; the first bytes of others."""
    if audio[:4] != b"RIFF":
        return audio[:4].decode("latin-1")
    tag, _, rate, _, _, bits = struct.unpack("<HHIIHH", audio[20:36])
    assert struct.unpack("<I", audio[4:8])[0] == len(audio) - 8
    return {1: "pcm", 6: "alaw", 7: "mulaw"}[tag], rate, bits, len(audio) // 100


async def azure(document: str, wanted: str | None, speaker: FakeSpeaker) -> tuple[int, Any, bytes]:
    headers = {"Ocp-Apim-Subscription-Key": "any", "Content-Type": "application/ssml+xml"}
    headers |= {} if wanted is None else {"X-Microsoft-OutputFormat": wanted}
    async with asking(speaker, AZURE, data=document.encode(), headers=headers) as response:
        return response.status, response.headers, await response.read()


async def google(speaker: FakeSpeaker, path: str = GOOGLE, **body: Any) -> tuple[int, Any, Any]:
    async with asking(speaker, path, json={"input": {"text": "Hello."}, **body}) as response:
        return response.status, response.headers, await response.json()


async def asked(**body: Any) -> SpeechRequest:
    """What is spoken of a body of Google's."""
    speaker = FakeSpeaker(PIECE, engine=SINGING)
    status, _, found = await google(speaker, **body)
    assert status == 200, found
    return speaker.opened[0]


@pytest.mark.parametrize(
    ("wanted", "content_type", "made"),
    [
        (None, "audio/wav", ("pcm", 24_000, 16, 480)),
        ("riff-24khz-16bit-mono-pcm", "audio/wav", ("pcm", 24_000, 16, 480)),
        ("riff-22050hz-16bit-mono-pcm", "audio/wav", ("pcm", 22_050, 16, 441)),
        ("riff-8khz-8bit-mono-mulaw", "audio/wav;rate=8000", ("mulaw", 8_000, 8, 80)),
        ("riff-8khz-8bit-mono-alaw", "audio/wav;rate=8000", ("alaw", 8_000, 8, 80)),
        ("audio-24khz-48kbitrate-mono-mp3", "audio/mpeg", "ÿó"),
        ("ogg-48khz-16bit-mono-opus", "audio/ogg", "OggS"),
        ("raw-8khz-8bit-mono-mulaw", "audio/basic;rate=8000", None),
    ],
)
async def test_azures_formats(wanted: str | None, content_type: str, made: Any) -> None:
    status, headers, audio = await azure(DOCUMENT, wanted, FakeSpeaker(PIECE))
    assert (status, headers["Content-Type"]) == (200, content_type), audio
    if made is None:
        assert len(audio) == 8_000
    else:
        found = kind(audio)
        assert found[:2] == made if made == "ÿó" else found == made


async def test_azures_bare_samples_are_the_engines() -> None:
    assert (await azure(DOCUMENT, "raw-24khz-16bit-mono-pcm", FakeSpeaker(PIECE)))[2] == PIECE.tobytes()


@pytest.mark.parametrize(
    ("document", "wanted", "message"),
    [
        (DOCUMENT, "webm-24khz-16bit-mono-opus", "'webm-24khz-16bit-mono-opus' is none of raw-…-pcm"),
        (DOCUMENT, "audio-24khz-48kbitrate-stereo-mp3", "none of"),
        (DOCUMENT, "audio-17khz-48kbitrate-mono-mp3", "mp3 has no 17000 Hz"),
        (" ", "raw-24khz-16bit-mono-pcm", "`body` is blank"),
    ],
)
async def test_azures_errors_are_a_status_and_a_line(document: str, wanted: str, message: str) -> None:
    status, headers, body = await azure(document, wanted, FakeSpeaker(PIECE))
    assert (status, headers["Content-Type"]) == (400, "text/plain")
    assert message in body.decode()


async def test_azures_document_is_spoken_as_ssml_and_says_what_it_cannot() -> None:
    speaker = FakeSpeaker(PIECE)
    styled = DOCUMENT.replace("Hello.", '<mstts:express-as style="sad">Hello.</mstts:express-as>')
    _, headers, _ = await azure(styled, None, speaker)
    assert (speaker.opened[0].markup, speaker.opened[0].text) == (MarkupKind.SSML, styled)
    assert headers["X-Warning"] == "no effect: ssml.mstts:express-as"


async def test_azures_clients_trade_their_key_for_a_token_that_is_one() -> None:
    async with serving(FakeSpeaker(PIECE), KEYED) as server, aiohttp.ClientSession(server.url) as client:
        key = {"Ocp-Apim-Subscription-Key": "open-sesame"}
        async with client.post("/sts/v1.0/issueToken", headers=key) as answer:
            token = await answer.text()
        for headers, status in (
            ({"Authorization": f"Bearer {token}"}, 200),
            (key, 200),
            ({"Ocp-Apim-Subscription-Key": "open"}, 401),
        ):
            async with client.post(AZURE, data=DOCUMENT, headers=headers) as answer:
                assert answer.status == status
        async with client.post("/sts/v1.0/issueToken", headers={"Ocp-Apim-Subscription-Key": "x"}) as answer:
            assert (answer.status, answer.content_type) == (401, "text/plain")


async def test_the_voices_have_the_services_own_shapes() -> None:
    async with asking(FakeSpeaker(), LIST, method="GET") as response:
        heart = next(voice for voice in await response.json() if voice["ShortName"] == "af_heart")
    assert (heart["Gender"], heart["Locale"], heart["SampleRateHertz"]) == ("Female", "en-US", "24000")
    of_google = {"X-Goog-User-Project": "any"}
    for path in ("/v1/voices?languageCode=cmn-CN", "/v1beta1/voices?languageCode=zh"):
        async with asking(FakeSpeaker(), path, method="GET", headers=of_google) as response:
            assert "X-Warning" not in response.headers
            [chinese] = (await response.json())["voices"]
        assert chinese["languageCodes"] == ["zh-CN"] and chinese["ssmlGender"] == "FEMALE"
    async with asking(FakeSpeaker(), "/v1/voices?key=any", method="GET") as response:
        assert len((await response.json())["voices"]) == len(ENGINE.voices)
    async with asking(FakeSpeaker(), "/v1/voices?languageCode=zh", method="GET") as response:
        assert "voice_id" in (await response.json())["voices"][0], "nobody of Google's asks"


@pytest.mark.parametrize(
    ("voice", "name"),
    [
        ({"languageCode": "en-US", "name": "en-US-Neural2-A"}, "am_michael"),
        ({"languageCode": "en-US", "name": "af_heart"}, "af_heart"),
        ({"languageCode": "en-US", "ssmlGender": "MALE"}, "am_michael"),
        ({"languageCode": "en-GB", "ssmlGender": 1}, "bm_george"),
        ({"languageCode": "en-GB", "ssmlGender": 2}, "bf_emma"),
        ({"languageCode": "en-GB", "ssmlGender": "SSML_VOICE_GENDER_UNSPECIFIED"}, "bf_emma"),
        ({"languageCode": "fr-FR", "ssmlGender": "MALE"}, "ff_siwis"),
        ({"languageCode": "de-DE"}, "af_heart"),
        ({}, "af_heart"),
    ],
)
async def test_googles_voice_is_chosen_by_name_or_by_language_and_gender(voice: dict[str, Any], name: str) -> None:
    assert (await asked(voice=voice)).voice == ((name, 1.0),)


async def test_googles_settings_are_followed() -> None:
    found = await asked(audioConfig={"speakingRate": 1.5, "pitch": -20, "volumeGainDb": 6})
    assert (found.speed, found.inflection) == (1.5, Inflection(pitch=-12.0, volume=6.0))
    assert (await asked(audioConfig={"speakingRate": 0})).speed == 1.0
    assert (
        await asked(input={"markup": "One. [pause long] Two [pause]."})
    ).text == "One. [pause:0.8s] Two [pause:0.4s]."
    assert (await asked(input={"ssml": DOCUMENT})).markup is MarkupKind.SSML


@pytest.mark.parametrize(
    ("audio", "made"),
    [
        ({}, ("pcm", 24_000, 16, 480)),
        ({"audioEncoding": "LINEAR16", "sampleRateHertz": 16_000}, ("pcm", 16_000, 16, 320)),
        ({"audioEncoding": 2}, "ÿó"),
        ({"audioEncoding": "MP3_64_KBPS"}, "ÿó"),
        ({"audioEncoding": 3, "sampleRateHertz": 0}, "OggS"),
        ({"audioEncoding": "MULAW"}, ("mulaw", 8_000, 8, 80)),
        ({"audioEncoding": 6, "sampleRateHertz": 16_000}, ("alaw", 16_000, 8, 160)),
    ],
)
async def test_googles_encodings(audio: dict[str, Any], made: Any) -> None:
    status, _, found = await google(FakeSpeaker(PIECE), audioConfig=audio)
    assert status == 200 and set(found) == {"audioContent"}, found
    heard = kind(base64.b64decode(found["audioContent"]))
    assert heard[:2] == made if made == "ÿó" else heard == made


@pytest.mark.parametrize("wanted", [["SSML_MARK"], [1]])
async def test_googles_marks_have_their_times(wanted: list[Any]) -> None:
    speaker = MarkedSpeaker(engine=MARKING)
    _, _, found = await google(speaker, "/v1beta1/text:synthesize", input={"ssml": DOCUMENT}, enableTimePointing=wanted)
    assert found["timepoints"] == [{"markName": mark["name"], "timeSeconds": mark["time"]} for mark in MARKS]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"voice": {"languageCode": "en-US", "name": "en-US-Nobody"}}, "No voice is called 'en-US-Nobody'"),
        ({"audioConfig": {"audioEncoding": "M4A"}}, "'M4A' is none of LINEAR16"),
        ({"audioConfig": {"audioEncoding": 8}}, "'8' is none of LINEAR16"),
        ({"audioConfig": {"pitch": 21}}, "audioConfig.pitch"),
        ({"input": {"text": "a", "ssml": DOCUMENT}}, "give one of text, ssml and markup"),
        ({"input": {}}, "give one of text, ssml and markup"),
    ],
)
async def test_googles_errors_have_its_shape(body: dict[str, Any], message: str) -> None:
    status, _, found = await google(FakeSpeaker(PIECE), **body)
    assert (status, found["error"]["code"], found["error"]["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert message in found["error"]["message"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (f"{GOOGLE}?key=open-sesame", {}, 200),
        (GOOGLE, {"X-Goog-Api-Key": "open-sesame"}, 200),
        (f"{GOOGLE}?key=open", {}, 401),
        (GOOGLE, {}, 401),
    ],
)
async def test_googles_key_stands_in_the_address_or_in_a_header(
    path: str, headers: dict[str, str], status: int
) -> None:
    body = {"input": {"text": "Hello."}, "audioConfig": {"effectsProfileId": ["x"], "pitch": 1}}
    async with asking(FakeSpeaker(PIECE), path, KEYED, json=body, headers=headers) as response:
        assert response.status == status
        if status == 200:
            assert response.headers["X-Warning"] == "no effect: audioConfig.effectsProfileId, audioConfig.pitch"
        else:
            assert (await response.json())["error"]["status"] == "UNAUTHENTICATED"
