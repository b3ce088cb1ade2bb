"""The process that makes books: follows the news of jobs, and ends when there is nothing left to make."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys

from setproctitle import setproctitle

from books.jobs.queue import JobQueue
from books.making.server import ServerSpeaker
from frontend.settings.jobs import JobSettings
from shm import awake_loop
from shm.control import ControlSocket
from shm.frames import BrokenChannel
from shm.messages import BooksIdle, BooksNews, ChildProgress, Drain, Heartbeat, Started

IDLE_SECONDS = 10.0
"""Seconds without a job after which the process ends; the next job starts another one."""

_RETRY_SECONDS = 30.0
"""Seconds after which a folder that couldn't be read is tried again."""

NICE = 5
"""Encoding a chapter takes a core for seconds, in which a listener's front and worker come first."""

log = logging.getLogger(__name__)


def run(control_end: socket.socket, settings: JobSettings) -> None:
    """Run until nothing is left to make, the supervisor sends `Drain`, or the supervisor ends."""
    setproctitle("kokoro-live: books")
    with contextlib.suppress(OSError):
        os.nice(NICE)
    control_end.setblocking(False)
    status = 1
    try:
        awake_loop.run(_serve(ControlSocket(control_end), settings))
        status = 0
    except Exception:
        log.exception("the process that makes books failed")
    # Exit without waiting for a thread that encodes a chapter: the next process encodes it again.
    logging.shutdown()
    sys.stdout.flush()
    os._exit(status)


async def _serve(control: ControlSocket, settings: JobSettings) -> None:
    await BookProcess(control, settings).serve()


class BookProcess:
    """Connects the queue of jobs with the supervisor."""

    def __init__(self, control: ControlSocket, settings: JobSettings) -> None:
        self._control = control
        self._settings = settings
        self._speaker = ServerSpeaker("", follows_fronts=True)
        self._queue = JobQueue(settings, self._speaker, self._progressed)
        self._news = asyncio.Event()
        """Set once the address of a front is known."""
        self._seen = 0
        self._has_progressed = False
        self._end = asyncio.Event()

    async def serve(self) -> None:
        asyncio.get_running_loop().add_reader(self._control.fileno(), self._hear)
        async with self._speaker:
            self._control.send(Started())
            working = asyncio.create_task(self._work())
            ended = asyncio.create_task(self._end.wait())
            await asyncio.wait((working, ended), return_when=asyncio.FIRST_COMPLETED)
            for task in (working, ended):
                task.cancel()
            await asyncio.wait((working, ended))
            if not working.cancelled():
                working.result()

    async def _work(self) -> None:
        await self._news.wait()
        while True:
            seen = self._seen
            try:
                if await self._queue.work():
                    continue
            except OSError as error:
                log.error("the folder of jobs can't be read: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._queue.changed.wait()
            if seen == self._seen:
                self._control.send(BooksIdle(seen))
                return

    def _progressed(self) -> None:
        if not self._has_progressed:
            self._has_progressed = True
            self._control.send(ChildProgress())

    def _hear(self) -> None:
        try:
            for message, _ in self._control.receive():
                if isinstance(message, BooksNews):
                    self._speaker.use(message.url, message.key)
                    self._seen = message.number
                    self._news.set()
                    self._queue.changed.set()
                elif isinstance(message, Heartbeat):
                    self._control.send(message)
                elif isinstance(message, Drain):
                    self._end.set()
        except BrokenChannel:
            self._end.set()
