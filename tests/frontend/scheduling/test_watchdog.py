"""When a worker is late, on a loop whose clock is moved by hand."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from frontend.scheduling.watch import FACTOR, STARVED, Watch, Watchdog
from frontend.streams.links import Loss
from frontend.streams.segments import StreamSegment
from tests.shm.imitated_machine import Machine
from text.words.performer import Performer
from text.words.segment import Cut, Segment

PATIENCE = 5.0


class FakeTimer:
    def __init__(self, due: float, action: Callable[[], None]) -> None:
        self.due, self.action, self.cancelled = due, action, False

    def when(self) -> float:
        return self.due

    def cancel(self) -> None:
        self.cancelled = True


class FakeLoop:
    """Only what the watchdog needs of an event loop."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[FakeTimer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, due: float, action: Callable[[], None]) -> FakeTimer:
        self.timers.append(FakeTimer(due, action))
        return self.timers[-1]

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [t for t in self.timers if not t.cancelled and t.due <= end]:
            timer = min(due, key=lambda t: t.due)
            self.timers.remove(timer)
            self.now = max(self.now, timer.due)
            timer.action()
        self.now = end


class FakeLease:
    def __init__(self) -> None:
        self.sealed, self.released, self.capacity = 0, 0, 1000


class FakeLink:
    def __init__(self) -> None:
        self.lost = ""
        self.on_read: Callable[[], None] = lambda: None

    def read(self) -> None:
        self.on_read()

    def lose(self, reason: str, loss: Loss) -> None:
        assert loss is Loss.HANG
        self.lost = reason


class Desk:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loop = FakeLoop()
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: self.loop)
        self.link = FakeLink()
        self.work: list[tuple[StreamSegment, float]] = []
        link: Any = self.link
        self.share: float | None = None
        """The part of one processor that the worker's process gets; None: nobody can say."""
        self.stopped = float("inf")
        """When it was stopped, on the loop's clock."""
        self.watchdog = Watchdog(link, PATIENCE, lambda _: self.work, self.computed)

    def computed(self) -> float | None:
        return None if self.share is None else self.share * (min(self.loop.now, self.stopped) - 100.0)

    def dispatch(self, seconds: float) -> StreamSegment:
        segment = StreamSegment(Segment("x", "x", 1, Cut.SENTENCE), Performer((), "en-us"), 1.0, 100)
        lease: Any = FakeLease()
        segment.lease = lease
        self.work.append((segment, seconds))
        self.watchdog.sign_of_life()
        return segment


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def test_a_worker_that_never_takes_up_its_work_is_lost_after_patience_and_the_works_time(desk: Desk) -> None:
    desk.dispatch(seconds=0.2)
    desk.loop.advance(PATIENCE + FACTOR * 0.2 - 0.01)
    assert not desk.link.lost
    desk.loop.advance(0.02)
    assert desk.link.lost == "it hangs"


def test_work_that_takes_five_times_as_long_as_it_should_is_no_hang(desk: Desk) -> None:
    """A first sentence on a cold cache, or a machine that has halved its clock."""
    desk.share = 1.0
    segment = desk.dispatch(seconds=10.0)
    desk.loop.advance(50.0)
    assert not desk.link.lost
    segment.touched = desk.loop.now
    desk.watchdog.sign_of_life()
    desk.loop.advance(50.0)
    assert not desk.link.lost


def test_an_idle_worker_is_not_watched(desk: Desk) -> None:
    desk.watchdog.sign_of_life()
    assert not desk.loop.timers
    desk.loop.advance(1e6)
    assert not desk.link.lost


def test_a_thread_that_hangs_is_found_while_another_goes_on(desk: Desk) -> None:
    desk.dispatch(seconds=0.0).touched = desk.loop.now
    healthy = desk.dispatch(seconds=0.0)
    for _ in range(20):
        healthy.touched = desk.loop.now
        desk.watchdog.sign_of_life()
        desk.loop.advance(PATIENCE / 10)
    assert desk.link.lost


def test_a_worker_without_room_in_the_ring_is_not_late(desk: Desk) -> None:
    segment = desk.dispatch(seconds=0.0)
    assert segment.lease
    segment.lease.sealed = segment.lease.capacity
    desk.loop.advance(1e4)
    assert not desk.link.lost
    segment.lease.released = 500
    desk.watchdog.sign_of_life()
    desk.loop.advance(PATIENCE - 0.01)
    assert not desk.link.lost, "its time begins with the room"
    desk.loop.advance(0.02)
    assert desk.link.lost


def test_what_has_come_but_was_not_read_yet_counts(desk: Desk) -> None:
    desk.dispatch(seconds=0.0)
    desk.link.on_read = desk.work.clear
    desk.loop.advance(PATIENCE + 1)
    assert not desk.link.lost


