"""Delayed actions on a clock that jumps, stands still, and runs while an action does."""

import itertools
import random

import pytest

from supervisor.processes.timers import LATE, Timers


class Clock:
    def __init__(self) -> None:
        self.now = 1e6
        self.timers = Timers(lambda: self.now)
        self.ran: list[tuple[float, float]] = []
        """The delay of each action that ran, and the time at which it ran."""

    def plan(self, delay: float) -> None:
        self.timers.after(delay, lambda: self.ran.append((delay, self.now)))

    def passes(self, seconds: float) -> None:
        end = self.now + seconds
        while (due := self.timers.next) is not None and due <= end:
            self.now = max(self.now, due)
            self.timers.run_due()
        self.now = end


@pytest.mark.parametrize("seed", range(50))
def test_time_in_which_the_process_did_not_run_counts_for_no_deadline(seed: int) -> None:
    """Deadlines of all lengths, and jumps of the clock by hours at any of them: each action runs when the process has
    run as long as its delay, within what may be late on a busy machine."""
    chance = random.Random(seed)
    clock = Clock()
    start, ran = clock.now, []
    delays = [chance.uniform(0.0, 600.0) for _ in range(30)]
    for delay in delays:
        clock.timers.after(delay, lambda delay=delay: ran.append((delay, clock.timers.awake - start)))  # type: ignore[misc]
    while clock.timers.next is not None:
        clock.passes(chance.uniform(0.0, 60.0))
        clock.now += chance.choice([0.0, 0.0, 0.5, 60.0, 7200.0])
        clock.timers.run_due()
    assert [delay for delay, _ in ran] == sorted(delays), "each once, in order"
    assert all(delay - 0.001 <= awake <= delay + LATE for delay, awake in ran)


def test_a_jump_delays_the_rest_by_what_was_lost() -> None:
    clock = Clock()
    start = clock.now
    for delay in (4.0, 5.0, 300.0):
        clock.plan(delay)
    clock.passes(3.9)
    clock.now += 3600.0
    clock.timers.run_due()
    assert [delay for delay, _ in clock.ran] == [4.0], "the others get the time that they were promised"
    clock.passes(0.99)
    assert len(clock.ran) == 1
    clock.passes(0.02)
    assert len(clock.ran) == 2
    clock.passes(600.0)
    assert clock.ran[-1][1] - start == pytest.approx(300.0 + 3600.0 - 0.1)


def test_a_clock_that_stands_still_during_sleep_loses_nothing() -> None:
    """macOS: the monotonic clock doesn't count the sleep, whatever the wall clock does."""
    clock = Clock()
    clock.plan(10.0)
    clock.passes(5.0)
    for _ in range(100):
        clock.timers.run_due()
    clock.passes(5.0)
    assert len(clock.ran) == 1 and clock.timers.lost == 0.0


def test_a_busy_machine_s_delays_are_not_lost() -> None:
    clock = Clock()
    for delay in range(1, 10):
        clock.plan(float(delay))
    for _ in range(12):
        clock.now += 1.0 + LATE / 2 if clock.timers.next == clock.now else 1.0
        clock.timers.run_due()
    assert len(clock.ran) == 9 and clock.timers.lost == 0.0


def test_actions_that_take_longer_than_their_period_leave_the_loop_its_turns() -> None:
    clock = Clock()
    count = itertools.count()

    def slow() -> None:
        next(count)
        clock.now += 0.5
        clock.timers.after(0.1, slow)

    clock.timers.after(0.1, slow)
    clock.now += 0.1
    clock.timers.run_due()
    assert next(count) == 1
