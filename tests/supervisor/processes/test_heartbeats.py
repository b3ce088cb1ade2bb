"""Processes that hang, are stopped, starved or slow, and a supervisor that sleeps: replayed without a process."""

import itertools
import random
import signal

import pytest

from shm.messages import BooksNews, Heartbeat, PlayerWanted, Started
from supervisor.processes import roles
from supervisor.processes.children import DUMP_GRACE, Activity
from supervisor.processes.errands import Errand
from supervisor.processes.heartbeats import INTERVAL, LONGEST, PATIENCE
from supervisor.processes.lifecycle import Changes
from supervisor.processes.timers import LATE, Timers
from tests.supervisor.fakes import KOKORO, FakeChild, House

NOTICED = 15.0
"""Seconds within which a process that is stopped or in an endless loop is noticed."""
LOAD_TIMEOUT = 300.0

ROLES = ["front", "player", "books"]
ERRANDS = [name for name, row in roles.ROLES.items() if row.errand]
HANGS = {"stopped": (0.0, NOTICED), "in an endless loop": (1.0, NOTICED), "on a busy machine": (0.2, 30.0)}
"""Shares of a processor that a hanging process uses, and the seconds within which that is noticed."""


def serving(role: str) -> tuple[House, FakeChild]:
    house = House()
    front, _ = house.up(KOKORO)
    if role == "player":
        house.lifecycle.message(front, PlayerWanted())
    elif role == "books":
        house.lifecycle.message(front, BooksNews("http://a", "key", True))
    child = house.newest(role)
    if child is not front:
        house.lifecycle.message(child, Started())
    return house, child


def lost_after(house: House, child: FakeChild, longest: float) -> float:
    """Seconds until another process is started in its place."""
    start, count = house.now, house.count(child.role)
    while house.count(child.role) == count:
        due = house.lifecycle.next_wakeup()
        assert due is not None and due - start <= longest, f"the {child.role} hangs, and nobody notices"
        house.passes(max(due - house.now, 0.0))
    return house.now - start


@pytest.mark.parametrize("hang", HANGS)
@pytest.mark.parametrize("role", ROLES)
def test_a_process_that_hangs_is_replaced_whenever_it_begins_to(role: str, hang: str) -> None:
    share, noticed = HANGS[hang]
    for tenths in range(0, int(10 * INTERVAL), 7):
        house, child = serving(role)
        house.passes(20 + tenths / 10)
        child.hangs, child.share = True, share
        assert lost_after(house, child, noticed) >= PATIENCE
        assert child.dumped
        house.passes(DUMP_GRACE)
        assert child.killed
        house.dies(child)
        house.lifecycle.message(house.newest(role), Started())
        house.passes(60.0)
        assert house.count(role) == 2, "its successor is well"


@pytest.mark.parametrize("role", ROLES)
def test_silence_has_an_end_where_nothing_is_known_of_a_process(role: str) -> None:
    house, child = serving(role)
    child.hangs, child.uses = True, None
    assert lost_after(house, child, LONGEST + 3 * INTERVAL) >= LONGEST


@pytest.mark.parametrize("slow", [("processor", 0.0), ("disk", 0.0), ("", 0.01)], ids=["runnable", "disk", "slow"])
@pytest.mark.parametrize("role", ROLES)
def test_a_busy_machine_is_no_hang(role: str, slow: tuple[str, float]) -> None:
    """A healthy process gets next to no processor time for a minute."""
    house, child = serving(role)
    child.hangs, child.uses, child.share = True, Activity(0.0, slow[0]), slow[1]
    house.passes(60.0)
    child.hangs = False
    house.replies()
    house.passes(60.0)
    assert house.count(role) == 1 and not child.killed


