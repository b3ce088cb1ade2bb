"""The worker's choice of the next block, and what it writes."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest

from shm.audio import SAMPLE_RATE
from shm.frames import HEADER_BYTES
from shm.messages import MAX_COMMIT_BYTES, Commit, Done, Failed, Forget, Marks, Release, encode
from shm.ring import RingReader
from shm.timing import unpack_marks
from tests.worker.bench_desk import RING, Desk, samples_of


def test_blocks_are_committed_in_order_and_the_end_is_told() -> None:
    desk = Desk()
    desk.order(0, 0, "3x100")
    desk.steps()
    assert desk.commits() == [(0, 0, 0, 100), (0, 0, 100, 100), (0, 0, 200, 100)]
    assert np.array_equal(desk.heard(0, 0), samples_of("3x100", 300))
    assert isinstance(desk.sent[-1], Done) and desk.sent[-1].samples == 300


def test_a_commit_has_the_times_of_its_block() -> None:
    """Those of the block, which may be made long before the ring has room for it."""
    desk = Desk()
    before = time.monotonic()
    desk.order(0, 0, "3x400")
    desk.steps()
    released = time.monotonic()
    desk.bench.handle(Release(0, 600))
    first, *_, last = (sent.times for sent in desk.sent if isinstance(sent, Commit))
    assert before < first.read < first.begun < first.made < first.written < last.begun
    assert last.read == first.read
    assert last.begun < last.made < released < last.written, "made before there was room, written after"


def test_the_end_is_told_with_the_last_block_and_not_behind_more_urgent_work() -> None:
    desk = Desk()
    desk.order(0, 0, "1x100", deadline=0.0)
    desk.order(1, 0, "9x100", deadline=0.0)
    desk.step()
    assert [type(m) for m in desk.sent] == [Commit, Done]


def test_the_block_with_the_nearest_deadline_is_made_next() -> None:
    desk = Desk()
    desk.order(0, 0, "9x100-long", deadline=0.0)
    desk.step()
    desk.step()
    desk.order(1, 0, "1x100-newcomer", deadline=150 / SAMPLE_RATE)
    desk.step()
    assert desk.engine.made == ["9x100-long", "9x100-long", "1x100-newcomer"]


def test_the_first_block_of_a_stream_shares_the_cores_with_none_of_its_later_segments() -> None:
    desk = Desk(first_block=0.3)
    for segment in range(3):
        desk.order(0, segment, f"3x100-{segment}", deadline=time.monotonic() + 9 + segment)
    first = desk.take_up()
    assert list(desk.bench._workable()) == []
    desk.order(1, 0, "3x100-newcomer", deadline=time.monotonic() + 99)
    assert desk.take_up().order.script == "3x100-newcomer"
    desk.finish(first)
    assert [segment.order.segment for segment in desk.bench._workable()] == [0, 1, 2]


@pytest.mark.parametrize(("seconds", "together"), [(-2, True), (-0.5, False), (0.5, False), (2, True)])
def test_who_has_little_left_to_hear_shares_the_cores_with_none_of_his_later_segments(
    seconds: float, together: bool
) -> None:
    """A stream that is long late shares the cores with its later segments: that gives the most sound for the time."""
    desk = Desk(first_block=0.3)
    desk.order(0, 0, "4x100", deadline=time.monotonic() + seconds, from_sample=100)
    desk.order(0, 1, "3x100-next", deadline=time.monotonic() + 9)
    desk.step()
    assert [segment.order.segment for segment in desk.bench._workable()] == [0, 1][: 1 + together]
    desk.take_up()
    assert [segment.order.segment for segment in desk.bench._workable()] == [1] * together


def test_a_first_segment_without_a_sound_does_not_keep_the_next_one_waiting() -> None:
    desk = Desk(first_block=0.3)
    desk.order(0, 0, "1x100", from_sample=100)
    desk.order(0, 1, "1x100-next")
    desk.steps()
    assert [(m.segment, m.samples) for m in desk.sent if isinstance(m, Done)] == [(0, 100), (1, 100)]


def test_where_a_segment_is_one_block_the_next_one_is_made_beside_it() -> None:
    desk = Desk()
    desk.order(0, 0, "1x100")
    desk.order(0, 1, "1x100-next", deadline=1)
    desk.take_up()
    assert desk.take_up().order.segment == 1


def test_a_full_ring_stalls_its_own_stream_only_and_a_release_lets_it_go_on() -> None:
    desk = Desk()
    desk.order(0, 0, "15x100", deadline=0.0)
    desk.order(1, 0, "2x100", deadline=1000.0)
    desk.steps()
    assert sum(samples for stream, _, _, samples in desk.commits() if stream == 0) == RING
    assert isinstance(desk.sent[-1], Done) and desk.sent[-1].stream == 1, "the other stream was not held up"
    made = desk.engine.made.count("15x100")
    assert made == 11, "one block ahead, and no more"
    first = desk.heard(0, 0)
    desk.bench.handle(Release(0, RING))
    desk.steps()
    rest = [m for m in desk.sent if isinstance(m, Commit) and m.stream == 0 and m.position >= RING]
    pieces = [p for m in rest for p in RingReader(desk.arena.ring(0)).sealed(m.position, m.samples, m.crc32)]
    assert np.array_equal(np.concatenate([first, *pieces]), samples_of("15x100", 1500))


def test_a_block_longer_than_the_ring_arrives_in_parts() -> None:
    desk = Desk()
    desk.order(0, 0, "1x2500")
    desk.steps()
    got = [desk.heard(0, 0)]
    for position in (600, 1000, 1700, 2000, 2400):
        before = len(desk.sent)
        desk.bench.handle(Release(0, position))
        got += [
            piece
            for m in desk.sent[before:]
            if isinstance(m, Commit)
            for piece in (p.copy() for p in RingReader(desk.arena.ring(0)).sealed(m.position, m.samples, m.crc32))
        ]
    assert np.array_equal(np.concatenate(got), samples_of("1x2500", 2500))
    assert isinstance(desk.sent[-1], Done)


def test_a_later_segment_is_written_after_the_earlier_one_even_if_made_first() -> None:
    desk = Desk()
    desk.order(0, 0, "2x100-first", deadline=50.0)
    desk.order(0, 1, "1x100-second", deadline=0.0)
    desk.step()
    assert desk.engine.made == ["1x100-second"] and not desk.sent
    desk.steps()
    assert [(segment, offset) for _, segment, offset, _ in desk.commits()] == [(0, 0), (0, 100), (1, 0)]


def test_later_segments_are_made_to_their_ends_while_the_ring_has_room() -> None:
    """Two at once make more audio than one after another; a listener who reads nothing costs one block ahead."""
    desk = Desk()
    desk.order(0, 0, "15x100-first", deadline=50.0)
    desk.order(0, 1, "5x100-second", deadline=0.0)
    for _ in range(4):
        desk.step()
    assert desk.engine.made == ["5x100-second"] * 4 and not desk.sent
    desk.take_up()
    for _ in range(11):
        desk.step()
    assert sum(samples for *_, samples in desk.commits()) == RING
    assert not any(True for _ in desk.bench._workable())


def test_a_forgotten_job_is_neither_made_nor_written_any_more() -> None:
    desk = Desk()
    desk.order(0, 0, "5x100")
    desk.step()
    in_making = desk.bench._next()
    assert in_making is not None
    block = desk.bench._advance(in_making)
    desk.bench.handle(Forget(0))
    desk.bench._take_in(in_making, *block)
    assert len(desk.commits()) == 1, "what was in the making is dropped"
    assert desk.engine.closed == ["5x100"]
    assert not any(True for _ in desk.bench._workable())
    desk.order(0, 0, "1x50")  # the ring's next owner starts at its beginning
    desk.steps()
    assert [m.position for m in desk.sent if isinstance(m, Commit)] == [0, 0]


def test_a_segment_is_resumed_at_the_sample_that_is_missing() -> None:
    desk = Desk()
    desk.order(0, 0, "4x100", from_sample=200)
    desk.steps()
    assert desk.commits() == [(0, 0, 200, 100), (0, 0, 300, 100)]
    assert np.array_equal(desk.heard(0, 0), samples_of("4x100", 400)[200:])
    assert isinstance(desk.sent[-1], Done) and desk.sent[-1].samples == 400


def test_a_segment_whose_samples_were_all_sealed_only_ends() -> None:
    desk = Desk()
    desk.order(0, 0, "4x100", from_sample=400)
    desk.steps()
    assert [type(m) for m in desk.sent] == [Done]


@pytest.mark.parametrize(
    ("script", "reason"),
    [("boom", "can't say boom"), ("bug", "RuntimeError"), ("skip", "sample 7 where 0"), ("gives up", "gave up")],
)
def test_a_segment_that_cannot_be_made_is_reported_and_the_next_one_is_made(script: str, reason: str) -> None:
    desk = Desk()
    desk.order(0, 0, script)
    desk.order(1, 0, "1x100")
    desk.steps()
    failed = [m for m in desk.sent if isinstance(m, Failed)]
    assert [(m.stream, m.segment) for m in failed] == [(0, 0)] and reason in failed[0].reason
    assert desk.commits() == [(1, 0, 0, 100)]


def test_a_provider_that_fails_is_no_segments_fault() -> None:
    desk = Desk()
    desk.order(0, 0, "driver")
    desk.step()
    assert [error.provider for error in desk.broken] == ["CUDAExecutionProvider"]


def test_a_blocks_marks_are_sent_before_its_first_sample_in_records_that_fit_the_pipe() -> None:
    desk = Desk()
    desk.order(0, 0, "2x200", marks=True)
    desk.steps()
    assert [type(m) for m in desk.sent] == [*[Marks] * 4, Commit, *[Marks] * 4, Commit, Done]
    sent = [m for m in desk.sent if isinstance(m, Marks)]
    assert [mark for m in sent[:4] for mark in unpack_marks(m.packed)] == [(n, n) for n in range(200)]
    assert [mark for m in sent[4:] for mark in unpack_marks(m.packed)] == [(n, n) for n in range(200, 400)]
    assert {(m.generation, m.stream, m.segment) for m in sent} == {(1, 0, 0)}
    longest = max(len(encode(Marks(2**63, 2**63, 2**63, m.packed))) for m in sent)
    assert longest + HEADER_BYTES <= MAX_COMMIT_BYTES


def test_marks_do_not_wait_for_room_and_their_commits_do() -> None:
    desk = Desk()
    desk.order(0, 0, f"2x{RING}", marks=True)
    desk.steps()
    before = [m for m in desk.sent if isinstance(m, Marks)]
    assert len(desk.commits()) == 1 and unpack_marks(before[-1].packed)[-1] == (2 * RING - 1, 2 * RING - 1)
    desk.bench.handle(Release(0, RING))
    assert len(desk.commits()) == 2
    assert [m for m in desk.sent if isinstance(m, Marks)] == before


def test_who_did_not_ask_gets_no_marks() -> None:
    desk = Desk()
    desk.order(0, 0, "2x200")
    desk.steps()
    assert [type(m) for m in desk.sent] == [Commit, Commit, Done]


def test_the_time_that_prosody_took_is_summed() -> None:
    desk = Desk()
    desk.order(0, 0, "4x100")
    desk.steps()
    assert [m.prosody_seconds for m in desk.sent if isinstance(m, Done)] == [0 + 1 + 2 + 3]


def test_an_inference_thread_says_what_it_takes_up() -> None:
    desk = Desk()
    desk.order(0, 0, "2x100")
    desk.order(1, 0, "1x100", deadline=1.0)
    desk.steps()
    assert desk.begun == [(0, 0), (0, 0), (1, 0)]


def test_an_order_of_another_generation_is_dropped() -> None:
    desk = Desk()
    desk.bench._generation = 2
    desk.order(0, 0, "1x100")
    assert not any(True for _ in desk.bench._workable())


def test_real_threads_make_all_and_end_when_the_bench_closes() -> None:
    desk = Desk()
    done = threading.Semaphore(0)
    receive = desk.receive
    desk.receive = lambda message: (receive(message), isinstance(message, Done) and done.release())
    threads = [threading.Thread(target=desk.bench.run_inference) for _ in range(2)]
    for thread in threads:
        thread.start()
    for stream in range(3):
        desk.order(stream, 0, f"9x100-{stream}", deadline=stream)
    for _ in range(3):
        assert done.acquire(timeout=60)
    desk.bench.forget_all()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    for stream in range(3):
        assert np.array_equal(desk.heard(stream, 0), samples_of(f"9x100-{stream}", 900))


def test_a_closed_bench_gives_the_memory_back_at_once() -> None:
    """Its threads may hold the bench for as long as a run takes to end."""
    desk = Desk()
    desk.order(0, 0, "2x100")
    desk.step()
    arena = weakref.ref(desk.arena)
    del desk.arena
    gc.disable()
    try:
        assert arena() is not None
        desk.bench.forget_all()
        assert arena() is None
    finally:
        gc.enable()
