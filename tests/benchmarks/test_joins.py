"""A join is heard when it makes a step that the signal doesn't."""

import numpy as np

from benchmarks.joins import AROUND, largest_step


def noise(level: float = 1000, length: int = 20 * AROUND) -> np.ndarray:
    return np.random.default_rng(0).normal(0, level, length).astype(np.int16)


def test_where_nothing_is_different_no_step_is_the_largest():
    share = largest_step(noise(), noise(), [4 * AROUND, 9 * AROUND])
    assert share is not None and share <= 1


def test_a_click_at_a_join_is_found_and_anywhere_else_it_is_not_the_joins():
    whole = noise()
    clicking = whole.copy()
    clicking[9 * AROUND :] += 20000
    share = largest_step(whole, clicking, [4 * AROUND, 9 * AROUND])
    assert share is not None and share > 1
    elsewhere = largest_step(whole, clicking, [4 * AROUND, 15 * AROUND])
    assert elsewhere is not None and elsewhere <= 1


def test_a_click_in_a_quiet_place_is_not_hidden_by_a_loud_one():
    whole = np.concatenate([noise(2), noise(5000)])
    clicking = whole.copy()
    clicking[5 * AROUND : 6 * AROUND] += 100
    share = largest_step(whole, clicking, [5 * AROUND])
    assert share is not None and share > 1


def test_without_a_join_nothing_is_said():
    assert largest_step(noise(), noise(), []) is None
    assert largest_step(noise(), noise(), [len(noise()) + 2 * AROUND]) is None, "in silence that was cut off"
