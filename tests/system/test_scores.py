"""Scores through the whole server: what comes back as it was sounds as it did, and an edit is heard where it is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.quality.pitch import pitches
from tests.split_model import make_split_model, make_split_voices
from tests.system.server import Server, server

TEXT = "A heart that beats, and a voice that says so. [so](+2) [pause:0.9s] it says again. Is it so?"
FIELDS = {"input": TEXT, "voice": "af_heart(2)+am_adam(1)", "pitch": 1, "speed": 1.1}


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("scores")
    arguments = (
        *("--model", str(make_split_model(folder / "small.onnx"))),
        *("--voices", str(make_split_voices(folder / "voices.bin"))),
        *("--cache-dir", str(folder / "cache"), "--cache-bytes", "0"),
    )
    with server(*arguments) as started:
        yield started


def spoken(started: Server, **fields: object) -> np.ndarray:
    return np.frombuffer(started.hear(response_format="pcm", **fields), "<i2")


def score_of(started: Server, **fields: object) -> Any:
    status, found = started.post("/v1/audio/score", fields)
    assert status == 200, found
    return found


@pytest.mark.parametrize("stream", [True, False])
def test_a_score_that_comes_back_unedited_sounds_the_same(split: Server, stream: bool) -> None:
    score = score_of(split, **FIELDS)
    assert score["version"] == 1 and len(score["segments"]) > 1
    said = [word["word"] for segment in score["segments"] for word in segment["words"]]
    assert " ".join(said) == "A heart that beats, and a voice that says so. so it says again. Is it so?"
    before = spoken(split, stream=stream, **FIELDS)
    assert np.array_equal(spoken(split, stream=stream, score=score), before)
    assert np.array_equal(spoken(split, score=json.loads(json.dumps(score))), before)
    bare = [
        segment | {"phonemes": [{"phoneme": p["phoneme"]} for p in segment["phonemes"]]}
        for segment in score["segments"]
    ]
    assert np.array_equal(spoken(split, score={"version": 1, "segments": bare}), before)


def test_an_edit_is_heard_where_it_is_and_words_times_follow(split: Server) -> None:
    score = score_of(split, **FIELDS)
    before = json.loads(split.hear(stream=False, timestamps="word", response_format="pcm", **FIELDS))
    word = score["segments"][0]["words"][1]
    for phoneme in score["segments"][0]["phonemes"][word["start"] : word["end"]]:
        phoneme["duration"] += 0.1
    after = json.loads(split.hear(stream=False, timestamps="word", response_format="pcm", score=score))
    more = 0.1 * (word["end"] - word["start"])
    assert after["duration"] == pytest.approx(before["duration"] + more, abs=0.03)
    assert [each["word"] for each in after["words"]] == [each["word"] for each in before["words"]]
    assert after["words"][2]["start"] == pytest.approx(before["words"][2]["start"] + more, abs=0.03)
    assert after["words"][1]["start"] == pytest.approx(before["words"][1]["start"], abs=0.03)


@pytest.mark.parametrize("fields", [{"stream": False}, {"stream_format": "sse"}, {"stream_format": "jsonl"}])
def test_visemes_come_with_the_words(split: Server, fields: dict[str, object]) -> None:
    body = split.hear(timestamps="word", visemes=True, response_format="pcm", input="A map.", **fields)
    lines = [json.loads(line.removeprefix(b"data: ")) for line in body.splitlines() if line[:1] in (b"{", b"d")]
    words = [word for line in lines for word in line.get("words", [])]
    assert [word["word"] for word in words] == ["A", "map."]
    assert [each["oculus"] for each in words[1]["visemes"]][:3] == ["PP", "aa", "PP"]
    assert words[1]["visemes"][0]["start"] == words[1]["start"]
    plain = json.loads(split.hear(stream=False, timestamps="word", response_format="pcm", input="A map."))
    assert all("visemes" not in word for word in plain["words"])


def test_what_the_model_cant_speak_and_what_a_score_overrules_is_named(split: Server) -> None:
    score = score_of(split, input="So it says.")
    answer = split.speak(score=score, response_format="pcm")
    assert answer.status == 200 and answer.getheader("X-Warning") is None
    answer.read()
    score["segments"][0]["phonemes"][2]["pitch"] = [900.0]
    answer = split.speak(score=score, voice="am_adam", response_format="pcm")
    assert answer.getheader("X-Warning") == "no effect: voice; limited: score.segments[0].phonemes[2].pitch"
    answer.read()


def test_an_engine_without_a_score_says_so(miniature: Server) -> None:
    status, answer = miniature.post("/v1/audio/score", {"input": "So."})
    assert (status, answer["error"]["code"]) == (400, "score_unavailable")
    score = {
        "version": 1,
        "segments": [
            {"text": "so", "voice": "af_heart", "language": "en-us", "cut": "sentence", "phonemes": [{"phoneme": "s"}]}
        ],
    }
    answer = miniature.speak(score=score)
    assert answer.status == 400 and b"score_unavailable" in answer.read()


@pytest.mark.slow
def test_the_published_model_speaks_an_edited_score(real_model: Path, tmp_path: Path) -> None:
    with server("--model", str(real_model), "--cache-dir", str(tmp_path), "--cache-bytes", "0") as started:
        text = "You are going to the market this afternoon. It will be closed, I think."
        before = spoken(started, input=text)
        score = score_of(started, input=text)
        assert np.array_equal(spoken(started, score=score), before)
        assert np.array_equal(spoken(started, score=score, stream=False), before)
        for segment in score["segments"]:
            for phoneme in segment["phonemes"]:
                phoneme["pitch"] = [value * 2 ** (4 / 12) for value in phoneme["pitch"]]
        after = spoken(started, score=score)
        one, other = pitches(before), pitches(after)
        frames = min(len(one), len(other))
        shift = 12 * np.log2(other[:frames] / one[:frames])
        assert np.nanmedian(shift) == pytest.approx(4, abs=0.4)
