"""Manners of speaking in plain words, and in other services' numbers: what they come to, and what is named instead."""

from typing import Any

import msgspec
import pytest

from frontend.contract.request import SpeechRequest
from frontend.speech.manner import DEGREES, MANNERS, MannerOfSpeaking, manner_of
from shm.inflection import Inflection
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, asking, speech

INFLECTING = msgspec.structs.replace(ENGINE, inflects=True)
ELEVENLABS, CARTESIA, OPENAI = "/v1/text-to-speech/af_heart", "/tts/bytes", "/v1/audio/speech"


@pytest.mark.parametrize(
    ("text", "speed", "inflection", "unknown"),
    [
        ("", 1.0, Inflection(), []),
        ("Slower.", 0.85, Inflection(), []),
        ("Please speak very slowly", 0.85**1.5, Inflection(), []),
        ("a bit deeper", 1.0, Inflection(pitch=-1.0), []),
        ("Speak in a calm, quiet tone.", 0.92, Inflection(pitch=-0.5, range=0.8, volume=-6.0), []),
        ("sadness:low", 0.88**0.5, Inflection(pitch=-0.5, range=0.7**0.5, volume=-1.0), []),
        ("Whisper like a pirate, excited", 1.08, Inflection(pitch=1.5, range=1.35), ["whisper", "pirate"]),
        ("not too fast", 1.0, Inflection(), ["not-fast"]),
        ("Don't be sad.", 1.0, Inflection(), ["don't-sad"]),
    ],
)
def test_words_come_to_what_the_table_says(text: str, speed: float, inflection: Inflection, unknown: list[str]) -> None:
    found, left = manner_of(text)
    assert found.speed == pytest.approx(speed)
    for field in ("pitch", "range", "volume"):
        assert getattr(found.inflection, field) == pytest.approx(getattr(inflection, field)), field
    assert left == unknown


def test_every_word_of_the_table_is_understood_alone_and_by_degrees() -> None:
    for word, manner in MANNERS.items():
        assert manner_of(word) == (manner, []), word
        for degree in DEGREES.keys() - MANNERS.keys():
            assert manner_of(f"{degree} {word}") == (manner.times(DEGREES[degree]), []), (degree, word)


async def asked(path: str, body: dict[str, Any], inflects: bool = True) -> tuple[SpeechRequest, str | None]:
    speaker = FakeSpeaker(speech(10), engine=INFLECTING if inflects else ENGINE)
    async with asking(speaker, path, json=body) as response:
        assert response.status == 200, await response.text()
        return speaker.opened[0], response.headers.get("X-Warning")


@pytest.mark.parametrize(
    ("path", "body", "speed", "inflection", "warning"),
    [
        (OPENAI, {"instructions": "faster, deeper"}, 1.2, Inflection(pitch=-2.0), None),
        (OPENAI, {"instructions": "Whisper. Slower."}, 0.85, Inflection(), "instructions.whisper"),
        (OPENAI, {"instructions": "Like a pirate."}, 1.0, Inflection(), "instructions"),
        (OPENAI, {"instructions": ["louder"], "pitch": 1}, 1.0, Inflection(pitch=1.0, volume=3.0), None),
        (OPENAI, {"volume": -6, "expression": 0.5}, 1.0, Inflection(volume=-6.0, range=0.5), None),
        (OPENAI, {"pitch_range": 3, "expression": 0.5}, 1.0, Inflection(range=1.5), None),
        (OPENAI, {"pitch_range": 3, "expression": 2}, 1.0, Inflection(range=3.0), None),
        (OPENAI, {"pitch_range": 0}, 1.0, Inflection(range=0.0), None),
        (
            OPENAI,
            {"input": '<speak><prosody contour="(0%,+2st)">A.</prosody></speak>', "markup": "ssml"},
            1.0,
            Inflection(),
            "ssml.prosody.contour",
        ),
        (ELEVENLABS, {"voice_settings": {"stability": 0.5, "style": 0}}, 1.0, Inflection(), None),
        (ELEVENLABS, {"voice_settings": {"stability": 0.1, "style": 0.4}}, 1.0, Inflection(range=1.4), None),
        (ELEVENLABS, {"voice_settings": {"stability": 7}}, 1.0, Inflection(range=0.75), None),
        (CARTESIA, {"generation_config": {"volume": 2}}, 1.0, Inflection(volume=6.0206), None),
        (
            CARTESIA,
            {"generation_config": {"emotion": ["excited", "proud"]}},
            1.08,
            Inflection(pitch=1.5, range=1.35),
            "generation_config.emotion.proud",
        ),
    ],
)
async def test_fields_reach_the_request(
    path: str, body: dict[str, Any], speed: float, inflection: Inflection, warning: str | None
) -> None:
    text = {"input": "A."} if path == OPENAI else {"text": "A."} if path == ELEVENLABS else {"transcript": "A."}
    request, named = await asked(path, text | body)
    assert request.speed == pytest.approx(speed)
    for field in ("pitch", "range", "volume"):
        assert getattr(request.inflection, field) == pytest.approx(getattr(inflection, field), abs=1e-3), field
    assert named == (warning and f"no effect: {warning}")


@pytest.mark.parametrize(
    ("path", "body", "warning"),
    [
        (OPENAI, {"input": "A.", "instructions": "faster, deeper", "volume": 1}, "instructions, volume"),
        (OPENAI, {"input": "A.", "pitch_range": 2, "emphasis": 0}, "pitch_range, emphasis"),
        (ELEVENLABS, {"text": "A.", "voice_settings": {"stability": 0.3}}, "voice_settings.stability"),
        (CARTESIA, {"transcript": "A.", "generation_config": {"volume": 1.5}}, "generation_config.volume"),
    ],
)
async def test_an_engine_that_doesnt_inflect_says_so(path: str, body: dict[str, Any], warning: str) -> None:
    request, named = await asked(path, body, inflects=False)
    assert named == f"no effect: {warning}"
    assert request.speed == (1.2 if "instructions" in body else 1.0)


def test_a_manner_by_degrees() -> None:
    assert MannerOfSpeaking(0.81, Inflection(pitch=2.0, range=1.44, volume=-4.0)).times(0.5) == MannerOfSpeaking(
        0.9, Inflection(pitch=1.0, range=1.2, volume=-2.0)
    )
