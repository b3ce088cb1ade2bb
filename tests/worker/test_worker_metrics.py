"""Every step of the engine is counted, whatever its end."""

from collections.abc import Generator

import numpy as np
import pytest

from tests.engine_infos import espeak
from worker.engine import Block, Cancelled, EngineError, Utterance
from worker.loop.process import MeteredEngine, WorkerMetrics

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
