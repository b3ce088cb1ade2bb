"""Transcripts that count as the same words."""

import pytest

from benchmarks.measuring.evaluation.sentences import evaluation_texts
from benchmarks.measuring.hearing.words import spoken_words, word_errors


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
