"""The worker process: loads an engine, reports that, then serves each front that the supervisor connects."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import NoReturn

import msgspec
import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge
from setproctitle import setproctitle

from shm.control import ControlSocket
from shm.frames import HEADER_BYTES, BrokenChannel, FrameReader, FrameWriter
from shm.killpoint import killpoint
from shm.messages import (
    MAX_COMMIT_BYTES,
    BootFailure,
    ChildProgress,
    ChildReady,
    Commit,
    CommitMessage,
    Connect,
    ControlMessage,
    Drain,
    Forget,
    Load,
    Loading,
    Placed,
    ProviderFailure,
    Quit,
    Recycle,
    Started,
    clipped,
    decode_order,
    encode,
)
from shm.ring import Arena
from worker.engine import Block, Cancelled, Engine, EngineUnavailable, ProviderUnavailable, Utterance
from worker.loop.workbench import Workbench
from worker.machine import MachineShare, place_process, read_back, return_free_memory
from worker.select import choose, import_engines
from worker.settings import WorkerSettings


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


log = logging.getLogger(__name__)


def run(control_end: socket.socket, generation: int, settings: WorkerSettings) -> NoReturn:
    """Run worker `generation` until the supervisor sends `Drain` or is gone. The engine is loaded when the supervisor
    says so."""
    setproctitle(f"kokoro-live: standby[{generation}]")
    control = ControlSocket(control_end)
    try:
        place_process(settings)
    except EngineUnavailable as error:
        control.send(BootFailure("engine", clipped(str(error))))
        _end(1)
    import_engines(settings)
    Worker(generation, control, settings, WorkerMetrics()).serve()


class Worker:
    """One worker process: an engine, and a channel for each front (frontend process)."""

    def __init__(
        self,
        generation: int,
        control: ControlSocket,
        settings: WorkerSettings,
        metrics: WorkerMetrics,
    ) -> None:
        self._generation = generation
        self._control = control
        self._settings = settings
        self._metrics = metrics
        self._engine: Engine | None = None
        self._place = MachineShare()
        self._channels: list[Channel] = []
        self._asked_for_successor = False
        self._progressed = False
        self._failing = threading.Lock()

    def serve(self) -> NoReturn:
        """Handle the supervisor's messages until it is gone."""
        try:
            self._control.send(Started())
            while True:
                for message, fds in self._control.receive():
                    self._follow(message, fds)
        except BrokenChannel:
            _end(1)

    def _follow(self, message: ControlMessage, fds: list[int]) -> None:
        match message:
            case Load():
                if not message.standby:
                    self._take_title()
                self._load(message)
            case Connect():
                assert self._engine is not None
                self._take_title()
                self._channels = [channel for channel in self._channels if channel.open]
                self._channels.append(Channel(message, fds, self._engine, self))
            case Drain():
                _end(0)

    def _take_title(self) -> None:
        setproctitle(f"kokoro-live: worker[{self._generation}]")

    def _load(self, load: Load) -> None:
        """Load the engine. A worker that has loaded already only moves to its slot's cores."""
        if self._engine is not None:
            self._place.take(self._settings, load)
            self._control.send(Placed(read_back()))
            return
        self._control.send(Loading(""))
        started = time.monotonic()
        settings = self._place.take(self._settings, load)
        try:
            engine = choose(settings, load.without, lambda provider: self._control.send(Loading(provider)))
            proven = load.proven
            if proven is None or msgspec.structs.replace(engine.info, priority=proven.priority) != proven:
                engine.warm_up()
            return_free_memory()
        except ProviderUnavailable as error:
            self.provider_failed(error)
        except EngineUnavailable as error:
            self._control.send(BootFailure("engine", clipped(str(error))))
            _end(1)
        else:
            seconds = time.monotonic() - started
            self._metrics.loaded(seconds)
            self._engine = MeteredEngine(engine, self._metrics)
            log.info("loaded %s in %.1f s", engine.info.name, seconds)
            self._control.send(ChildReady(msgspec.structs.replace(engine.info, priority=read_back()), seconds))

    def provider_failed(self, error: ProviderUnavailable) -> NoReturn:
        """Report the failed provider and end this process. If several inference threads report it at
        once, the first ends the process."""
        with self._failing:
            for channel in self._channels:
                channel.quit()
            self._control.send(ProviderFailure(error.provider, clipped(str(error))))
            _end(1)

    def sealed(self) -> None:
        """Report the first committed block to the supervisor."""
        if not self._progressed:
            self._progressed = True
            self._control.send(ChildProgress())

    def stream_ended(self) -> None:
        """Ask for a successor if this worker is too large; streams continue here until the successor is
        ready."""
        if not self._asked_for_successor and (reason := self._outgrown()):
            self._asked_for_successor = True
            self._control.send(Recycle(reason))

    def _outgrown(self) -> str:
        megabytes = self._settings.worker_max_rss
        if megabytes and (size := psutil.Process().memory_info().rss / 1e6) > megabytes:
            return f"the worker has grown to {size:.0f} MB"
        return ""


class Channel:
    """One front's conversation with this worker. The channel ends with that front; the worker keeps its model for the
    next one.

    The channel is kept alive by its own threads: the thread that reads orders ends it when the front is gone.
    """

    def __init__(self, connect: Connect, fds: list[int], engine: Engine, worker: Worker) -> None:
        """Take over the descriptors (orders pipe's read end, commits pipe's write end, arena) and start work."""
        orders, commits, memory = fds
        self.open = True
        self._generation = connect.generation
        self._worker = worker
        self._orders = FrameReader(orders)
        self._commits = FrameWriter(commits)
        arena = Arena(memory, connect.rings, connect.ring_samples)
        os.close(memory)  # the mapping stays
        self._bench = Workbench(engine, connect.generation, arena, self._send, worker.provider_failed)
        self._start(self._read_orders, "orders")
        for thread in range(self._bench.threads):
            self._start(self._bench.run_inference, f"inference-{thread}")

    def quit(self) -> None:
        """Tell the front that this worker ends and that no segment is to blame."""
        self._bench.forget_all()
        self._send(Quit(self._generation))

    def _start(self, target: Callable[[], None], name: str) -> None:
        threading.Thread(target=target, name=name, daemon=True).start()

    def _send(self, message: CommitMessage) -> None:
        payload = encode(message)
        assert len(payload) + HEADER_BYTES <= MAX_COMMIT_BYTES, message
        # A front that is gone has also closed the orders pipe, whose reader closes the workbench.
        with contextlib.suppress(BrokenChannel):
            self._commits.write_frame(payload)
            if isinstance(message, Commit):
                self._worker.sealed()

    def _read_orders(self) -> None:
        try:
            while True:
                for payload in self._orders.receive():
                    message = decode_order(payload)
                    killpoint(f"{message.__struct_config__.tag}-read")
                    self._bench.handle(message)
                    if isinstance(message, Forget):
                        self._worker.stream_ended()
        except BrokenChannel as end:
            log.info("the front's channel ended: %s", end)
        except (msgspec.MsgspecError, ValueError):
            # The front notices that a worker closed its channel, and asks the supervisor for another one.
            log.exception("the front sent nonsense")
        finally:
            self.open = False
            self._bench.forget_all()
            # A closed workbench sends nothing more, so no thread can write into a reused descriptor.
            self._orders.close()
            self._commits.close()


def _end(status: int) -> NoReturn:
    """Exit without finalisers: native threads of an engine may be in the middle of an unwanted run."""
    logging.shutdown()
    os._exit(status)
