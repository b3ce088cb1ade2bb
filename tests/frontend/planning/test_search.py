"""Where a row of units is cut: no other cuts are cheaper, and each place that must be found is found."""

from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.planning.cuts import Row, best_cuts
from frontend.planning.planner import MIN_FIRST_TOKENS, plan
from frontend.planning.profile import GUESS, CostProfile
from tests.frontend.plans import (
    FAST,
    FP32,
    KOKORO,
    LIMITS,
    PROFILES,
    SENTENCES,
    TEXTS,
    WINDOWED,
    sentence,
    token_limit,
    words_of,
)
from text.words.segment import Cut, Sentence, Unit


def _row(units: Sequence[Unit], profile: CostProfile, limit: int = 100) -> Row:
    return Row(units, lambda rate: (profile.at_speed(rate), limit), MIN_FIRST_TOKENS)


@settings(max_examples=60, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=3), PROFILES, st.none() | st.floats(0, 8))
def test_no_other_cuts_are_cheaper(text: list[Sentence], profile: CostProfile, slack: float | None) -> None:
    units = [unit for each in text for unit in each][:11]
    _assert_cheapest(_row(units, profile), slack)


def test_a_way_that_is_dearer_so_far_and_leaves_more_slack_is_followed_too() -> None:
    lengths = [17, 18, 13, 13, 24, 5, 5, 9, 10]
    w, c, p, s = Cut.WORD, Cut.CLAUSE, Cut.PHRASE, Cut.SENTENCE
    cuts = [c, p, w, p, s, p, s, w, s]
    units = [Unit("a", "x" * length, " ", cut) for length, cut in zip(lengths, cuts, strict=True)]
    _assert_cheapest(_row(units, CostProfile(per_token=0.1, audio_per_token=0.07)), 3.0)


def _assert_cheapest(row: Row, slack: float | None) -> None:
    count = len(row.units)
    prices = [
        row.price([*inner, count], slack)[0]
        for number in range(count)
        for inner in combinations(range(1, count), number)
        if all(row.holds(*pair) for pair in pairwise([0, *inner, count]))
    ]
    found = row.price([end for end, _ in best_cuts(row, slack)], slack)[0]
    assert found == pytest.approx(min(prices))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 2), min_size=65, max_size=75), st.lists(st.integers(90, 99), max_size=2), st.randoms())
def test_among_many_tiny_units_there_is_always_a_place_within_reach(
    tiny: list[int], long: list[int], random: Random
) -> None:
    lengths = [*tiny, *long]
    random.shuffle(lengths)
    row = _row([Unit("a", "x" * length, " ", Cut.WORD) for length in lengths], FP32)
    places = row.places()
    assert all(row.holds(*pair) for pair in pairwise(places))
    assert (places[0], places[-1]) == (0, len(lengths))
    assert len(_row([Unit("a", "x", " ", Cut.WORD)] * 150, FP32).places()) <= 66


@settings(max_examples=60, deadline=None)
@given(TEXTS.filter(bool), PROFILES, st.none() | st.floats(0, 8), st.integers(20, 400))
def test_no_row_is_cut_dearer_than_at_its_sentences_ends(
    text: list[Sentence], profile: CostProfile, slack: float | None, limit: int
) -> None:
    row = _row([unit for each in text for unit in each], profile, limit)
    ends = row.sentence_ends()
    assert all(row.holds(*pair) for pair in pairwise([0, *ends]))
    sentences = {place + 1 for place, unit in enumerate(row.units) if unit.cut in (Cut.SENTENCE, Cut.PARAGRAPH)}
    assert sentences <= {*ends, len(row.units)}
    found = [end for end, _ in best_cuts(row, slack)]
    assert all(row.holds(*pair) for pair in pairwise([0, *found])) and found[-1] == len(row.units)
    assert row.price(found, slack)[0] <= row.price(ends, slack)[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(10, 200), min_size=1, max_size=8), st.sampled_from([FP32, GUESS, WINDOWED, FAST]))
def test_a_text_is_not_cut_dearer_than_at_its_sentences_ends(lengths: list[int], profile: CostProfile) -> None:
    text = [sentence(words_of(length)) for length in lengths]
    segments = list(plan(text, profile, 1.0, KOKORO, LIMITS))
    row = _row([unit for each in text for unit in each], profile, token_limit(profile, 1.0, LIMITS))
    ends = list(accumulate(len(segment.units) for segment in segments))
    assert row.price(ends, None)[0] <= row.price(row.sentence_ends(), None)[0] + 1e-9
