"""The shortest segment is a setting, and plans keep to it."""

from __future__ import annotations

import pytest

from frontend.planning.planner import MIN_FIRST_TOKENS, Limits, plan
from frontend.planning.profile import WINDOWED_GUESS
from frontend.settings.front import FrontSettings
from text.phoneme_script import phoneme_sentences
from text.words.segment import Notation

WORDS = " ".join(["kˈæt,", "dˈɔɡ,", "hˈWs,", "ɡˈɑɹdᵊn,"] * 12) + "."
NOTATION = Notation("phonemes", frozenset(WORDS), 510)


def lengths(minimum: int) -> list[int]:
    sentences = phoneme_sentences(WORDS, NOTATION)
    return [each.tokens for each in plan(sentences, WINDOWED_GUESS, 1.0, NOTATION, Limits(min_first_tokens=minimum))]


def test_no_segment_is_shorter_than_the_limit_and_a_shorter_limit_starts_sooner() -> None:
    found = {minimum: lengths(minimum) for minimum in (10, 30, 60, 120)}
    assert all(min(tokens) >= minimum for minimum, tokens in found.items())
    firsts = [tokens[0] for tokens in found.values()]
    assert firsts == sorted(set(firsts)) and firsts[0] < 30


def test_without_a_word_it_is_the_default() -> None:
    assert FrontSettings().min_first_tokens == Limits().min_first_tokens == MIN_FIRST_TOKENS


def test_a_segment_of_a_few_phonemes_is_refused() -> None:
    assert FrontSettings(min_first_tokens=10).min_first_tokens == 10
    with pytest.raises(ValueError, match="min_first_tokens must be at least 10, not 9"):
        FrontSettings(min_first_tokens=9)