@pytest.mark.parametrize("seed", range(20))
def test_sleep_and_stops_of_the_supervisor_kill_nobody(seed: int) -> None:
    """The clock jumps, by seconds or hours, at any moment; the others answer only after the supervisor's next turn."""
    chance = random.Random(seed)
    house, child = serving(chance.choice(ROLES))
    for _ in range(30):
        house.passes(chance.uniform(0.0, 2 * INTERVAL))
        for each in house.children:
            each.hangs = True
        house.passes(chance.uniform(0.0, 3.0))
        house.now += chance.choice([2.0, 10.0, 30.0, 3600.0, 86_400.0])
        house.lifecycle.tick()
        house.passes(chance.uniform(0.0, 3.0))
        for each in house.children:
            each.hangs = False
        house.replies()
    assert not [each for each in house.children if each.killed or each.dumped]
    child.hangs, child.share = True, 0.0
    lost_after(house, child, NOTICED)


@pytest.mark.parametrize("silent", [1.0, 5.0, PATIENCE - 0.1, PATIENCE + INTERVAL - 0.1])
def test_a_silence_from_before_a_sleep_is_not_judged_at_the_awakening(silent: float) -> None:
    house, front = serving("front")
    while len(front.heard_of(Heartbeat)) < 3:
        house.passes(0.1)
    front.hangs, front.asked, front.share = True, True, 0.0
    house.passes(silent - 0.2)
    house.now += 3600.0
    house.lifecycle.tick()
    front.hangs = False
    house.replies()
    house.passes(60.0)
    assert house.count("front") == 1


@pytest.mark.parametrize("standby", [False, True])
@pytest.mark.parametrize("role", ["front", "worker"])
def test_a_process_that_is_stopped_before_it_has_come_up_is_replaced(role: str, standby: bool) -> None:
    """The first processes; or the front that takes over, and the standby."""
    house = House(standby="imported")
    house.up(KOKORO) if standby else house.lifecycle.start()
    if standby and role == "front":
        house.changes = Changes(front=True, worker=False)
        house.lifecycle.signal(signal.SIGHUP)
    child = house.newest(role)
    child.share = 0.0
    start = house.now
    while not child.killed:
        assert house.now - start <= NOTICED
        house.passes(0.5)
    house.dies(child)
    house.passes(10.0)
    alive = [each for each in house.all(role) if not each.reaped]
    assert alive and child not in alive, "another one, or the one that it was to succeed"


@pytest.mark.parametrize("role", ROLES)
def test_a_slow_start_has_a_limit_too(role: str) -> None:
    house, child = serving(role)
    slow = house.reborn(child, 0.1)
    assert slow is not child
    house.passes(LOAD_TIMEOUT - 1.0)
    assert not slow.killed
    house.passes(PATIENCE + DUMP_GRACE + 1.0)
    assert slow.killed


def test_the_manager_s_watchdog_starves_while_the_front_is_silent() -> None:
    house, front = serving("front")
    house.passes(40.0)
    assert len(house.fed) == 40.0 // INTERVAL
    front.hangs, front.uses = True, None
    house.passes(INTERVAL)
    fed = len(house.fed)
    house.passes(40.0)
    assert len(house.fed) == fed
    front.hangs = False
    house.replies()
    house.passes(INTERVAL)
    assert len(house.fed) == fed + 1
    house.lifecycle.signal(signal.SIGTERM)
    front.hangs = True
    house.passes(8.0)
    assert len(house.fed) > fed + 1, "a drain has a limit of its own"


def test_each_look_asks_once() -> None:
    """A process that doesn't read gets no second heartbeat: its socket must not fill up."""
    house, front = serving("front")
    front.hangs, front.uses = True, None
    house.passes(60.0)
    assert len(front.heard_of(Heartbeat)) == 1


@pytest.mark.parametrize("role", ERRANDS)
@pytest.mark.parametrize("used", [0.0, 1.0], ids=["still", "at work"])
def test_an_errand_may_be_silent_until_its_own_limit(role: str, used: float) -> None:
    """A trial's process waits for the one that measures, a fetcher for the network: neither uses the processor."""
    limit = 40 * LONGEST
    home = House(errands=[Errand(role, "it was done", "it is being done", limit)])
    home.up(KOKORO)
    errand = home.newest(role)
    errand.hangs, errand.share = True, used
    home.passes(limit - 1)
    assert not errand.killed and home.count(role) == 1
    home.passes(2)
    assert errand.killed


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


@pytest.mark.parametrize("seed", range(15))
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
