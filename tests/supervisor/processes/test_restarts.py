"""When a dead process is started again."""

from __future__ import annotations

from supervisor.processes.restarts import MAX_BACKOFF, RestartWindow

MAX_DEATHS, WINDOW = 5, 30.0


def test_the_first_death_costs_no_wait_and_each_further_one_waits_longer() -> None:
    window = RestartWindow(MAX_DEATHS, WINDOW)
    delays = [window.after_death(now) for now in (0.0, 1.0, 2.0, 3.0)]
    assert delays[0] == 0.0
    assert None not in delays
    assert delays == sorted(delays) and len(set(delays)) == len(delays)
    assert max(delays) <= MAX_BACKOFF


def test_too_many_deaths_in_the_window_are_a_crash_loop() -> None:
    window = RestartWindow(MAX_DEATHS, WINDOW)
    for death in range(MAX_DEATHS - 1):
        assert window.after_death(death * 0.1) is not None
    assert window.after_death(MAX_DEATHS * 0.1) is None


def test_deaths_that_are_far_apart_are_forgotten() -> None:
    window = RestartWindow(MAX_DEATHS, WINDOW)
    assert [window.after_death(n * WINDOW) for n in range(20)] == [0.0] * 20
