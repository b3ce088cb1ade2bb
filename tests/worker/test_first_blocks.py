"""A newcomer's first block has the engine for itself, as far as no listener runs dry meanwhile."""

import random
import threading
import time
from collections.abc import Generator
from functools import partial
from itertools import accumulate

import pytest
from msgspec.structs import replace

from shm.audio import SAMPLE_RATE
from shm.messages import FIRST_BLOCK_GRACE, Done, Forget
from tests.worker.bench_desk import Desk, ScriptedEngine, an_order, samples_of
from tests.worker.simulated_machine import (
    CONTEXT,
    FRAME,
    PROCESSORS,
    PROSODY,
    READING,
    SHAPE,
    TWO_THREADS,
    Listener,
    Machine,
)
from worker.engine import Block, RunControl, Utterance
from worker.loop.segments import HEARD_SOONER, SegmentWork
from worker.loop.workbench import latest_starts

MINUTE = 60.0


@pytest.fixture
def desk() -> Desk:
    return Desk(first_block=0.3)


def sounding(desk: Desk, stream: int, left: float) -> SegmentWork:
    """A stream of which a block was made, and whose listener has so many seconds left; a thread is at its next one."""
    desk.order(stream, 0, "9x100", deadline=time.monotonic() + left)
    desk.step()
    return desk.take_up()


def newcomer(desk: Desk, stream: int, deadline: float = 0.3) -> None:
    desk.order(stream, 0, f"2x100-{stream}", deadline=time.monotonic() + deadline)


def test_runs_that_can_wait_are_paused_until_the_first_block_is_made(desk: Desk) -> None:
    other = sounding(desk, 0, MINUTE)
    newcomer(desk, 1)
    first = desk.take_up()
    assert first.order.stream == 1 and other.control.is_paused and not first.control.is_paused
    desk.finish(first)
    assert desk.take_up().order.stream == 1 and other.control.is_paused, "the newcomer's next block is due sooner"
    assert desk.bench._take_up() is None and not other.control.is_paused, "the engine can make two blocks at once"


def test_a_paused_run_that_is_due_before_the_newcomers_next_block_goes_first(desk: Desk) -> None:
    other = sounding(desk, 0, 3.0)
    newcomer(desk, 1)
    first = desk.take_up()
    assert other.control.is_paused
    other.order = replace(other.order, first_deadline=time.monotonic())
    desk.finish(first)
    assert desk.take_up().order.stream == 1 and not other.control.is_paused


def test_a_listeners_blocks_are_due_by_when_the_first_one_came(desk: Desk) -> None:
    """Else a newcomer who waited for long would go before listeners who have less to hear."""
    newcomer(desk, 1, deadline=-2.0)
    late = desk.take_up()
    desk.finish(late)
    assert abs(late.deadline - time.monotonic()) < 1.0


@pytest.mark.parametrize(("segment", "from_sample"), [(1, 0), (0, 100)])
def test_a_stream_that_sounded_before_it_came_keeps_its_deadlines(desk: Desk, segment: int, from_sample: int) -> None:
    deadline = time.monotonic() - 30.0
    desk.order(0, segment, "9x100", deadline, from_sample)
    resumed = desk.take_up()
    desk.finish(resumed)
    assert resumed.deadline == deadline + resumed.made / SAMPLE_RATE


def test_a_clip_that_is_collected_keeps_its_deadlines(desk: Desk) -> None:
    deadline = time.monotonic() + MINUTE
    desk.order(0, 0, "9x100", deadline)
    clip = desk.take_up()
    desk.finish(clip)
    assert clip.deadline == deadline + clip.made / SAMPLE_RATE


def test_a_first_block_may_be_late_where_another_listener_would_hear_a_gap(desk: Desk) -> None:
    desk.order(0, 0, "9x100", deadline=time.monotonic() + 0.4, from_sample=100)
    desk.step()
    newcomer(desk, 1, deadline=0.2)
    assert desk.take_up().order.stream == 0
    assert desk.take_up().order.stream == 1


def test_no_first_block_waits_for_good(desk: Desk) -> None:
    desk.order(0, 0, "9x100", deadline=time.monotonic() + 0.4, from_sample=100)
    desk.step()
    newcomer(desk, 1, deadline=-FIRST_BLOCK_GRACE)
    assert desk.take_up().order.stream == 1


