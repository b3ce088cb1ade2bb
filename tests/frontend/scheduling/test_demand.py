"""Admission: who fits is served in time by a nearest-deadline scheduler, and who doesn't is told when."""

import heapq
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.scheduling.admission import MARGIN, Demand, fits, load, wait_for_room

NOW = 1000.0
BLOCK = 0.25


def stream(
    dry_in: float = 0.5, seconds: float = 60.0, work: float = 0.635, block: float = 0.0, upfront: float = 0.0
) -> Demand:
    return Demand(NOW + dry_in, seconds, work, block, upfront)


def served_in_time(demands: list[Demand], threads: int) -> bool:
    """Make everything in blocks, nearest deadline first, on so many inference threads, and look whether one came late.

    A block that is begun is finished, so each may be late by the block that a thread was at when it became due.
    """
    free = [NOW] * threads
    heapq.heapify(free)
    blocks = [
        (each.dry_at + max(start - ahead, 0.0), each.work * min(BLOCK, each.seconds - start))
        for each, ahead in ((each, each.block + each.upfront / each.work) for each in demands)
        for start in (n * BLOCK for n in range(int(each.seconds / BLOCK)))
    ]
    for deadline, work in sorted(blocks):
        end = heapq.heappop(free) + work
        heapq.heappush(free, end)
        if end > deadline + BLOCK * (1 + max(each.work for each in demands)):
            return False
    return True


def admitted(count: int, work: float, threads: int) -> int:
    taken: list[Demand] = []
    for number in range(count):
        newcomer = stream(dry_in=0.5 + number * 0.01, work=work)
        if fits(NOW, taken, newcomer, threads):
            taken.append(newcomer)
    return len(taken)


@pytest.mark.parametrize(("work", "threads"), [(0.635, 2), (0.29, 2), (0.37, 1), (0.1, 4)])
def test_as_many_endless_streams_are_taken_as_the_machine_carries(work: float, threads: int) -> None:
    """A short one fits alongside many; of those that last, `MARGIN` of the speed."""
    assert admitted(64, work, threads) == pytest.approx(MARGIN * threads / work, abs=1)
    assert admitted(64, work, threads) <= threads / work


def test_a_listener_who_has_much_in_hand_leaves_room_for_another() -> None:
    busy = [stream(dry_in=30, seconds=20), stream(dry_in=30, seconds=20), stream(dry_in=30, seconds=20)]
    assert fits(NOW, busy, stream(seconds=2), threads=1)
    late = [replace(each, dry_at=NOW + 0.1) for each in busy]
    assert not fits(NOW, late, stream(seconds=2), threads=1)


def test_whole_segments_need_more_room_than_windows() -> None:
    assert fits(NOW, [], stream(dry_in=1.0, seconds=10, work=0.9), threads=1)
    assert not fits(NOW, [], stream(dry_in=1.0, seconds=10, work=0.9, block=5.0), threads=1)


def test_prosody_is_due_before_the_first_window() -> None:
    """Four who come at once need it four times in the first second, whatever they need later."""
    at_once = [stream(seconds=30, work=0.38, block=0.3) for _ in range(3)]
    assert fits(NOW, at_once, stream(seconds=30, work=0.38, block=0.3), threads=2)
    with_prosody = [replace(each, upfront=0.2) for each in at_once]
    assert not fits(NOW, with_prosody, replace(with_prosody[0]), threads=2)
    assert fits(NOW, with_prosody, replace(with_prosody[0], dry_at=NOW + 1.0), threads=2)


def test_prosody_is_no_more_work_than_the_segments() -> None:
    whole = stream(seconds=2.0, work=0.5, block=0.25, upfront=0.5)
    assert whole.due(NOW + 60) == whole.due(whole.end) == pytest.approx(1.0)
    assert whole.due(whole.end - 0.1) == pytest.approx(0.95)


def test_the_wait_is_long_enough_and_not_much_longer() -> None:
    busy = [stream(seconds=40) for _ in range(3)]
    newcomer = stream(dry_in=0.5)
    wait = wait_for_room(NOW, busy, newcomer, threads=2)
    assert wait > 1
    assert fits(NOW, busy, replace(newcomer, dry_at=newcomer.dry_at + wait), threads=2)
    assert not fits(NOW, busy, replace(newcomer, dry_at=newcomer.dry_at + wait / 2), threads=2)


def test_who_is_alone_is_always_served_however_slow_the_machine() -> None:
    assert wait_for_room(NOW, [], stream(work=3.0), threads=1) == 0
    assert wait_for_room(NOW, [stream(seconds=30, work=3.0)], stream(work=3.0), threads=1) >= 30


demands = st.lists(
    st.builds(
        Demand,
        dry_at=st.floats(0.3, 40).map(lambda seconds: NOW + seconds),
        seconds=st.integers(1, 80).map(lambda blocks: blocks * BLOCK),
        work=st.just(0.5),
        block=st.sampled_from((0.0, BLOCK, 4 * BLOCK)),
        upfront=st.sampled_from((0.0, 0.1, 0.5)),
    ),
    min_size=1,
    max_size=6,
)


@given(demands, st.integers(1, 3))
def test_whoever_is_taken_is_served_in_time(wanting: list[Demand], threads: int) -> None:
    taken: list[Demand] = []
    for newcomer in sorted(wanting, key=lambda each: each.dry_at):
        if fits(NOW, taken, newcomer, threads):
            taken.append(newcomer)
    assert not taken or served_in_time(taken, threads)


def test_without_streams_nothing_is_due() -> None:
    assert load(NOW, [], threads=2) == 0.0


def test_equal_streams_add_up_to_the_whole_machine() -> None:
    """Each needs a quarter of one of two threads, and has long to go."""
    one = stream(seconds=10_000.0, work=0.5)
    assert load(NOW, [one], threads=2) == pytest.approx(0.25, rel=0.05)
    assert load(NOW, [one] * 4, threads=2) == pytest.approx(1.0, rel=0.05)


def test_what_is_made_already_is_not_due() -> None:
    ahead = replace(stream(seconds=20.0, work=0.5), dry_at=NOW + 20)
    assert load(NOW, [ahead], threads=1) == pytest.approx(0.25)


def test_a_machine_slower_than_speech_has_more_due_than_it_can_do() -> None:
    assert load(NOW, [stream(seconds=600.0, work=2.0)], threads=1) > 1.5
