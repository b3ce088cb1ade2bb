"""When an engine may learn: while nothing is to be made, and not a moment longer."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from shm.audio import SAMPLE_BYTES
from shm.control import ControlSocket
from shm.frames import FrameReader, FrameWriter
from shm.memory import reserve
from shm.messages import Connect, Forget, encode
from tests.worker.bench_desk import RING, Desk, ScriptedEngine, an_order
from worker.cancellation import Cancellation
from worker.engine import Cancelled, ProviderUnavailable
from worker.metrics import WorkerMetrics
from worker.process import Worker
from worker.settings import WorkerSettings
from worker.workbench import NEARLY_DUE

SOON = 30.0
"""Seconds after which something has failed."""


@contextmanager
def studying(desk: Desk) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=desk.bench.run_studies)
    thread.start()
    yield thread
    desk.engine.learned.put(False)
    desk.bench.close()
    thread.join(SOON)
    assert not thread.is_alive()


def begun(desk: Desk) -> Cancellation:
    return desk.engine.studies.get(timeout=SOON)


def leisure(desk: Desk) -> bool:
    """Whether it would begin now."""
    with desk.bench._changed:
        return desk.bench._to_study and not desk.bench._in_inference and not any(True for _ in desk.bench._workable())


def test_it_learns_after_what_was_made_until_there_is_no_more() -> None:
    desk = Desk()
    with studying(desk):
        desk.order(0, 0, "2x100")
        assert desk.engine.studies.empty()
        desk.steps()
        begun(desk)
        desk.engine.learned.put(True)
        begun(desk)
        desk.engine.learned.put(False)
        desk.order(1, 0, "1x100")
        desk.steps()
        begun(desk)
    assert desk.engine.studies.empty(), "and nothing more was asked for than that"


def test_it_does_not_while_a_thread_is_at_work_or_could_be() -> None:
    desk = Desk()
    desk.order(0, 0, "1x100")
    desk.steps()
    assert leisure(desk)
    desk.order(1, 0, "2x100")
    assert not leisure(desk)
    segment = desk.take_up()
    assert not leisure(desk)
    desk.finish(segment)
    assert not leisure(desk)
    desk.steps()
    assert leisure(desk)


def test_it_learns_while_listeners_have_enough_to_hear() -> None:
    desk = Desk()
    desk.order(0, 0, f"3x{RING}")
    desk.steps()
    assert leisure(desk)


def test_a_new_stream_ends_it_and_a_segment_that_has_time_does_not() -> None:
    desk = Desk()
    with studying(desk):
        desk.order(0, 0, "1x100")
        desk.steps()
        cancellation = begun(desk)
        desk.order(0, 1, "1x100", deadline=time.monotonic() + 10 * NEARLY_DUE)
        desk.bench.handle(Forget(0))
        assert not cancellation.is_set
        desk.order(1, 0, "1x100", deadline=time.monotonic() + 10 * NEARLY_DUE)
        assert cancellation.is_set


def test_a_segment_whose_listener_has_nothing_left_to_hear_ends_it() -> None:
    desk = Desk()
    with studying(desk):
        desk.order(0, 0, "1x100")
        desk.steps()
        cancellation = begun(desk)
        desk.order(0, 1, "1x100", deadline=time.monotonic() + NEARLY_DUE / 2)
        assert cancellation.is_set


def test_a_bench_whose_front_is_followed_by_another_learns_no_more() -> None:
    desk = Desk()
    with studying(desk) as thread:
        desk.order(0, 0, "1x100")
        desk.steps()
        cancellation = begun(desk)
        desk.bench.stop_studies()
        assert cancellation.is_set
        desk.engine.learned.put(True)
        thread.join(SOON)
        assert not thread.is_alive()
        desk.order(1, 0, "1x100")
        desk.steps()
        assert desk.commits()[-1][0] == 1, "what it has is made all the same"


def test_what_was_given_up_is_begun_again() -> None:
    desk = Desk()
    answers: list[BaseException | None] = [Cancelled(), None]

    def study(cancellation: Cancellation) -> bool:
        desk.engine.studies.put(cancellation)
        if answer := answers.pop(0):
            raise answer
        return False

    desk.engine.study = study  # type: ignore[method-assign]
    with studying(desk):
        desk.order(0, 0, "1x100")
        desk.steps()
        begun(desk)
        begun(desk)
    assert not answers


@pytest.mark.parametrize("error", [ProviderUnavailable("CUDAExecutionProvider", "lost"), RuntimeError("a bug")])
def test_a_failure_is_told_and_ends_no_thread(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    failed = threading.Event()

    def study(cancellation: Cancellation) -> bool:
        failed.set()
        raise error

    desk.engine.study = study  # type: ignore[method-assign]
    with studying(desk):
        desk.order(0, 0, "1x100")
        desk.steps()
        assert failed.wait(SOON)
        desk.order(1, 0, "1x100")
        desk.steps()
    if isinstance(error, ProviderUnavailable):
        assert desk.broken[0] is error
    else:
        assert "a bug" in caplog.text


def test_it_is_given_up_when_the_front_has_gone() -> None:
    desk = Desk()
    with studying(desk):
        desk.order(0, 0, "1x100")
        desk.steps()
        cancellation = begun(desk)
        desk.bench.close()
        assert cancellation.is_set


def connected(worker: Worker) -> tuple[FrameWriter, FrameReader]:
    """A front's ends of its channel to the worker: orders and commits."""
    (orders_end, orders), (commits, commits_end) = os.pipe(), os.pipe()
    memory = reserve(RING * SAMPLE_BYTES)
    worker._follow(Connect(1, 1, RING), [orders_end, commits_end, memory])
    return FrameWriter(orders), FrameReader(commits)


def test_a_worker_that_another_front_comes_to_gives_up_what_it_learned_beside_the_one_before() -> None:
    engine = ScriptedEngine()
    ours, theirs = socket.socketpair()
    worker = Worker(1, ControlSocket(theirs), WorkerSettings(), None, WorkerMetrics())
    worker._engine = engine
    ends = [*connected(worker)]
    try:
        orders = ends[0]
        assert isinstance(orders, FrameWriter)
        orders.send(encode(an_order(0, 0, "1x100")))
        cancellation = engine.studies.get(timeout=SOON)
        assert not cancellation.is_set
        ends += connected(worker)
        assert cancellation.is_set
    finally:
        engine.learned.put(False)
        for end in ends:
            end.close()
        ours.close()
        theirs.close()
