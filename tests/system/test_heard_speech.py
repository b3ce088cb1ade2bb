"""Kokoro through the whole server, with default settings, heard by Whisper: every word is spoken and understood."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.hearing.level import speech_level
from benchmarks.hearing.recognizer import Recognizer
from benchmarks.hearing.words import spoken_words, word_errors
from tests.system.server import Server, server
from worker.voices.low_rank import EMBEDDED

SENTENCES = (
    "Hello from a fresh machine.",
    "It is easy to tell the depth of a well.",
    "Rice is often served in round bowls.",
    "The boy was there when the sun rose.",
    "Two blue fish swam in the tank.",
    "How many eggs do we need for the cake?",
    "Did anyone remember to feed the cat?",
    "The library closes at eight on weekdays and at noon on Saturdays.",
    "When the frost has come, it is time for turkey. The salt breeze came across from the sea.",
    "We talked of the side show in the circus, and the ship was torn apart on the sharp reef.",
)
"""Some of them Harvard sentences (IEEE, 1969). The recogniser makes no error in the model's whole run of any."""

WORDS = ("Yes.", "Tomorrow.", "Wonderful!", "Why?", "Stop!")
"""Spoken alone, the recogniser hears these rightly from the model's whole run by both voices."""

VOICES = ("af_heart", "am_michael")

PATIENCE = 280.0
"""Seconds: the model is cut into stages first, which takes a busy machine long."""

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def kokoro(real_model: Path, real_stages: Path) -> Iterator[Server]:
    files = ("--model", str(real_model), "--voices", str(EMBEDDED), "--cache-dir", str(real_stages))
    with server(*files, patience=PATIENCE) as started:
        yield started


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer(threads=1)


def heard(server: Server, text: str, voice: str) -> np.ndarray:
    return np.frombuffer(server.hear(input=text, voice=voice, response_format="pcm"), "<i2")


def test_every_word_of_ten_sentences_is_understood(kokoro: Server, recognizer: Recognizer) -> None:
    spoken = [heard(kokoro, text, VOICES[number % len(VOICES)]) for number, text in enumerate(SENTENCES)]
    understood = [recognizer.understood(samples) for samples in spoken]
    wrong = [pair for pair in zip(SENTENCES, understood, strict=True) if word_errors(*pair)]
    assert wrong == []


def test_single_words_are_understood_and_as_loud_as_sentences(kokoro: Server, recognizer: Recognizer) -> None:
    spoken = [heard(kokoro, text, VOICES[0]) for text in WORDS]
    understood = [recognizer.understood(samples) for samples in spoken]
    assert [spoken_words(text) for text in understood] == [spoken_words(text) for text in WORDS]
    sentence = speech_level(heard(kokoro, SENTENCES[0], VOICES[0]))
    assert min(map(speech_level, spoken)) > sentence - 8


def test_it_is_the_published_model_that_speaks_in_windows(kokoro: Server) -> None:
    response = kokoro.speak(input="Yes.", response_format="pcm")
    response.read()
    assert response.getheader("X-Engine") == "kokoro"
    _, status = kokoro.get("/status")
    assert {stage["name"] for stage in status["engine"]["stages"]} >= {"prosody", "generator"}
