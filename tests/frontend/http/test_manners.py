"""Performers and manners: words and numbers, a dialogue's turns, and scores, right and wrong."""

import copy
from typing import Any

import msgspec
import pytest

from frontend.contract.request import SpeechRequest, Urgency
from frontend.speech.manner import DEGREES, MANNERS, manner_of
from shm.inflection import Inflection
from tests.frontend.http.kokoro_fastapi import BELLA, HEART, asked, refusal, request_of
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, asking, speech
from text.markup.marked import MarkupKind
from text.words.performer import DialogueTurn, Performer

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


async def understood(path: str, body: dict[str, Any], inflects: bool = True) -> tuple[SpeechRequest, str | None]:
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
    request, named = await understood(path, text | body)
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
    request, named = await understood(path, body, inflects=False)
    assert named == f"no effect: {warning}"
    assert request.speed == (1.2 if "instructions" in body else 1.0)


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


async def test_a_pause_between_turns_of_one_turn_is_named() -> None:
    answer = await asked("/v1/audio/dialogue", turns=[{"text": "One."}], pause_between_turns=1)
    assert (answer.status, answer.headers["X-Warning"]) == (200, "no effect: pause_between_turns")
    answer = await asked("/v1/audio/dialogue", turns=[{"text": "One."}, {"text": "Two."}], pause_between_turns=1)
    assert "X-Warning" not in answer.headers
    asked_for = await request_of("/dev/dialogue", inputs=[{"voice_id": "af_bella", "text": "One."}])
    assert asked_for.turns == (DialogueTurn("One.", BELLA),)


@pytest.mark.parametrize(("last", "markup"), [("<speak>Two.</speak>", MarkupKind.SSML), ("Two.", MarkupKind.BASIC)])
async def test_ssml_counts_if_a_turn_is_a_document(last: str, markup: MarkupKind) -> None:
    turns = [{"text": "One."}, {"text": last}]
    assert (await request_of("/v1/audio/dialogue", turns=turns, ssml=True)).markup is markup


@pytest.mark.parametrize(
    ("path", "fields", "markup"),
    [
        ("/v1/audio/dialogue", {}, MarkupKind.BASIC),
        ("/dev/dialogue", {}, MarkupKind.TAGS),
        ("/dev/dialogue", {"allow_voice_tags": False}, MarkupKind.BASIC),
        ("/dev/dialogue", {"markup": "none"}, MarkupKind.NONE),
    ],
)
async def test_turns_have_tags_unasked_where_kokoro_fastapi_s_have(
    path: str, fields: dict[str, Any], markup: MarkupKind
) -> None:
    turns = [{"text": "[rate:0.8] One."}]
    assert (await request_of(path, turns=turns, **fields)).markup is markup
    assert "X-Warning" not in (await asked(path, turns=turns, **fields)).headers


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


SPEAKING = msgspec.structs.replace(ENGINE, inflects=True, scores=True, speaks="phonemes", max_tokens=12)
SEGMENT: dict[str, Any] = {
    "text": "Cab a",
    "voice": "af_heart",
    "language": "en-us",
    "cut": "sentence",
    "words": [{"word": "Cab", "said": "Cab", "start": 0, "end": 3}, {"word": "a", "said": "a", "start": 3, "end": 4}],
    "phonemes": [{"phoneme": each, "duration": 0.1, "pitch": [200.0], "energy": [1.0]} for each in "caba"],
}


def changed(path: str, value: object) -> dict[str, Any]:
    score = {"version": 1, "segments": [copy.deepcopy(SEGMENT), copy.deepcopy(SEGMENT)]}
    place: Any = score["segments"][1]
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        place = place[step]
    place[last] = value
    return score


async def scored(body: dict[str, Any], path: str = "/v1/audio/speech") -> tuple[int, Any, FakeSpeaker]:
    speaker = FakeSpeaker(speech(10), engine=SPEAKING)
    async with asking(speaker, path, json=body) as response:
        answer = await response.json() if response.status >= 400 else dict(response.headers)
        return response.status, answer, speaker


