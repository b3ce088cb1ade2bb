"""When a dead process is started again."""

from __future__ import annotations

from supervisor.processes.restarts import MAX_BACKOFF, Restarts

MAX_DEATHS, WINDOW = 5, 30.0


def test_the_first_death_costs_no_wait_and_each_further_one_waits_longer() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    delays = [restarts.after_death(now, progressed=False, proven=True) for now in (0.0, 1.0, 2.0, 3.0)]
    assert delays[0] == 0.0
    assert delays == sorted(delays) and len(set(delays)) == len(delays)
    later = [restarts.after_death(4.0, progressed=False, proven=True) for _ in range(50)]
    assert max(later) == MAX_BACKOFF


def test_a_server_speaks_soon_after_what_killed_its_workers_is_over() -> None:
    """Whatever the number of deaths before: a listener waits a few seconds, not minutes, for the next start."""
    restarts = Restarts(1000, WINDOW)
    delays = [restarts.after_death(now, progressed=False, proven=True) for now in range(100)]
    assert all(delay is not None and delay <= 10.0 for delay in delays)


def test_deaths_without_progress_for_the_whole_window_are_a_crash_loop() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    for death in range(MAX_DEATHS * 4):
        assert restarts.after_death(death * 0.1, progressed=False, proven=True) is not None
    assert restarts.after_death(WINDOW, progressed=False, proven=True) is None


def test_a_process_that_has_never_served_is_given_up_after_so_many_deaths_however_fast() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    for _ in range(MAX_DEATHS - 1):
        assert restarts.after_death(0.0, progressed=False, proven=False) is not None
    assert restarts.after_death(0.0, progressed=False, proven=False) is None


def test_deaths_after_progress_are_no_crash_loop_and_cost_no_wait() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    for now in range(1000):
        assert restarts.after_death(now, progressed=True, proven=True) == 0.0


def test_progress_begins_the_count_anew() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    for now in range(0, 300, 10):
        assert restarts.after_death(now, progressed=now % 40 == 0, proven=True) is not None
