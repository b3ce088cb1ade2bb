"""A front of its own process, with a worker that it makes itself: it is given connections, and may be killed."""

import asyncio
import itertools
import json
import os
import socket
from collections import defaultdict
from pathlib import Path
from typing import Any

from aiohttp import web

from frontend.dialects.wyoming.service import WyomingService
from frontend.http.app import make_app
from frontend.monitoring.metrics import Metrics
from frontend.planning.planner import Limits
from frontend.planning.reader import Reader
from frontend.scheduling.scheduler import Scheduler
from frontend.serving.acceptor import take_over
from frontend.serving.connections import Connection, Connections
from frontend.serving.record import Record
from frontend.serving.services import Services
from frontend.settings.front import FrontSettings
from frontend.streams.cache import SegmentCache
from shm import killpoint
from shm.messages import Marks, SegmentOrder
from shm.records import Records
from shm.situation import Situation
from shm.timing import pack_marks
from tests.engine_infos import espeak
from tests.frontend.scripted_worker import PER_TOKEN, ScriptedWorker, samples_of
from text.g2p import G2P
from text.pipeline import configured_pipeline
from text.settings import TextSettings

BLOCK = 4000
ENGINE = espeak(model="m.onnx", model_sha256="0", marks=True, max_tokens=80)


class QuickWorker(ScriptedWorker):
    """Makes every order at once, in blocks."""

    async def work(self) -> None:
        turns = defaultdict[int, asyncio.Lock](asyncio.Lock)
        async with asyncio.TaskGroup() as group:
            for number in itertools.count(1):
                order = await self.has(number)
                group.create_task(self._make(order, turns[order.stream]))

    async def _make(self, order: SegmentOrder, turn: asyncio.Lock) -> None:
        async with turn:
            if not self.forgot(order):
                await self._make_blocks(order)

    async def _make_blocks(self, order: SegmentOrder) -> None:
        if "deadly" in order.script:
            killpoint.killpoint("deadly")
        self.begin(order)
        words = [place for place, letter in enumerate(order.script) if letter == " "]
        marks = tuple((place, place * PER_TOKEN) for place in (0, *words, len(order.script)))
        self.send(Marks(self.generation, order.stream, order.segment, pack_marks(marks)))
        whole = len(samples_of(order.script))
        for at in range(order.from_sample, whole, BLOCK):
            end = min(at + BLOCK, whole)
            await self.news(lambda: self.forgot(order) or self._rings[order.stream].room >= end - at)  # noqa: B023
            if self.forgot(order):
                return
            self.seal(order, at, end)
        self.end(order)


class Told(Connections):
    def __init__(self, control: socket.socket, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._control = control
        self.numbers: dict[Connection, int] = {}

    def lost(self, connection: Connection) -> None:
        super().lost(connection)
        if (number := self.numbers.pop(connection, None)) is not None:
            self._control.send(str(number).encode())


class Front:
    def __init__(self, control: socket.socket, records: Records, settings: FrontSettings, sounds: int) -> None:
        self._control, self._records, self._settings = control, records, settings
        self._metrics = Metrics()
        reader = Reader(configured_pipeline(G2P(), TextSettings(), None), Limits())
        self._cache = SegmentCache(settings.cache_bytes)
        self._cache.share(sounds)
        self._serves = False
        self.scheduler = Scheduler(reader, self._metrics, lambda _: None, settings, self._cache)
        self.scheduler.situation(Situation("running", "", {}))
        worker = QuickWorker(1, ENGINE, rings=16, ring=480_000)
        self.scheduler.connect(worker.connect, worker.fds)
        self._tasks = {asyncio.create_task(worker.work())}

    async def start(self) -> None:
        services = Services(self.scheduler, self._settings, self._metrics)
        self._wyoming = WyomingService(self._control, services, lambda: None)
        runner = web.AppRunner(
            make_app(services), handler_cancellation=True, auto_decompress=False, access_log=None, shutdown_timeout=0.1
        )
        await runner.setup()
        assert runner.server is not None
        self._connections = Told(self._control, runner.server, self._settings, 100, self._metrics)

    async def take(self, told: dict[str, Any], client: socket.socket) -> None:
        if not self._serves:
            self._serves = True
            self._cache.take_over()
        slot, number = told["slot"], told["connection"]
        protocol = self._wyoming.protocol if told["wyoming"] else None
        if told["inherited"]:
            found = self._records.find(slot, number)
            assert found
            connection = await take_over(self._connections, found, client, protocol)
            if connection:
                self._connections.numbers[connection] = number
            else:
                client.close()
                self._control.send(str(number).encode())
            return
        begun = self._records.begin(slot, number)
        assert begun
        connection = self._connections.admit(protocol, Record(begun))
        assert connection
        self._connections.numbers[connection] = number
        client.setblocking(False)
        await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, client)

    def hear(self, control: socket.socket) -> None:
        data, fds, _, _ = socket.recv_fds(control, 4096, 1)
        if not data:
            os._exit(0)
        task = asyncio.create_task(self.take(json.loads(data), socket.socket(fileno=fds[0])))
        self._tasks.add(task)


async def serve(control: socket.socket) -> None:
    settings, (memory, sounds), _, _ = socket.recv_fds(control, 4096, 2)
    front = Front(control, Records(memory), FrontSettings(**json.loads(settings)), sounds)
    await front.start()
    control.send(b"ready")
    asyncio.get_running_loop().add_reader(control, front.hear, control)
    await asyncio.Event().wait()


def run(control: socket.socket, killpoints: Path | None) -> None:
    """Serve the connections of a Unix socket, whose first message carries the memories that outlive a front.

    Args:
        control: each next message names a connection and carries it.
        killpoints: the folder of orders (`shm/killpoint.py`).
    """
    killpoint._folder = str(killpoints) if killpoints else None
    asyncio.run(serve(control))