def test_who_would_run_dry_is_not_paused(desk: Desk) -> None:
    other = sounding(desk, 0, 1.0)
    newcomer(desk, 1)
    assert desk.take_up().order.stream == 1
    assert not other.control.is_paused


def test_blocks_that_are_due_together_do_not_all_wait() -> None:
    """Each alone could; but only two are made at once, so the last one would be late."""
    desk = Desk(rings=4, first_block=0.3)
    desk.order(0, 0, "9x100", deadline=time.monotonic() + 1.5)
    desk.step()
    segments = [desk.bench._streams[0].segments[0], sounding(desk, 1, 1.5), sounding(desk, 2, 1.5)]
    for segment in segments:
        segment.block_seconds = 0.9
    newcomer(desk, 3)
    assert desk.bench._choose() is None


def test_the_latest_starts_leave_time_for_what_is_due_sooner() -> None:
    orders = (an_order(stream, 0, "1x100", deadline) for stream, deadline in enumerate((9, 11, 12)))
    soon, later, last = segments = [SegmentWork(order, SAMPLE_RATE) for order in orders]
    for segment in segments:
        segment.block_seconds = 4.0
    starts = latest_starts(reversed(segments), 2)
    assert starts[last] == pytest.approx(12 - HEARD_SOONER - 6.0), "three blocks, two at a time"
    assert starts[later] == starts[last], "begun later, it would be ready in time itself, and delay the last one"
    assert starts[soon] == pytest.approx(9 - HEARD_SOONER - 4.0)
    assert latest_starts([], 2) == {}


def test_nothing_that_can_wait_is_begun_beside_a_first_block(desk: Desk) -> None:
    newcomer(desk, 0)
    first = desk.take_up()
    desk.order(1, 0, "2x100", deadline=time.monotonic() + MINUTE)
    assert desk.bench._choose() is None
    assert 0 < (desk.bench._first_blocks.seconds_to_wait(desk.bench._patient()) or 0) < MINUTE
    desk.finish(first)
    assert desk.take_up().order.stream == 0, "the nearest deadline"
    assert desk.take_up().order.stream == 1


def test_two_newcomers_are_made_beside_each_other(desk: Desk) -> None:
    newcomer(desk, 0)
    newcomer(desk, 1)
    first, second = desk.take_up(), desk.take_up()
    assert {first.order.stream, second.order.stream} == {0, 1}
    assert not first.control.is_paused and not second.control.is_paused


def test_a_newcomer_is_made_though_all_are_busy_if_one_of_them_can_wait(desk: Desk) -> None:
    due, patient = sounding(desk, 0, 1.0), sounding(desk, 1, MINUTE)
    newcomer(desk, 2)
    assert desk.take_up().order.stream == 2
    assert patient.control.is_paused and not due.control.is_paused


def test_a_newcomer_waits_where_nobody_can(desk: Desk) -> None:
    sounding(desk, 0, 1.0), sounding(desk, 1, 1.0)
    newcomer(desk, 2)
    assert desk.bench._choose() is None


def test_nobody_makes_way_for_one_who_does_not_listen_yet(desk: Desk) -> None:
    other = sounding(desk, 0, 2 * MINUTE)
    newcomer(desk, 1, deadline=MINUTE)
    assert desk.take_up().order.stream == 1
    assert not other.control.is_paused


def test_the_paused_wait_for_the_next_newcomer_too(desk: Desk) -> None:
    other = sounding(desk, 0, MINUTE)
    newcomer(desk, 1)
    first = desk.take_up()
    newcomer(desk, 2)
    desk.finish(first)
    both = [desk.take_up(), desk.take_up()]
    assert {each.order.stream for each in both} == {1, 2} and other.control.is_paused
    for each in both:
        desk.finish(each)
    assert desk.take_up().order.stream == 2 and desk.bench._take_up() is None
    assert not other.control.is_paused


def test_a_newcomer_who_left_says_nothing_about_a_first_blocks_time(desk: Desk) -> None:
    before = desk.bench._first_blocks._seconds
    newcomer(desk, 0)
    left = desk.take_up()
    desk.bench.handle(Forget(0))
    desk.bench._take_in(left, None, "")
    assert not desk.bench._first_blocks and desk.bench._first_blocks._seconds == before


