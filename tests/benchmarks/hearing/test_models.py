"""The two models that listen: what they are given is what they were trained on, and nothing is downloaded."""

import socket
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.measuring.hearing.ears import Ears
from benchmarks.measuring.hearing.opinion import OpinionScorer
from benchmarks.measuring.hearing.recognizer import Recognizer

SECOND = 24_000


@pytest.fixture(scope="module")
def hum():
    """A voice's harmonics that come and go, with a little noise."""
    time = np.arange(10 * SECOND)
    noise = np.random.default_rng(1).normal(0, 300, len(time))
    return (np.sin(time * 2 * np.pi * 200 / SECOND) * 8000 * (np.sin(time / 9000) > 0) + noise).astype(np.int16)


@pytest.fixture(scope="module")
def scorer():
    return OpinionScorer(1)


def test_scores_are_those_of_the_package_s_own_code(scorer, hum):
    """`speechmos.dnsmos.run` with librosa 0.11 gave these for the same samples at 16 kHz."""
    opinion = scorer.opinion(hum)
    assert opinion == pytest.approx((2.10756, 1.94072, 2.74660), abs=0.01)


def test_a_clip_is_repeated_to_the_length_that_is_scored(scorer, hum):
    """Twice 4.6 s are one window of 9.01 s; a shorter clip would be as many windows as it is repeated to seconds."""
    assert all(1 <= score <= 5 for score in scorer.opinion(hum[: SECOND * 23 // 5]))


def test_nothing_is_asked_of_the_network(monkeypatch):
    def refused(*_):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    assert isinstance(Recognizer(1).understood(np.zeros(SECOND, np.int16)), str)


def test_without_the_extra_levels_are_all_that_is_heard(monkeypatch, hum):
    monkeypatch.setattr(Recognizer, "is_installed", lambda: False)
    monkeypatch.setattr(OpinionScorer, "is_installed", lambda: False)
    heard = Ears().heard("Hum.", hum)
    assert heard.errors is None and heard.opinion is None and heard.level > 70


def test_the_gate_costs_a_server_nothing():
    code = "import sys, worker.loop.process, worker.engines.kokoro; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"faster_whisper", "ctranslate2", "speechmos", "benchmarks.measuring.hearing.ears"} & set(loaded)
