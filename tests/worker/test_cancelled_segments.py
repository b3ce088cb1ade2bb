"""A listener leaves while an inference thread is at the segment: when that is cancelled, and for whom."""

import threading
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from shm.messages import CommitMessage, Done, Forget
from tests.worker.bench_desk import Desk, ScriptedEngine, samples_of
from worker.engine import Block, Cancelled, Utterance


class StuckEngine(ScriptedEngine):
    """A segment named "stuck …" stays in the engine until it is cancelled, or until the test says `finish`."""

    def __init__(self, concurrency: int) -> None:
        super().__init__()
        self.concurrency = concurrency
        self.entered = threading.Semaphore(0)
        self.came_out = threading.Semaphore(0)
        self.cancelled: list[str] = []
        self.utterances: dict[str, Utterance] = {}
        self._gates: defaultdict[str, threading.Event] = defaultdict(threading.Event)

    def finish(self, script: str) -> None:
        self._gates[script].set()

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        script = utterance.script
        if not script.startswith("stuck"):
            yield from super().begin(utterance)
            return
        self.utterances[script] = utterance
        gate = self._gates[script]
        with utterance.control.stopping(gate.set):
            self.entered.release()
            assert gate.wait(30)
        if utterance.control.is_cancelled:
            self.cancelled.append(script)
            raise Cancelled
        self.came_out.release()
        yield Block(0, samples_of(script, 10), last=True)


class Office:
    """A desk with real inference threads."""

    def __init__(self, concurrency: int) -> None:
        self.desk = Desk(rings=4)
        self.engine = StuckEngine(concurrency)
        self.desk.bench._engine = self.engine
        self._record = self.desk.receive
        self.desk.receive = self._receive
        self._done: SimpleQueue[int] = SimpleQueue()
        self._threads = [threading.Thread(target=self.desk.bench.run_inference) for _ in range(concurrency)]
        for thread in self._threads:
            thread.start()

    def _receive(self, message: CommitMessage) -> None:
        self._record(message)
        if isinstance(message, Done):
            self._done.put(message.stream)

    def made_next(self) -> int:
        """The stream of the next segment that is done."""
        return self._done.get(timeout=60)

    def stuck(self, stream: int) -> None:
        """A stream comes, and an inference thread is at it."""
        self.desk.order(stream, 0, f"stuck {stream}")
        assert self.engine.entered.acquire(timeout=60)

    def is_cancelled(self, stream: int) -> bool:
        return self.engine.utterances[f"stuck {stream}"].control.is_cancelled

    def leaves(self, stream: int) -> None:
        self.desk.bench.handle(Forget(stream))

    def close(self) -> None:
        """All threads come to their end without anybody's help."""
        self.desk.bench.close()
        for thread in self._threads:
            thread.join(timeout=60)
            assert not thread.is_alive()


@contextmanager
def office(concurrency: int = 1) -> Iterator[Office]:
    opened = Office(concurrency)
    try:
        yield opened
    finally:
        opened.close()


def test_what_a_listener_left_is_cancelled_for_one_who_waits() -> None:
    with office() as at:
        at.stuck(0)
        at.desk.order(1, 0, "1x100")
        assert not at.is_cancelled(0)
        at.leaves(0)
        assert at.made_next() == 1
        assert at.engine.cancelled == ["stuck 0"]
        assert not [m for m in at.desk.sent if m.stream == 0], "neither samples nor a failure"


def test_what_a_listener_left_is_cancelled_before_the_next_one_waits() -> None:
    """The next one's text is being read; a run alongside would take cores from that."""
    with office() as at:
        at.stuck(0)
        at.leaves(0)
        assert at.is_cancelled(0)
        at.desk.order(1, 0, "1x100")
        assert at.made_next() == 1
        assert not [m for m in at.desk.sent if m.stream == 0]


def test_a_segment_that_somebody_wants_is_never_cancelled_for_another() -> None:
    with office() as at:
        at.stuck(0)
        at.desk.order(1, 0, "1x100")
        at.desk.order(2, 0, "1x100", deadline=1.0)
        at.leaves(1)
        assert not at.is_cancelled(0)
        at.engine.finish("stuck 0")
        assert [at.made_next(), at.made_next()] == [0, 2]


def test_only_what_was_left_is_cancelled() -> None:
    with office(concurrency=2) as at:
        at.stuck(0)
        at.stuck(1)
        at.leaves(0)
        assert at.is_cancelled(0) and not at.is_cancelled(1)


def test_a_bench_that_closes_cancels_what_its_threads_are_at() -> None:
    with office() as at:
        at.stuck(0)
        at.close()
        assert at.engine.cancelled == ["stuck 0"]
