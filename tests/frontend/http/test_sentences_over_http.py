"""Sentences on the wire: an event before the audio in which each begins."""

import json
from typing import Any

import pytest

from frontend.settings.front import FrontSettings
from shm.timing import SentenceTiming
from tests.frontend.http_fakes import FakeSpeaker, asking, events_of, speech
from text.sentences.sentences import sentences
from text.words.sanitize import sanitize


class Reciter(FakeSpeaker):
    """Two sentences, the second within the second piece."""

    def __init__(self) -> None:
        super().__init__(
            lambda: self.streams[-1].sentences.append(SentenceTiming(3, "Hi.", 0)),
            speech(2400),
            lambda: self.streams[-1].sentences.append(SentenceTiming(4, "Ho.", 3000)),
            speech(2400),
        )


async def events(
    fields: dict[str, Any], settings: FrontSettings | None = None, **headers: str
) -> tuple[int, list[dict[str, Any]]]:
    speaker, body = Reciter(), {"input": "Hi. Ho.", "response_format": "pcm"} | fields
    async with asking(speaker, settings=settings, json=body, headers=headers) as response:
        answer = await response.read()
    if response.status != 200:
        return response.status, [json.loads(answer)["error"]]
    assert speaker.opened[0].sentences and speaker.opened[0].from_sentence == 3
    return response.status, events_of(answer)


WANTED = {"stream_format": "sse", "timestamps": "sentence", "from_sentence": 3}


async def test_a_sentence_is_told_before_the_audio_in_which_it_begins() -> None:
    status, told = await events(WANTED)
    assert status == 200
    assert [event["type"].rpartition(".")[2] for event in told] == ["sentence", "delta", "sentence", "delta", "done"]
    assert told[0] == {
        "type": "speech.audio.sentence",
        "number": 3,
        "text": "Hi.",
        "sample": 0,
        "real_time_factor": 0.5,
    }
    assert told[2]["sample"] == 3000


async def test_primed_silence_moves_the_sentences() -> None:
    _, told = await events(WANTED, FrontSettings(prime_silence=0.1))
    assert [event["sample"] for event in told if event["type"].endswith("sentence")] == [2400, 5400]


@pytest.mark.parametrize(("after", "left"), [(0, [3, 4]), (1, [4]), (3000, [4]), (3001, [])])
async def test_a_continued_answer_tells_the_sentences_that_are_still_to_begin(after: int, left: list[int]) -> None:
    _, told = await events(WANTED, **{"Last-Event-ID": str(after)})
    assert [event["number"] for event in told if event["type"].endswith("sentence")] == left


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"timestamps": "sentence"}, "timestamps"),
        ({"from_sentence": 1}, "from_sentence"),
        ({"stream_format": "sse", "timestamps": "word", "from_sentence": 1}, "from_sentence"),
    ],
)
async def test_sentences_need_events(fields: dict[str, Any], param: str) -> None:
    status, (error,) = await events(fields)
    assert (status, error["param"]) == (400, param)


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
