"""The process that makes books: follows the news of jobs, makes one after another, and ends when none is left."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import msgspec
from setproctitle import setproctitle

from books.jobs.making import JobDelayed, JobMaking
from books.making.server import ServerSpeaker
from frontend.settings.front import JobSettings
from shm.awake_loop import SupervisedProcess, run_and_exit
from shm.book_jobs import Hours, Job, JobState
from shm.control import ControlSocket
from shm.job_folder import JobFolder
from shm.messages import BooksIdle, BooksNews, ControlMessage, Started

log = logging.getLogger(__name__)

_LONGEST_WAIT = 60.0
"""Seconds after which the clock is looked at again: a machine may sleep in between."""

_MEASURED_SECONDS = 20.0
"""Seconds for which the measured size of the folder is believed."""

_LONGEST_THREAD = 60.0
"""Seconds for which the next job waits for the threads of the last one, which may still encode a chapter."""


class StuckThread(Exception):
    """A thread of an ended job can't be stopped but with its process. Nothing is lost: jobs go on from their folder."""


class JobQueue:
    """Makes the oldest job that may be made now, one at a time: a book uses all inference threads."""

    def __init__(self, settings: JobSettings, speaker: ServerSpeaker, progressed: Callable[[], None]) -> None:
        self._folder = JobFolder(settings.folder)
        self._settings = settings
        self._speaker = speaker
        self._progressed = progressed
        self._not_before: dict[str, float] = {}
        """Monotonic seconds before which a paused job isn't tried again."""
        self._fits = True
        self._measured = 0.0
        self.changed = asyncio.Event()
        """Set when jobs may have been added or removed."""

    async def work(self) -> bool:
        """Make one job, or wait until one may be made; False if there is none left. Returns after each change.

        Raises:
            OSError: the folder can't be read.
            StuckThread: the process must end, and the next one goes on.
        """
        self.changed.clear()
        jobs = await asyncio.to_thread(self._unfinished)
        if not jobs:
            return False
        waits = {job.order.id: self._wait_of(job) for job in jobs}
        due = [job for job in jobs if waits[job.order.id] <= 0]
        if due:
            await self._make(due[0])
        else:
            await self._changed_within(min(*waits.values(), _LONGEST_WAIT))
        return True

    def _unfinished(self) -> list[Job]:
        self._folder.sweep()
        found = []
        for job in self._folder.jobs():
            if job.unreadable:
                continue  # nothing of it is deleted: its disk may come back
            if job.journal.state.ended:
                self._folder.clear(job.order.id)
            else:
                found.append(job)
        return found

    def _hours(self, job: Job) -> Hours | None:
        between = job.order.options.between or self._settings.jobs_between
        return Hours(between) if between else None

    def _wait_of(self, job: Job) -> float:
        hours = self._hours(job)
        paused = self._not_before.get(job.order.id, 0.0) - time.monotonic()
        return max(paused, hours.closed() if hours else 0.0)

    async def _changed_within(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        except TimeoutError:
            pass

    async def _make(self, job: Job) -> None:
        name = job.order.id
        making = JobMaking(self._folder, job, self._speaker, self._hours(job), self._room, self._progressed)
        loop = asyncio.get_running_loop()
        # A thread that encodes a chapter can't be cancelled: the job's own pool tells when nothing writes any more.
        pool = ThreadPoolExecutor(thread_name_prefix=name)
        loop.set_default_executor(pool)
        run = asyncio.create_task(making.run())
        try:
            while not run.done():
                waiting = asyncio.create_task(self.changed.wait())
                await asyncio.wait((run, waiting), return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                self.changed.clear()
                if not self._folder.exists(name):
                    log.info("%s was removed", name)
                    break
        finally:
            loop.set_default_executor(ThreadPoolExecutor())
            run.cancel()
            await asyncio.wait((run,))
        await self._threads_end(pool)
        self._settle(making, run)

    async def _threads_end(self, pool: ThreadPoolExecutor) -> None:
        """
        Raises:
            StuckThread: a thread goes on, such as one that a hostile file keeps busy.
        """
        loop = asyncio.get_running_loop()
        try:
            # The default executor would be waited for at the loop's end.
            await asyncio.wait_for(loop.run_in_executor(ThreadPoolExecutor(1), pool.shutdown), _LONGEST_THREAD)
        except TimeoutError as error:
            raise StuckThread(f"a thread of the last job goes on after {_LONGEST_THREAD:g} seconds") from error

    def _settle(self, making: JobMaking, run: asyncio.Task[None]) -> None:
        name = making.job.order.id
        error = None if run.cancelled() else run.exception()
        if isinstance(error, JobDelayed):
            # The hours are looked at by the clock each time (`_wait_of`). A pause of a day would pass them by: the
            # monotonic clock stands still while the machine sleeps, and summer time begins.
            self._not_before[name] = time.monotonic() + min(error.seconds, _LONGEST_WAIT)
        elif error is not None and self._folder.exists(name):
            log.error("%s failed", name, exc_info=error)
            if not isinstance(error, Exception):
                raise error
            self._give_up(making.job, error)

    def _give_up(self, job: Job, error: Exception) -> None:
        """Note a failure that nobody foresaw, so that the other jobs are made."""
        message = f"The process that makes books failed: {type(error).__name__}; the server's log has the reason."
        journal = msgspec.structs.replace(
            job.journal,
            state=JobState.FAILED,
            finished=time.time(),
            waiting="",
            seconds_left=None,
            error=message,
            error_code="internal",
        )
        try:
            self._folder.note(job.order.id, journal)
        except OSError as again:
            log.error("the journal of %s can't be written: %s", job.order.id, again)
            self._not_before[job.order.id] = time.monotonic() + _LONGEST_WAIT

    def _room(self) -> bool:
        now = time.monotonic()
        if now - self._measured > _MEASURED_SECONDS:
            self._measured = now
            self._fits = self._folder.used() < self._settings.max_jobs_bytes
        return self._fits


IDLE_SECONDS = 10.0
"""Seconds without a job after which the process ends; the next job starts another one."""

_RETRY_SECONDS = 30.0
"""Seconds after which a folder that couldn't be read is tried again."""

NICE = 5
"""Encoding a chapter takes a core for seconds, in which a listener's front and worker come first."""


def run(control_end: socket.socket, settings: JobSettings) -> NoReturn:
    """Run until nothing is left to make, the supervisor sends `Drain`, or the supervisor ends."""
    setproctitle("kokoro-live: books")
    with contextlib.suppress(OSError):
        os.nice(NICE)
    control_end.setblocking(False)
    run_and_exit(BookProcess(ControlSocket(control_end), settings).serve())


class BookProcess(SupervisedProcess):
    """Connects the queue of jobs with the supervisor."""

    def __init__(self, control: ControlSocket, settings: JobSettings) -> None:
        super().__init__(control)
        self._speaker = ServerSpeaker("", follows_fronts=True)
        self._queue = JobQueue(settings, self._speaker, self._note_progress)
        self._news = asyncio.Event()
        """Set once the address of a front is known."""
        self._seen = 0

    async def serve(self) -> None:
        self._listen()
        async with self._speaker:
            self._tell_supervisor(Started())
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
                self._tell_supervisor(BooksIdle(seen))
                return

    def _follow(self, message: ControlMessage, fds: list[int]) -> None:
        if isinstance(message, BooksNews):
            self._speaker.use(message.url, message.key)
            self._seen = message.number
            self._news.set()
            self._queue.changed.set()
