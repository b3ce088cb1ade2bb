"""A worker's metrics for Prometheus, and an engine wrapper that feeds them."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing

from prometheus_client import CollectorRegistry, Counter, Gauge

from worker.engine import Block, Cancelled, Engine, Utterance


class WorkerMetrics:
    """Metrics of one worker; its inference threads share them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._blocks = Counter(
            "kokoro_live_worker_blocks_total", "Blocks of audio that the engine has made.", registry=self.registry
        )
        self._seconds = Counter(
            "kokoro_live_worker_engine_seconds_total",
            "Time spent in the engine, of all inference threads; more than a second per second if several work.",
            registry=self.registry,
        )
        self._cancelled = Counter(
            "kokoro_live_worker_cancelled_runs_total",
            "Runs of the engine that were ended in their middle because nobody wanted them any more.",
            registry=self.registry,
        )
        self._load = Gauge(
            "kokoro_live_model_load_seconds",
            "Seconds for loading and warming up the engine; of several workers, the longest.",
            registry=self.registry,
            multiprocess_mode="livemax",
        )

    def loaded(self, seconds: float) -> None:
        """Record that the engine has loaded, and the seconds that it took."""
        self._load.set(seconds)

    def worked(self, seconds: float, blocks: int) -> None:
        """Record that a step of the engine has ended, and the number of blocks that it made (0 or 1)."""
        self._seconds.inc(seconds)
        self._blocks.inc(blocks)

    def cancelled(self) -> None:
        """Record that a run was cancelled before its end."""
        self._cancelled.inc()


class MeteredEngine:
    """Engine that passes all calls on to another engine, and records their times in the worker's metrics."""

    def __init__(self, engine: Engine, metrics: WorkerMetrics) -> None:
        self.info = engine.info
        self.concurrency = engine.concurrency
        self.warm_up = engine.warm_up
        self._engine = engine
        self._metrics = metrics

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        """Yield the wrapped engine's blocks, with each step timed."""
        with closing(self._engine.begin(utterance)) as blocks:
            while True:
                started, block = time.monotonic(), None
                try:
                    block = next(blocks, None)
                except Cancelled:
                    self._metrics.cancelled()
                    raise
                finally:
                    self._metrics.worked(time.monotonic() - started, int(block is not None))
                if block is None:
                    return
                yield block