def test_an_engine_without_windows_pauses_nothing() -> None:
    desk = Desk()
    other = sounding(desk, 0, MINUTE)
    newcomer(desk, 1)
    desk.take_up()
    assert not other.control.is_paused and desk.bench.threads == desk.engine.concurrency


@pytest.mark.parametrize("end", [RunControl.resume, RunControl.cancel, lambda control: None])
def test_a_pause_ends(end) -> None:
    """The stopped run goes on: by another thread, by the end of all, or when the listener would run dry."""
    control = RunControl()
    control.pause(time.monotonic() + (MINUTE if end in (RunControl.resume, RunControl.cancel) else 0.05))
    waiting = threading.Thread(target=control.wait_while_paused)
    waiting.start()
    end(control)
    waiting.join(timeout=MINUTE)
    assert not waiting.is_alive() and not control.is_paused


def test_a_run_that_begins_in_a_pause_is_stopped_at_once() -> None:
    control, stopped = RunControl(), threading.Event()
    control.pause(time.monotonic() + MINUTE)
    with control.stopping(stopped.set):
        assert stopped.is_set()


def test_the_time_of_a_pause_is_not_the_segments() -> None:
    """The cost model would take the engine for slower than it is."""

    class Paused(ScriptedEngine):
        def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
            utterance.control.pause(time.monotonic() + 0.5)
            utterance.control.wait_while_paused()
            yield Block(0, samples_of(utterance.script, 100), last=True)

    desk, done = Desk(), threading.Event()
    desk.bench._engine = Paused()
    receive = desk.receive
    desk.receive = lambda message: (receive(message), isinstance(message, Done) and done.set())
    thread = threading.Thread(target=partial(desk.bench.run_inference))
    thread.start()
    desk.order(0, 0, "1x100")
    assert done.wait(MINUTE)
    desk.bench.forget_all()
    thread.join(MINUTE)
    [told] = [message for message in desk.sent if isinstance(message, Done)]
    assert told.seconds < 0.4


CROWDS = {
    "one by one": (0.0, 1.13, 2.2, 3.98),
    "three soon after the first": (0.0, 0.85, 1.25, 1.33),
    "nearly together": (0.0, 0.12, 0.35, 0.43),
    "together, and one more": (0.0, 0.05, 0.05, 0.91),
}
"""Seconds at which each listener comes."""


def crowd(patch: pytest.MonkeyPatch, arrivals: tuple[float, ...], seed: int = 0) -> list[Listener]:
    """The listeners at the end, each of whom has heard fifteen seconds in segments of sentences' lengths."""
    rng = random.Random(seed)
    listeners = [Listener(at, [rng.uniform(3.5, 7.5) for _ in range(3)]) for at in arrivals]
    Machine(patch, listeners).run()
    return listeners


def waits(listeners: list[Listener]) -> list[float]:
    return [each.first - each.arrival for each in listeners if each.first is not None]


@pytest.mark.parametrize("arrivals", CROWDS.values(), ids=CROWDS.keys())
@pytest.mark.parametrize("seed", range(5))
def test_four_listeners_whom_the_machine_can_serve_hear_no_gap(
    monkeypatch: pytest.MonkeyPatch, arrivals: tuple[float, ...], seed: int
) -> None:
    """The engine makes 5.25 times real time: so four are served, however close together they come."""
    listeners = crowd(monkeypatch, arrivals, seed)
    assert [listener.gaps for listener in listeners] == [[]] * 4
    assert max(waits(listeners)) < 1.0


def test_no_one_of_thirty_random_crowds_hears_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """They come as the listeners of `benchmarks.streams` do: a second apart on average."""
    rng = random.Random(0)
    for seed in range(30):
        arrivals = accumulate((rng.expovariate(1.0) for _ in range(3)), initial=0.0)
        with monkeypatch.context() as patch:
            assert [listener.gaps for listener in crowd(patch, tuple(arrivals), seed)] == [[]] * 4


def test_a_listener_who_is_alone_waits_no_longer_than_a_first_block_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    [alone] = crowd(monkeypatch, (0.0,))
    window = (SHAPE.first + CONTEXT) * FRAME * TWO_THREADS
    assert waits([alone]) == [pytest.approx(READING + (PROSODY * alone.segments[0] + window) / PROCESSORS, rel=0.01)]