WRONG = [
    ("voice", "nobody", "score.segments[1].voice"),
    ("speed", 9, "score.segments[1].speed"),
    ("pause", -1, "score.segments[1].pause"),
    ("phonemes.2.phoneme", "x", "score.segments[1].phonemes[2].phoneme"),
    ("phonemes.2.phoneme", "ab", "score.segments[1].phonemes[2].phoneme"),
    ("phonemes.2.duration", 2.5, "score.segments[1].phonemes[2].duration"),
    ("phonemes.2.pitch", [200, 5], "score.segments[1].phonemes[2].pitch[1]"),
    ("phonemes.2.pitch", [200, 1e9], "score.segments[1].phonemes[2].pitch[1]"),
    ("phonemes.2.pitch", [200] * 500, "score.segments[1].phonemes[2].pitch"),
    ("phonemes.2.energy", [99], "score.segments[1].phonemes[2].energy[0]"),
    ("phonemes.2.volume", 40, "score.segments[1].phonemes[2].volume"),
    ("phonemes", [{"phoneme": "a"}] * 13, "score.segments[1].phonemes"),
    ("words.1.start", 2, "score.segments[1].words[1]"),
    ("words.1.end", 9, "score.segments[1].words[1]"),
    ("words.0.inflection", {"pitch": 50}, "score.segments[1].words[0].inflection.pitch"),
    ("words.0.inflection", {"contour": [[0.5, 99]]}, "score.segments[1].words[0].inflection.contour[0]"),
]


@pytest.mark.parametrize(("path", "value", "place"), WRONG)
async def test_a_wrong_value_is_a_400_that_names_its_place(path: str, value: object, place: str) -> None:
    status, answer, speaker = await scored({"score": changed(path, value)})
    assert (status, answer["error"]["param"]) == (400, place), answer
    assert speaker.opened == []


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [("cut", "never", "cut"), ("phonemes.1.pitch", "high", "pitch"), ("phonemes", [], "phonemes")],
)
async def test_a_value_of_another_type_is_a_400_that_names_its_field(path: str, value: object, place: str) -> None:
    status, answer, _ = await scored({"score": changed(path, value)})
    assert status == 400 and place in answer["error"]["param"], answer


@pytest.mark.parametrize("more", [{"input": "Hi."}, {"phonemes": "caba"}])
async def test_a_score_stands_alone(more: dict[str, str]) -> None:
    status, answer, _ = await scored({"score": changed("text", "a"), **more})
    assert (status, answer["error"]["param"]) == (400, "score")


async def test_a_right_one_is_spoken_as_its_segments() -> None:
    status, headers, speaker = await scored({"score": changed("voice", "am_echo"), "lang": "en-gb"})
    assert status == 200 and headers["X-Warning"] == "no effect: lang"
    [request] = speaker.opened
    first, second = (unit for sentence in request.scored for unit in sentence)
    assert (request.performer.name, first.performer, second.performer.name) == ("af_heart", None, "am_echo")
    assert first.ends and first.script == "caba" and [phoneme.units for phoneme in first.score] == [4] * 4
    assert first.score[0].pitch == (2000,) and first.score[0].energy == (100,)


async def test_a_score_that_nobody_hears_needs_no_real_time() -> None:
    _, _, speaker = await scored({"input": "Hi."}, "/v1/audio/score")
    assert [request.urgency for request in speaker.opened] == [Urgency.WHOLE]


async def test_a_score_is_made_of_a_text_only() -> None:
    status, answer, _ = await scored({"score": changed("text", "a")}, "/v1/audio/score")
    assert (status, answer["error"]["param"]) == (400, "score")
    status, answer, _ = await scored({"input": "a" * 5001}, "/v1/audio/score")
    assert (status, answer["error"]["code"]) == (400, "string_above_max_length")
