"""Kokoro-FastAPI's clients: requests as its integration tests and dialogue examples send them, and what those check.

They read durations, shapes and statuses; its speech recognition has no place here.
"""

from __future__ import annotations

import base64
import io
import wave
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.lazy import Lazy
from tests.miniature import make_miniature, make_voices
from tests.system.server import Server, server

if TYPE_CHECKING:
    from openai import OpenAI

openai = Lazy("openai")
TEXT = "The quick brown fox jumps over the lazy dog and keeps on running through the open field."
REL = 0.15
VOICES = ("af_heart", "af_bella", "am_michael", "bm_george")


@pytest.fixture(scope="module")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("model")
    model = make_miniature(folder / "miniature.onnx", style=True, duration=True)
    voices = make_voices(folder / "voices.bin", VOICES)
    with server("--engine", "kokoro", "--model", str(model), "--voices", str(voices)) as started:
        yield started


@pytest.fixture
def client(miniature: Server) -> Iterator[OpenAI]:
    with openai.OpenAI(base_url=f"http://127.0.0.1:{miniature.port}/v1", api_key="not-needed", max_retries=0) as made:
        yield made


def seconds(audio: bytes) -> float:
    with wave.open(io.BytesIO(audio)) as file:
        width = file.getframerate() * file.getnchannels() * file.getsampwidth()
    return (len(audio) - audio.find(b"data") - 8) / width


def spoken(client: OpenAI, text: str = TEXT, voice: str = "af_bella", **extra: Any) -> float:
    """Seconds of a text, asked for as Kokoro-FastAPI's tests do."""
    found = client.audio.speech.create(
        model="tts-1", voice=voice, input=text, response_format="wav", extra_body=extra or None
    )
    return seconds(found.content)


def test_paces_are_those_of_fields_tags_aliases_and_ssml(client: OpenAI, miniature: Server) -> None:
    baseline = spoken(client)
    slowpoke = {"slowpoke": {"voice": "af_bella", "rate": 0.8}}
    assert spoken(client, speed=0.5) / baseline == pytest.approx(2.0, rel=REL)
    assert spoken(client, f"[rate:0.5] {TEXT}", allow_voice_tags=True) / baseline == pytest.approx(2.0, rel=REL)
    by_both = spoken(client, f"[rate:1.1] {TEXT}", "slowpoke", voice_aliases=slowpoke, allow_voice_tags=True)
    assert by_both / baseline == pytest.approx(1 / 0.88, rel=REL) and by_both > baseline
    assert spoken(client, voice="slowpoke", voice_aliases=slowpoke) / baseline == pytest.approx(1 / 0.8, rel=REL)
    document = f'<speak><prosody rate="slow">{TEXT}</prosody></speak>'
    status, translated = miniature.post("/dev/ssml", {"text": document, "voice": "af_bella"})
    assert status == 200 and "[rate:0.75]" in translated["text"]
    slow = spoken(client, translated["text"], allow_voice_tags=True)
    assert slow / baseline == pytest.approx(1 / 0.75, rel=REL)


def dialogue(miniature: Server, turns: list[tuple[str, str]], **extra: Any) -> tuple[int, Any]:
    asked = [{"voice": voice, "text": text} for voice, text in turns]
    body = {"model": "kokoro", "turns": asked, "response_format": "wav", "stream": False}
    return miniature.post("/dev/dialogue", body | extra)


def test_a_pause_between_turns_lengthens_the_dialogue(miniature: Server) -> None:
    turns = [("af_bella", "First line of it."), ("am_michael", "Second line of it."), ("af_bella", "And a third.")]
    _, tight = dialogue(miniature, turns, pause_between_turns=0.0)
    _, spaced = dialogue(miniature, turns, pause_between_turns=1.0)
    assert 1.0 < seconds(spaced) - seconds(tight) < 3.0


def test_a_dialogues_end_is_the_last_speakers(miniature: Server) -> None:
    last = "Goodbye for now, talk again soon."
    _, mixed = dialogue(miniature, [("af_bella", "Hello there friend."), ("bm_george", last)])
    _, george = dialogue(miniature, [("bm_george", last)])
    _, bella = dialogue(miniature, [("af_bella", last)])
    assert mixed.endswith(george[-20_000:]) and not mixed.endswith(bella[-20_000:])


def test_an_unknown_voice_is_refused_before_the_first_sound(miniature: Server) -> None:
    tagged = {"input": "Narrator. [voice:not_a_real_voice] Nope.", "allow_voice_tags": True}
    assert miniature.speak(**tagged).status == 400
    assert dialogue(miniature, [("af_bella", "Fine."), ("not_a_real_voice", "Nope.")])[0] == 400
    assert miniature.speak(input="He said [voice:not_a_real_voice] and left.").status == 200


def test_captions_carry_the_voice_that_speaks(miniature: Server) -> None:
    script = "[voice:af_bella] So it was caught? [voice:am_michael] It was. [voice:bm_george] That is the point."
    body = {"model": "kokoro", "input": script, "voice": "af_heart", "stream": False, "allow_voice_tags": True}
    status, found = miniature.post("/dev/captioned_speech", body)
    assert status == 200 and base64.b64decode(found["audio"])
    speakers = dict.fromkeys(stamp["voice"] for stamp in found["timestamps"])
    assert [*speakers] == ["af_bella", "am_michael", "bm_george"]
    _, plain = miniature.post("/dev/captioned_speech", body | {"allow_voice_tags": False})
    assert {stamp["voice"] for stamp in plain["timestamps"]} == {None}, "its examples read the field all the same"
    starts = [stamp["start_time"] for stamp in found["timestamps"]]
    assert starts == sorted(starts) and starts[-1] > starts[0]


def test_pauses_and_pronunciations_need_no_field(client: OpenAI) -> None:
    assert spoken(client, f"One. [pause:2s] {TEXT}") - spoken(client, f"One. {TEXT}") > 1.0


def test_the_combined_voice_is_a_name_to_speak_with(client: OpenAI, miniature: Server) -> None:
    status, blend = miniature.post("/v1/audio/voices/combine", "af_bella(2)+af_heart(1)")
    assert status == 200 and spoken(client, "Test.", blend["id"]) > 0.1
