"""A listener leaves while an inference thread is at the segment: when that is cancelled, and for whom."""

import threading
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import numpy as np
import pytest

from benchmarks.measuring.mel_distance import log_mel_distance
from shm.audio import SAMPLE_RATE
from shm.messages import CommitMessage, Done, Forget
from tests.engine_infos import espeak
from tests.worker.bench_desk import Desk, ScriptedEngine, samples_of
from worker.engine import Block, Cancelled, EngineError, Utterance
from worker.loop.process import MeteredEngine, WorkerMetrics
from worker.pcm import snr, to_pcm


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
        self.desk.bench.forget_all()
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


SPOKEN = Utterance("abc", "en-us", (("a", 1.0),), 1.0)


class Scripted:
    """An engine that gives blocks, and then perhaps fails."""

    info = espeak()
    concurrency = 3

    def __init__(self, blocks: int, end: Exception | None = None) -> None:
        self._blocks = blocks
        self._end = end
        self.closed = 0

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        self.begun = self._begin()  # kept: else it would be closed for want of anybody who has it
        return self.begun

    def _begin(self) -> Generator[Block, None, None]:
        try:
            for number in range(self._blocks):
                yield Block(number, np.ones(1, np.int16))
            if self._end:
                raise self._end
        finally:
            self.closed += 1

    def warm_up(self) -> None: ...


def counted(metrics: WorkerMetrics, name: str) -> float:
    value = metrics.registry.get_sample_value(f"kokoro_live_{name}")
    assert value is not None
    return value


def test_blocks_and_time_are_counted() -> None:
    metrics = WorkerMetrics()
    engine = MeteredEngine(Scripted(3), metrics)
    assert [block.offset for block in engine.begin(SPOKEN)] == [0, 1, 2]
    assert counted(metrics, "worker_blocks_total") == 3
    assert counted(metrics, "worker_engine_seconds_total") > 0
    assert counted(metrics, "worker_cancelled_runs_total") == 0
    assert (engine.info, engine.concurrency) == (Scripted.info, 3)


@pytest.mark.parametrize(("end", "cancelled"), [(Cancelled(), 1), (EngineError("no"), 0)])
def test_how_it_ends_is_passed_on_and_a_cancelled_run_counts_as_such(end: Exception, cancelled: int) -> None:
    metrics = WorkerMetrics()
    with pytest.raises(type(end)):
        list(MeteredEngine(Scripted(1, end), metrics).begin(SPOKEN))
    assert counted(metrics, "worker_cancelled_runs_total") == cancelled
    assert counted(metrics, "worker_blocks_total") == 1


def test_closing_it_between_blocks_closes_the_engines_own() -> None:
    scripted = Scripted(3)
    blocks = MeteredEngine(scripted, WorkerMetrics()).begin(SPOKEN)
    next(blocks)
    blocks.close()
    assert scripted.closed == 1


def test_what_loading_took_is_shown() -> None:
    metrics = WorkerMetrics()
    metrics.loaded(1.5)
    assert counted(metrics, "model_load_seconds") == 1.5


def test_every_level_is_exact():
    levels = np.arange(-32_767, 32_768)
    assert np.array_equal(to_pcm((levels / 32_767).astype(np.float32)), levels)


def test_too_loud_is_clipped_and_not_wrapped():
    assert to_pcm(np.array([1.5, -7.0, 3e38, -3e38], dtype=np.float32)).tolist() == [32_767, -32_767, 32_767, -32_767]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(EngineError, match="no numbers"):
        to_pcm(np.array([0.1, bad, 0.1], dtype=np.float32))


def test_no_audio_is_refused():
    with pytest.raises(EngineError, match="no audio"):
        to_pcm(np.zeros(0, dtype=np.float32))


def tone(frequency: float, seconds: float = 0.5, level: float = 8000) -> np.ndarray:
    return (level * np.sin(2 * np.pi * frequency * np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE)).astype(
        np.int16
    )


def test_equal_renderings_are_at_no_distance() -> None:
    assert log_mel_distance(tone(440), tone(440)) == 0
    assert snr(tone(440), tone(440)) > 100


def test_noise_at_a_hundredth_of_the_power_is_twenty_decibels_down() -> None:
    reference = tone(440)
    noise = np.random.default_rng(0).normal(0, reference.astype(float).std() / 10, len(reference))
    assert snr(reference, (reference + noise).astype(np.int16)) == pytest.approx(20, abs=0.3)


def test_half_the_level_is_six_decibels_away_in_every_band_that_sounds() -> None:
    noise = np.random.default_rng(0).normal(0, 3000, SAMPLE_RATE).astype(np.int16)
    half = (noise / 2).astype(np.int16)
    assert log_mel_distance(noise, half) == pytest.approx(6.02, abs=0.05)


def test_a_shift_at_high_frequencies_counts_less_in_mel_bands_than_one_at_low_ones() -> None:
    low = log_mel_distance(tone(200), tone(290))
    high = log_mel_distance(tone(9000), tone(9090))
    assert high < low / 3


def test_renderings_shorter_than_a_frame_can_be_compared() -> None:
    assert log_mel_distance(tone(440, 0.01), tone(880, 0.01)) > 1
