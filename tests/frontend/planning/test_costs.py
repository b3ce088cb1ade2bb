"""Costs that are expected of segments, from those of earlier ones."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from frontend.planning.costs import CostModel
from frontend.planning.profile import GUESS, CostProfile, guess
from shm.audio import SAMPLE_RATE

C = 0.0695


def made(
    costs: CostModel,
    tokens: int,
    seconds: float | None = None,
    speed: float = 1.0,
    pace: float = 0.027,
    load: float = 1,
) -> None:
    """A segment of a whole-segment engine was measured."""
    audio = C * tokens / speed
    work = 0.02 + pace * tokens / speed if seconds is None else seconds
    costs.observe(tokens, speed, int(audio * SAMPLE_RATE), work, load=load)


def ordinary(count: int, seed: int = 1) -> list[int]:
    return [random.Random(seed + n).randint(25, 110) for n in range(count)]


def test_nothing_is_shown_before_it_was_measured_but_something_is_expected() -> None:
    costs = CostModel()
    assert costs.as_dict() == {}
    assert costs.fitted() == GUESS
    assert costs.seconds(100, 1.0) == pytest.approx(4.0)
    assert costs.samples(100, 2.0) == 3.25 * SAMPLE_RATE


def test_the_first_segment_replaces_the_guess() -> None:
    costs = CostModel()
    costs.observe(tokens=100, speed=1.0, samples=5 * SAMPLE_RATE, seconds=2.0)
    assert costs.samples(100, 1.0) == pytest.approx(5 * SAMPLE_RATE, rel=1e-3)
    assert costs.seconds(50, 1.0) == pytest.approx(1.0)
    assert costs.as_dict() == {
        "audio_seconds_per_token": 0.05,
        "segments": 1,
        "seconds_per_100_tokens": 2.0,
        "real_time_factor": 0.4,
    }


def test_a_faster_pace_is_shorter_and_less_work() -> None:
    costs = CostModel()
    costs.observe(tokens=100, speed=2.0, samples=5 * SAMPLE_RATE, seconds=2.0)
    assert costs.samples(100, 1.0) == pytest.approx(10 * SAMPLE_RATE, rel=1e-3)
    assert costs.samples(100, 4.0) == pytest.approx(2.5 * SAMPLE_RATE, rel=1e-3)
    assert costs.seconds(100, 2.0) == pytest.approx(2.0)


def test_what_is_fixed_is_found_from_segments_of_different_lengths() -> None:
    costs = CostModel()
    for tokens in ordinary(40):
        costs.observe(tokens, 1.0, int((0.14 + C * tokens) * SAMPLE_RATE), 0.3 + 0.01 * tokens)
    profile = costs.fitted()
    assert (profile.fixed, profile.per_token) == pytest.approx((0.3, 0.01), rel=0.02)
    assert costs.samples(30, 1.0) == pytest.approx((0.14 + C * 30) * SAMPLE_RATE, rel=0.02)
    assert costs.samples(110, 1.0) == pytest.approx((0.14 + C * 110) * SAMPLE_RATE, rel=0.02)
    assert costs.first_audio(30, 1.0) == costs.seconds(30, 1.0)


def test_segments_of_one_length_say_nothing_of_what_is_fixed() -> None:
    costs = CostModel()
    for _ in range(40):
        made(costs, 100, seconds=2.0)
    for _ in range(3):
        made(costs, 30, seconds=2.0)
    assert costs.seconds(50, 1.0) == pytest.approx(1.0, rel=0.01)


@given(st.integers(10, 80), st.integers(25, 110), st.sampled_from([0.1, 5.0, 10.0, 100.0]))
@example(before=28, tokens=25, factor=5.0)
def test_one_outlier_hardly_moves_anything(before: int, tokens: int, factor: float) -> None:
    costs = CostModel()
    jitter = random.Random(before)
    for length in ordinary(before):
        made(costs, length, seconds=(0.02 + 0.027 * length) * jitter.uniform(0.95, 1.05))
    expected = {length: costs.seconds(length, 1.0) for length in (30, 60, 100)}
    made(costs, tokens, seconds=(0.02 + 0.027 * tokens) * factor)
    for length, seconds in expected.items():
        assert costs.seconds(length, 1.0) == pytest.approx(seconds, rel=0.05)


@pytest.mark.parametrize("pace", [0.27, 0.05, 0.0135, 0.0027])
def test_a_new_pace_is_followed_within_thirty_segments(pace: float) -> None:
    costs = CostModel()
    for length in ordinary(100):
        made(costs, length)
    for length in ordinary(30, seed=500):
        made(costs, length, pace=pace)
    for length in (30, 60, 100):
        assert costs.seconds(length, 1.0) == pytest.approx(0.02 + pace * length, rel=0.1)


def test_runs_side_by_side_do_not_change_what_a_lone_run_is_expected_to_take() -> None:
    costs = CostModel()
    for length in ordinary(10):
        made(costs, length)
    lone = costs.seconds(60, 1.0)
    for length in ordinary(40):
        made(costs, length, seconds=1.8 * (0.02 + 0.027 * length), load=2.0)
        made(costs, length, seconds=3.1 * (0.02 + 0.027 * length), load=3.0)
    assert costs.seconds(60, 1.0) == lone
    assert costs.seconds(60, 1.0, load=2) == pytest.approx(1.8 * lone, rel=0.02)
    assert costs.seconds(60, 1.0, load=3) == pytest.approx(3.1 * lone, rel=0.02)
    assert costs.real_time_factor(2) == pytest.approx(1.8 * costs.real_time_factor(), rel=0.02)
    assert costs.as_dict()["load_factors"] == pytest.approx({"2": 1.8, "3": 3.1}, rel=0.01)


def test_until_a_segment_was_made_alone_the_crowded_ones_say_more_than_the_guess() -> None:
    costs = CostModel()
    for length in ordinary(5):
        made(costs, length, seconds=0.015 * length, load=2)
    assert costs.seconds(60, 1.0) == pytest.approx(0.6, rel=0.02)
    assert "seconds_per_100_tokens" not in costs.as_dict()
    made(costs, 60, seconds=0.3)
    assert costs.seconds(60, 1.0) == pytest.approx(0.3)


def test_prosody_and_vocoder_are_told_apart_where_the_engine_vocodes_in_windows() -> None:
    costs = CostModel(first_block=0.3)
    for tokens in ordinary(30):
        audio, prosody = C * tokens, 0.003 * tokens
        costs.observe(tokens, 1.0, int(audio * SAMPLE_RATE), prosody + 0.35 * audio, prosody)
    assert costs.first_audio(100, 1.0) == pytest.approx(0.3 + 0.3 * 0.35, rel=0.01)
    assert costs.seconds(100, 1.0) == pytest.approx(0.3 + 6.95 * 0.35, rel=0.01)
    assert costs.real_time_factor() == pytest.approx(costs.seconds(100, 1.0) / 6.95, rel=0.01)
    assert costs.as_dict()["vocoder_seconds_per_audio_second"] == pytest.approx(0.35, rel=0.01)
    # Prosody is work on tokens, whatever the pace; a segment shorter than a block has no more to vocode than it is.
    assert costs.first_audio(100, 4.0) == pytest.approx(0.3 + 0.3 * 0.35, rel=0.01)
    assert costs.first_audio(1, 1.0) == pytest.approx(0.003 + C * 0.35, rel=0.05)


def test_sound_that_is_shortened_costs_what_is_made_of_it() -> None:
    costs = CostModel(first_block=0.3, shortens_above=1.5)
    for tokens in ordinary(30):
        audio, prosody = C * tokens / 3, 0.003 * tokens
        costs.observe(tokens, 3.0, int(audio * SAMPLE_RATE), prosody + 2 * 0.35 * audio, prosody)
    assert costs.as_dict()["vocoder_seconds_per_audio_second"] == pytest.approx(0.35, rel=0.01)
    assert costs.seconds(100, 3.0) == pytest.approx(0.3 + 2 * 0.35 * C * 100 / 3, rel=0.01)
    assert costs.seconds(100, 1.5) == pytest.approx(costs.seconds(100, 3.0), rel=0.01), "as much is made"
    assert costs.first_audio(100, 3.0) == pytest.approx(0.3 + 0.3 * 0.35, rel=0.01), "a block is made as it was"
    assert costs.real_time_factor(speed=3.0) == pytest.approx(costs.seconds(100, 3.0) / (C * 100 / 3), rel=0.01)
    profile = costs.fitted()
    assert profile.at_speed(3.0).seconds(80, 1.0) == pytest.approx(profile.seconds(80, 3.0))
    assert profile.at_speed(3.0).first_audio(80, 1.0) == pytest.approx(profile.first_audio(80, 3.0))


def test_where_the_engine_does_not_tell_prosody_all_its_time_still_counts() -> None:
    costs = CostModel(first_block=0.3)
    for tokens in ordinary(20):
        costs.observe(tokens, 1.0, int(C * tokens * SAMPLE_RATE), 0.03 * tokens)
    assert costs.seconds(80, 1.0) == pytest.approx(2.4, rel=0.05)
    assert "prosody_seconds_per_100_tokens" not in costs.as_dict()


def test_a_speed_at_which_audio_is_longer_than_it_should_be_is_learnt() -> None:
    costs = CostModel()
    for length in ordinary(40):
        made(costs, length)
    for length in ordinary(10):
        costs.observe(length, 4.0, int(1.3 * C * length / 4 * SAMPLE_RATE), 0.5)
    assert costs.samples(80, 4.0) == pytest.approx(1.3 * C * 80 / 4 * SAMPLE_RATE, rel=0.03)
    assert costs.samples(80, 1.0) == pytest.approx(C * 80 * SAMPLE_RATE, rel=0.03)


def test_plans_keep_their_profile_while_measurements_jitter() -> None:
    costs = CostModel()
    jitter = random.Random(3)
    taken: list[CostProfile] = []
    for length in ordinary(300):
        made(costs, length, seconds=(0.02 + 0.027 * length) * jitter.choice([0.85, 0.95, 1.0, 1.1, 1.2]))
        taken.append(costs.profile)
    assert len(set(taken[50:])) == 1
    assert len(set(taken)) <= 3, "the guess, and when more was known perhaps a better one"
    assert costs.profile.seconds(60, 1.0) == pytest.approx(1.64, rel=0.25)


def test_few_segments_do_not_change_plans_and_a_new_pace_does() -> None:
    costs = CostModel()
    for length in ordinary(7):
        made(costs, length, pace=0.001)
    assert costs.profile == guess()
    for length in ordinary(40):
        made(costs, length, pace=0.001)
    assert costs.profile.seconds(100, 1.0) == pytest.approx(0.12, rel=0.25)


def test_measured_figures_that_are_nearly_alike_are_stored_alike() -> None:
    one = GUESS.follow(CostProfile(per_token=0.0270, audio_per_token=0.0695))
    other = GUESS.follow(CostProfile(per_token=0.0275, audio_per_token=0.0700))
    assert one == other != GUESS


@pytest.mark.parametrize("nonsense", [(0, 100, 1.0), (10, 0, 1.0), (10, 100, 0.0)])
def test_a_measurement_of_nothing_is_none(nonsense: tuple[int, int, float]) -> None:
    tokens, samples, seconds = nonsense
    costs = CostModel()
    costs.observe(tokens, 1.0, samples, seconds)
    assert costs.as_dict() == {}
