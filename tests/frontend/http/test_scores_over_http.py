"""Scores that are wrong: 400, naming the place."""

import copy
from typing import Any

import msgspec
import pytest

from frontend.contract.request import Urgency
from tests.frontend.http_fakes import ENGINE, FakeSpeaker, asking, speech

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
    """The score with another value at that place of its second segment."""
    score = {"version": 1, "segments": [copy.deepcopy(SEGMENT), copy.deepcopy(SEGMENT)]}
    place: Any = score["segments"][1]
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        place = place[step]
    place[last] = value
    return score


async def asked(body: dict[str, Any], path: str = "/v1/audio/speech") -> tuple[int, Any, FakeSpeaker]:
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
    status, answer, speaker = await asked({"score": changed(path, value)})
    assert (status, answer["error"]["param"]) == (400, place), answer
    assert speaker.opened == []


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [("cut", "never", "cut"), ("phonemes.1.pitch", "high", "pitch"), ("phonemes", [], "phonemes")],
)
async def test_a_value_of_another_type_is_a_400_that_names_its_field(path: str, value: object, place: str) -> None:
    status, answer, _ = await asked({"score": changed(path, value)})
    assert status == 400 and place in answer["error"]["param"], answer


@pytest.mark.parametrize("more", [{"input": "Hi."}, {"phonemes": "caba"}])
async def test_a_score_stands_alone(more: dict[str, str]) -> None:
    status, answer, _ = await asked({"score": changed("text", "a"), **more})
    assert (status, answer["error"]["param"]) == (400, "score")


async def test_a_right_one_is_spoken_as_its_segments() -> None:
    status, headers, speaker = await asked({"score": changed("voice", "am_echo"), "lang": "en-gb"})
    assert status == 200 and headers["X-Warning"] == "no effect: lang"
    [request] = speaker.opened
    first, second = (unit for sentence in request.scored for unit in sentence)
    assert (request.performer.name, first.performer, second.performer.name) == ("af_heart", None, "am_echo")
    assert first.ends and first.script == "caba" and [phoneme.units for phoneme in first.score] == [4] * 4
    assert first.score[0].pitch == (2000,) and first.score[0].energy == (100,)


async def test_a_score_that_nobody_hears_needs_no_real_time() -> None:
    _, _, speaker = await asked({"input": "Hi."}, "/v1/audio/score")
    assert [request.urgency for request in speaker.opened] == [Urgency.WHOLE]


async def test_a_score_is_made_of_a_text_only() -> None:
    status, answer, _ = await asked({"score": changed("text", "a")}, "/v1/audio/score")
    assert (status, answer["error"]["param"]) == (400, "score")
    status, answer, _ = await asked({"input": "a" * 5001}, "/v1/audio/score")
    assert (status, answer["error"]["code"]) == (400, "string_above_max_length")
