"""The worker process: loads an engine, reports that, then serves each front that the supervisor connects."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from typing import NoReturn

import msgspec
import psutil
from setproctitle import setproctitle

from shm.control import ControlSocket
from shm.frames import BrokenChannel
from shm.messages import (
    BootFailure,
    ChildProgress,
    ChildReady,
    Connect,
    ControlMessage,
    Drain,
    Load,
    Loading,
    Placed,
    ProviderFailure,
    Recycle,
    Started,
    clipped,
)
from worker.channel import Channel
from worker.engine import Engine, EngineUnavailable, ProviderUnavailable
from worker.machine.placement import MachineShare, place_process, read_back, return_free_memory
from worker.metrics import MeteredEngine, WorkerMetrics
from worker.select import choose, import_engines
from worker.settings import WorkerSettings

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
        self._ended_streams = 0
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
            self._control.send(ChildReady(msgspec.structs.replace(engine.info, priority=read_back()), seconds))

    def provider_failed(self, error: ProviderUnavailable) -> NoReturn:
        """Report the failed provider and end this process (`ChannelHost`). If several inference threads report it at
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
        """Ask for a successor if this worker is too old or too large; streams continue here until the successor is
        ready."""
        self._ended_streams += 1
        if not self._asked_for_successor and (reason := self._outgrown()):
            self._asked_for_successor = True
            self._control.send(Recycle(reason))

    def _outgrown(self) -> str:
        streams, megabytes = self._settings.worker_max_requests, self._settings.worker_max_rss
        if streams and self._ended_streams >= streams:
            return f"the worker has spoken {self._ended_streams} streams"
        if megabytes and (size := psutil.Process().memory_info().rss / 1e6) > megabytes:
            return f"the worker has grown to {size:.0f} MB"
        return ""


def _end(status: int) -> NoReturn:
    """Exit without finalisers: native threads of an engine may be in the middle of an unwanted run."""
    logging.shutdown()
    os._exit(status)
