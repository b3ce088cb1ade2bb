"""Dialogues: each turn has its voice."""

from typing import Any

import pytest

from tests.frontend.http.kokoro_fastapi import BELLA, HEART, asked, refusal, request_of
from text.markup.marked import MarkupKind
from text.words.performer import DialogueTurn, Performer


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
