"""Plans keep to the shortest segment."""

from __future__ import annotations

from frontend.planning.planner import Limits, plan
from frontend.planning.profile import WINDOWED_GUESS
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