def test_work_that_is_due_sooner_is_looked_at_sooner(desk: Desk) -> None:
    desk.dispatch(seconds=1000.0)
    desk.dispatch(seconds=0.0)
    desk.loop.advance(PATIENCE + 0.01)
    assert desk.link.lost


def test_a_stopped_watchdog_says_nothing(desk: Desk) -> None:
    desk.dispatch(seconds=0.0)
    desk.watchdog.stop()
    desk.loop.advance(1e4)
    assert not desk.link.lost


def test_a_worker_that_computes_slowly_on_a_busy_machine_does_not_hang(desk: Desk) -> None:
    desk.share = 0.05
    segment = desk.dispatch(seconds=0.5)
    limit = PATIENCE + FACTOR * 0.5
    desk.loop.advance(limit / desk.share * 0.9)
    assert not desk.link.lost
    segment.touched = desk.loop.now  # its next block
    desk.watchdog.sign_of_life()
    desk.loop.advance(limit / desk.share * 0.9)
    assert not desk.link.lost


def test_a_worker_that_is_stopped_is_lost_as_soon_as_it_is_late(desk: Desk) -> None:
    desk.share = 0.0
    desk.dispatch(seconds=0.2)
    desk.loop.advance(PATIENCE + FACTOR * 0.2 - 0.01)
    assert not desk.link.lost
    desk.loop.advance(0.02)
    assert desk.link.lost


def test_a_worker_that_is_stopped_in_the_middle_of_its_work_is_lost_one_patience_later_at_most(desk: Desk) -> None:
    desk.share = 1.0
    desk.dispatch(seconds=0.2)
    late = PATIENCE + FACTOR * 0.2
    desk.stopped = desk.loop.now + late - 0.1
    desk.loop.advance(late + PATIENCE + 0.01)
    assert desk.link.lost


def test_a_worker_in_an_endless_loop_is_lost_when_it_has_computed_as_much_as_the_work_may_take(desk: Desk) -> None:
    desk.share = 0.5
    desk.dispatch(seconds=0.2)
    limit = PATIENCE + FACTOR * 0.2
    desk.loop.advance(limit / 0.5 - 0.01)
    assert not desk.link.lost
    desk.loop.advance(2 * PATIENCE)
    assert desk.link.lost


def test_a_worker_that_gets_hardly_any_processor_time_is_not_waited_for_without_end(desk: Desk) -> None:
    desk.share = 0.005
    desk.dispatch(seconds=0.0)
    desk.loop.advance(STARVED * PATIENCE + PATIENCE)
    assert desk.link.lost


def test_a_worker_that_was_not_looked_at_in_time_is_looked_at_twice(desk: Desk) -> None:
    """This process was kept from the processor itself: what it knows of the worker is from before that."""
    desk.share = 0.05
    desk.dispatch(seconds=0.0)
    late, desk.loop.now = desk.loop.timers.pop(), desk.loop.now + 10 * PATIENCE
    late.action()
    assert not desk.link.lost
    desk.loop.advance(PATIENCE)
    assert not desk.link.lost


def test_a_sleep_of_the_machine_at_any_moment_loses_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A healthy worker gets a small part of a core for long; hours that nobody has had don't make it still."""
    machine = Machine(monkeypatch)
    link: Any = FakeLink()
    segment = StreamSegment(Segment("x", "x", 1, Cut.SENTENCE), Performer((), "en-us"), 1.0, 100)
    lease: Any = FakeLease()
    segment.lease = lease

    async def listens() -> None:
        start = machine.now
        watchdog = Watchdog(
            link, PATIENCE, lambda _: [(segment, 0.2)], lambda: 0.02 * (machine.now - start - machine.slept)
        )
        watchdog.sign_of_life()
        for _ in range(30):
            await asyncio.sleep(1.0)
        watchdog.stop()

    machine.run(listens)
    for sleeps_at in range(1, machine.waits + 1):
        machine.run(listens, sleeps_at)
        assert not link.lost, f"asleep at wait {sleeps_at}"


DEADLINE = 60.0
HAS_A_HELPER = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"


def test_a_worker_computes_while_its_helper_does() -> None:
    """espeak-ng speaks in a helper, and its worker waits meanwhile."""
    shared: Any = None
    with subprocess.Popen([sys.executable, "-c", HAS_A_HELPER]) as worker:
        process = psutil.Process(worker.pid)
        watch = Watch(shared, lambda _: worker.pid)
        started = time.monotonic()
        try:
            while (watch._computed(1) or 0.0) < 0.2 + sum(process.cpu_times()[:2]):
                assert time.monotonic() - started < DEADLINE
                time.sleep(0.01)  # nobody tells of processor time
        finally:
            for each in (*process.children(), process):
                each.kill()
    assert watch._computed(1) is None
