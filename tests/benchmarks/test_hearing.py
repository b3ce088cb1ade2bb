"""Hearing: levels, transcripts that count as the same words, two models that download nothing, the gate's limits."""

import socket
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.measuring.evaluation.sentences import evaluation_texts
from benchmarks.measuring.hearing.ears import Ears, Heard
from benchmarks.measuring.hearing.gate import LIMITED, Judgement, length_class, level_differences
from benchmarks.measuring.hearing.level import pause_noise, speech_level
from benchmarks.measuring.hearing.opinion import Opinion, OpinionScorer
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import spoken_words, word_errors

SECOND = 24_000


def tone(seconds, peak):
    return (peak * np.sin(np.arange(int(seconds * SECOND)) * 2 * np.pi * 200 / SECOND)).astype(np.int16)


def test_silence_around_speech_does_not_change_its_level():
    quiet = np.zeros(SECOND, np.int16)
    assert speech_level(np.concatenate((quiet, tone(1, 8000), quiet))) == pytest.approx(speech_level(tone(1, 8000)))
    assert speech_level(tone(1, 8000)) - speech_level(tone(1, 4000)) == pytest.approx(6.02, abs=0.01)


def test_silence_has_a_level_far_below_speech():
    assert speech_level(np.zeros(SECOND, np.int16)) == 0.0
    assert speech_level(np.zeros(0, np.int16)) == 0.0


def test_noise_in_pauses_is_told_where_samples_lie_alike():
    quiet = tone(0.5, 10)
    reference = np.concatenate((tone(0.5, 8000), quiet))
    louder = np.concatenate((tone(0.5, 8000), 4 * quiet))
    assert pause_noise(reference, louder) == pytest.approx(12, abs=0.6)
    assert pause_noise(reference, louder[1:]) is None
    assert pause_noise(tone(1, 8000), tone(1, 8000)) is None


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ("Her grandfather planted it in nineteen thirty-four.", "her grandfather planted it in 1934"),
        ("Six hundred and eight metres, towards the harbour.", "608 meters toward the harbor"),
        ("On the thirty-first of October.", "On the 31st of October."),
        ("Two thousand, one hundred and five", "2,105"),
        ("Mr. Brown’s lighthouse", "mister Brown's light house"),
        ("the light house", "The lighthouse."),
        ("It's about three point five.", "It's about 3.5"),
        ("At eight o'clock!", "at eight oclock"),
        ("It's noon on Saturdays.", "Its noon on Saturday's."),
    ],
)
def test_the_same_words_written_in_two_ways_are_no_error(said, understood):
    assert word_errors(said, understood) == 0


@pytest.mark.parametrize(
    ("said", "understood", "errors"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a x c", 1),
        ("a b c", "a c", 1),
        ("a b c", "a b b c", 1),
        ("yes", "", 1),
        ("yes", "no thank you", 3),
        ("one two", "onetwo three", 1),
    ],
)
def test_errors_are_the_fewest_changes(said, understood, errors):
    assert word_errors(said, understood) == errors


def test_the_texts_of_the_gate_are_enough_words_of_all_lengths():
    lengths = [len(spoken_words(text)) for text, _ in evaluation_texts()]
    assert sum(lengths) >= 500
    assert min(lengths) == 1 and 50 <= max(lengths) <= 60
    assert not any(letter.isdigit() for text, _ in evaluation_texts() for letter in text)


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


def heard(words, level=70.0, errors=0, p808=4.0):
    return Heard(words, level, errors, Opinion(p808, 3.0, 3.0))


REFERENCE = [heard(1), heard(9), heard(490)]


def test_the_same_again_passes_by_all_that_is_limited():
    judgement = Judgement.of(REFERENCE, REFERENCE, log_mel_distance=0.0)
    assert judgement.failures == () and judgement.judged == LIMITED
    assert judgement == Judgement(0.0, 0.0, 500, 0.0, 0.0)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ([heard(1, level=68.9), heard(9), heard(490)], "its level is 1.1 dB off at some length (limit 1)"),
        ([heard(1), heard(9), heard(490, errors=3)], "its word error rate is 0.6 points higher (limit 0.5)"),
        ([heard(1, p808=3.84), heard(9), heard(490)], "its opinion score is 0.05 lower (limit 0.05)"),
    ],
)
def test_one_fault_is_enough(other, says):
    assert Judgement.of(REFERENCE, other).failures == (says,)


def test_fewer_words_and_better_opinions_fail_nothing():
    better = [heard(1, p808=4.5), heard(9, p808=4.5), heard(490, p808=4.5)]
    assert Judgement.of(REFERENCE, better).failures == ()
    few = Judgement.of(REFERENCE[:2], [heard(1, errors=1), heard(9)])
    assert few.word_error_points == 10.0 and few.failures == () and "word errors" not in few.judged


def test_a_silent_word_is_not_averaged_away_by_long_texts():
    silent = [heard(1, level=0.0), *[heard(9)] * 50]
    assert level_differences([heard(1), *[heard(9)] * 50], silent) == {1: 70.0, 12: 0.0}


def test_where_nobody_listened_nothing_is_judged_of_words():
    deaf = [Heard(500, 70.0)]
    judgement = Judgement.of(deaf, deaf)
    assert judgement.judged == ("level",) and judgement.word_error_points is None and judgement.opinion_loss is None


def test_lengths_above_the_last_class_are_in_it():
    assert [length_class(words) for words in (1, 2, 3, 4, 60, 90)] == [1, 3, 3, 6, 60, 60]
