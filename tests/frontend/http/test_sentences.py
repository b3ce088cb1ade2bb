"""POST /v1/text/sentences: the division that speech uses, without speech."""

from __future__ import annotations

from typing import Any

import pytest

from frontend.settings.front import FrontSettings
from tests.frontend.http_fakes import FakeSpeaker, asking
from text.sentences.sentences import sentences
from text.words.sanitize import sanitize

WRAPPED = (
    "Dr. Smith paid $12.50 on Monday, and he left at once; nobody saw\n"
    "him again. Mr. Jones stayed until it was late, and then he went home\n"
    "as well."
)
LIST = "Buy:\n- milk, e.g. two bottles\n- bread. Brown bread."


async def asked(body: object) -> tuple[int, dict[str, Any]]:
    async with asking(
        FakeSpeaker(), "/v1/text/sentences", settings=FrontSettings(max_input_characters=1000), json=body
    ) as answer:
        return answer.status, await answer.json()


async def test_wrapped_lines_are_one_and_lines_of_a_list_are_not() -> None:
    status, found = await asked({"paragraphs": [WRAPPED, LIST, " \u200b\n"]})
    assert status == 200
    assert found["language"] == "en-us"
    wrapped, listed, blank = found["paragraphs"]
    assert [[len(line) for line in wrapped], len(wrapped[0])] == [[2], 2]
    assert wrapped[0][0].endswith("saw him again. ")
    assert ["".join(line) for line in wrapped] == [WRAPPED.replace("\n", " ")]
    assert listed == [["Buy:"], ["- milk, e.g. two bottles"], ["- bread. ", "Brown bread."]]
    assert blank == []


async def test_the_sentences_are_those_of_speech() -> None:
    text = "1.) The first 2.) The second\n«Bien !» dit-il. これは文です。次の文です。 Is it?! Yes… no."
    _, found = await asked({"paragraphs": [text]})
    [lines] = found["paragraphs"]
    assert [sentence.strip() for line in lines for sentence in line] == list(sentences(sanitize(text), "en-us"))
    assert "\n".join("".join(line) for line in lines) == text


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({}, None, "invalid_value"),
        ({"paragraphs": "one"}, "paragraphs", "invalid_value"),
        ({"paragraphs": ["a" * 600, "b" * 600]}, "paragraphs", "string_above_max_length"),
        ({"paragraphs": ["a"], "voice": "nobody"}, "voice", "unknown_voice"),
        ({"paragraphs": ["a"], "lang": "klingon"}, "lang", "unknown_language"),
    ],
)
async def test_errors_name_the_field(body: object, param: str | None, code: str) -> None:
    status, found = await asked(body)
    assert (status, found["error"]["param"], found["error"]["code"]) == (400, param, code)
