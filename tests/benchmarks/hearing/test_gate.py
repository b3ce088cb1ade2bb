"""The gate's limits, and what is judged at all."""

import pytest

from benchmarks.measuring.hearing.ears import Heard
from benchmarks.measuring.hearing.gate import LIMITED, Judgement, length_class, level_differences
from benchmarks.measuring.hearing.opinion import Opinion


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
