"""Whose statistics are measured, from what, and when that is over."""

import logging
import threading

import numpy as np
import pytest

from worker.cancellation import Cancellation
from worker.engine import Cancelled, EngineError, EngineUnavailable, ProviderUnavailable
from worker.split.statistics import Statistics, VoiceStatistics
from worker.split.study import ENOUGH_SECONDS, MOST_WAITING, PATIENCE, VoiceStudy

ADAM, EMMA = (("am_adam", 1.0),), (("bf_emma", 1.0),)


def told(value):
    return Statistics(*(np.full(size, value, np.float32) for size in (3, 3, 5, 5)))


class Measured:
    """A study of `sentences`, each as long as `seconds` says; the n-th tells statistics of n."""

    def __init__(self, folder, seconds=(3.0, 1.0, 2.0, 2.0, 9.0)):
        self.statistics = VoiceStatistics(folder / "statistics", (3, 5))
        self.spoken = []
        self.error = None
        self._seconds = seconds
        self.study = VoiceStudy(self.statistics, len(seconds))

    def measure(self, number, voice, cancellation):
        if self.error:
            raise self.error
        self.spoken.append((number, voice))
        return told(number), self._seconds[number]

    def steps(self):
        while self.study.waiting:
            self.study.step(self.measure, Cancellation())


def test_they_are_the_mean_by_length_over_sentences_until_there_is_enough(tmp_path):
    made = Measured(tmp_path)
    made.study.want("adam", ADAM)
    made.steps()
    assert made.spoken == [(number, ADAM) for number in range(4)]
    mean = (0 * 3 + 1 * 1 + 2 * 2 + 3 * 2) / ENOUGH_SECONDS
    assert all(np.allclose(vector, mean) for vector in made.statistics.frozen("adam"))


def test_all_sentences_are_enough(tmp_path):
    made = Measured(tmp_path, seconds=(1.0, 1.0))
    made.study.want("adam", ADAM)
    made.steps()
    assert len(made.spoken) == 2
    assert made.statistics.frozen("adam")


def test_who_waits_longest_is_next_and_who_is_known_never(tmp_path):
    made = Measured(tmp_path)
    made.statistics.freeze("known", told(1))
    for key, voice in (("emma", EMMA), ("known", ADAM), ("adam", ADAM), ("emma", EMMA)):
        made.study.want(key, voice)
    made.steps()
    assert [voice for _, voice in made.spoken] == [EMMA] * 4 + [ADAM] * 4
    made.study.want("emma", EMMA)
    assert not made.study.waiting


def test_what_another_process_has_measured_is_not_measured(tmp_path):
    made, other = Measured(tmp_path), Measured(tmp_path)
    made.study.want("adam", ADAM)
    other.study.want("adam", ADAM)
    other.steps()
    made.steps()
    assert not made.spoken


def test_a_sentence_that_was_given_up_is_spoken_again(tmp_path):
    made = Measured(tmp_path)
    made.study.want("adam", ADAM)
    made.study.step(made.measure, Cancellation())
    made.error = Cancelled()
    with pytest.raises(Cancelled):
        made.study.step(made.measure, Cancellation())
    made.error = None
    made.steps()
    assert [number for number, _ in made.spoken] == [0, 1, 2, 3]


def test_a_voice_that_is_cut_short_again_and_again_is_measured_all_the_same(tmp_path):
    made = Measured(tmp_path, seconds=(9.0,))
    made.study.want("adam", ADAM)
    wanted = Cancellation()

    def cut_short(number, voice, cancellation):
        wanted.set()
        if cancellation.is_set:
            raise Cancelled
        return made.measure(number, voice, cancellation)

    for _ in range(PATIENCE):
        with pytest.raises(Cancelled):
            made.study.step(cut_short, wanted)
        wanted = Cancellation()
    made.study.step(cut_short, wanted)
    assert made.statistics.frozen("adam")


@pytest.mark.parametrize("failure", ["can't say that", "nan"])
def test_a_voice_that_cant_be_measured_is_left(tmp_path, caplog, failure):
    made = Measured(tmp_path, seconds=(float("nan"),) if failure == "nan" else (9.0,))
    made.error = None if failure == "nan" else EngineError(failure)
    made.study.want("adam", ADAM)
    made.study.want("emma", EMMA)
    with caplog.at_level(logging.WARNING):
        made.study.step(made.measure, Cancellation())
    assert "am_adam" in caplog.text
    assert made.study.waiting
    assert made.statistics.frozen("adam") is None


def test_not_more_wait_than_can_be_measured_soon(tmp_path):
    made = Measured(tmp_path, seconds=(9.0,))
    for number in range(MOST_WAITING + 5):
        made.study.want(str(number), ADAM)
    made.steps()
    assert len(made.spoken) == MOST_WAITING


def test_one_thread_at_a_time_measures(tmp_path):
    made = Measured(tmp_path, seconds=(9.0,))
    begun, go_on = threading.Event(), threading.Event()

    def slow(number, voice, cancellation):
        begun.set()
        assert go_on.wait(30)
        return told(1), 9.0

    made.study.want("adam", ADAM)
    other = threading.Thread(target=made.study.step, args=(slow, Cancellation()))
    other.start()
    assert begun.wait(30)
    came_back = threading.Event()

    def also() -> None:
        made.study.step(made.measure, Cancellation())
        came_back.set()

    waits = threading.Thread(target=also)
    waits.start()
    assert not came_back.wait(0.2), "nobody asks again and again"
    go_on.set()
    other.join()
    waits.join()
    assert not made.study.waiting and not made.spoken


def test_who_was_cancelled_while_another_measured_begins_nothing(tmp_path):
    made, cancellation = Measured(tmp_path), Cancellation()
    made.study.want("adam", ADAM)
    cancellation.set()
    with pytest.raises(Cancelled):
        made.study.step(made.measure, cancellation)
    assert not made.spoken


@pytest.mark.parametrize("error", [EngineError("can't say that"), EngineUnavailable("the stage's file is gone")])
def test_what_failed_is_not_tried_at_each_word_and_keeps_nobody_waiting(tmp_path, caplog, error):
    made = Measured(tmp_path)
    made.study.want("adam", ADAM)
    made.error = error
    made.steps()
    made.error = None
    made.study.want("adam", ADAM)
    made.study.want("emma", EMMA)
    made.steps()
    assert {voice for _, voice in made.spoken} == {EMMA}
    assert caplog.text.count("can't be measured") == 1


def test_a_provider_that_fails_is_nothing_of_the_voices(tmp_path):
    made = Measured(tmp_path)
    made.study.want("adam", ADAM)
    made.error = ProviderUnavailable("CUDAExecutionProvider", "lost")
    with pytest.raises(ProviderUnavailable):
        made.study.step(made.measure, Cancellation())
    assert made.study.waiting
