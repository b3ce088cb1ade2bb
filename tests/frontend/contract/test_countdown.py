"""Countdowns: they act when their time is over, and only then."""

from frontend.contract.countdown import Countdown
from tests.frontend.timers import due_timers_act


async def test_a_countdown_acts_once_for_each_start() -> None:
    running: list[bool] = []
    countdown = Countdown(lambda: running.append(countdown.running))
    for start in (1, 2):
        countdown.start(0.0)
        assert countdown.running
        await due_timers_act()
        assert running == [False] * start
    assert not countdown.running


async def test_a_countdown_that_is_stopped_or_started_again_forgets_its_former_time() -> None:
    acted: list[str] = []
    stopped = Countdown(lambda: acted.append("stopped"))
    restarted = Countdown(lambda: acted.append("restarted"))
    for each in (stopped, restarted):
        each.start(0.0)
    stopped.stop()
    restarted.start(1000.0)
    await due_timers_act()
    assert (acted, stopped.running, restarted.running) == ([], False, True)
    for each in (stopped, restarted):
        each.stop()
