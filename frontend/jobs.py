"""The front's side of jobs: reads their folder, adds and removes jobs, and tells the supervisor what has changed.

The folder may lie on a disk that hangs, so all reading happens in threads, and `/status` and `/metrics` show what was
read last.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, TypeVar

from frontend.contract.errors import ApiError, Unavailable
from frontend.monitoring.readings import Reading
from frontend.monitoring.report import Jobs
from frontend.settings.front import JobSettings
from shm.book_jobs import Job, JobJournal, JobOrder, JobState
from shm.folders import ROOM_TO_WORK, trouble
from shm.job_folder import JobFolder
from shm.messages import BooksNews, ControlMessage

MOST_UPLOADS = 4
"""Files that are received at the same time."""

SPARE_BYTES = 64 * 1024 * 1024
"""Bytes of the disk that uploads leave free."""

_PATIENCE = 1.0
"""Seconds for which `/status` and `/metrics` wait for the disk."""

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class JobDesk:
    def __init__(self, settings: JobSettings, tell: Callable[[ControlMessage], None], url: str, key: str) -> None:
        """
        Args:
            tell: sends a control message to the supervisor.
            url: the address at which the process that makes books reaches this front.
            key: the key with which it passes the gate.
        """
        self.settings = settings
        self.folder = JobFolder(settings.folder)
        self._tell = tell
        self._url = url
        self._key = key
        self._threads = ThreadPoolExecutor(MOST_UPLOADS + 2, thread_name_prefix="jobs")
        self._uploads = 0
        self._known: list[Job] = []
        self._trouble = ""
        self._given_up = ""
        self._looking: asyncio.Future[tuple[list[Job], str]] | None = None
        """The look of `refresh`: while the disk hangs, no further threads are spent on it."""

    async def start(self) -> None:
        """Tell the supervisor about this front, and about the jobs that an earlier server has left unfinished."""
        # However long the disk takes: a hasty look would leave the jobs of an earlier server unmade.
        self._known, self._trouble = await self.run(self._look)
        self._news(any(not job.journal.state.ended for job in self._known))

    def given_up(self, reason: str) -> None:
        """Note why no process makes books any more; empty if one does, or would."""
        self._given_up = reason

    @property
    def reason(self) -> str:
        """The reason why jobs can't be made or kept now; empty if they can."""
        return self._given_up or self._trouble

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Do something with the folder in a thread.

        Raises:
            OSError: the disk refuses it.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    async def jobs(self) -> list[Job]:
        """All jobs, the oldest first.

        Raises:
            ApiError: 503, the folder can't be read.
        """
        try:
            self._known = await self.run(self.folder.jobs)
        except OSError as error:
            raise unavailable(error) from error
        return self._known

    async def remove(self, job: str) -> None:
        """Stop a job and delete all that it has.

        Raises:
            ApiError: 503, it can't be deleted.
        """
        removing = asyncio.ensure_future(self.run(self.folder.remove, job))
        try:
            await asyncio.shield(removing)
        except OSError as error:
            raise unavailable(error) from error
        finally:
            # The maker of books looks at once whether its job still exists, so the news must not come too early.
            await asyncio.wait((removing,))
            self._news(True)

    @contextlib.asynccontextmanager
    async def upload(self, size: int) -> AsyncIterator[tuple[str, IO[bytes]]]:
        """Room for a file of about `size` bytes: the id of its job, and the file to write into.

        Raises:
            ApiError: 409, too many jobs are kept; 503, the folder can't be written; 507, there is no room.
            Unavailable: too many files are being received.
        """
        if self._uploads >= MOST_UPLOADS:
            raise Unavailable("too many books are being uploaded already", 5.0)
        self._uploads += 1
        try:
            kept = len(await self.jobs())
            if kept + self._uploads > self.settings.max_jobs:
                message = f"{kept} jobs are kept, and no more are: delete one. (--max-jobs)"
                raise ApiError(409, message, code="too_many_jobs")
            try:
                await self.run(self._check_room, size)
                opened = self.folder.upload()
                receiving = await self.run(opened.__enter__)
            except OSError as error:
                raise unavailable(error) from error
            try:
                yield receiving
            finally:
                await asyncio.shield(self.run(opened.__exit__, None, None, None))
        finally:
            self._uploads -= 1

    async def publish(self, order: JobOrder, source: IO[bytes]) -> Job:
        """Make a received file a job, and have it made.

        Raises:
            OSError: the disk is full or can't be written.
        """
        publishing = asyncio.ensure_future(self.run(self.folder.publish, order, source))
        try:
            await asyncio.shield(publishing)
        finally:
            # A client that leaves now doesn't stop the thread: the job that it leaves behind is made.
            await asyncio.wait((publishing,))
            if not publishing.exception():
                self._news(True)
        return Job(order, JobJournal())

    async def refresh(self) -> None:
        """Read what `report` and `readings` show; a disk that hangs delays nothing."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self.run(self._look))
        with contextlib.suppress(TimeoutError):
            self._known, self._trouble = await asyncio.wait_for(asyncio.shield(self._looking), _PATIENCE)

    def report(self) -> Jobs:
        states = Counter(job.journal.state for job in self._known)
        making = next((job for job in self._known if job.journal.state is JobState.MAKING), None)
        found = Jobs(states[JobState.QUEUED], states[JobState.MAKING], states[JobState.DONE], states[JobState.FAILED])
        if making:
            found.job = making.order.id
            found.progress = round(making.journal.progress, 4)
            if making.journal.seconds_left is not None:
                found.seconds_left = round(making.journal.seconds_left, 1)
            if making.journal.waiting:
                found.waiting = making.journal.waiting
        if self.reason:
            found.reason = self.reason
        return found

    def readings(self) -> Iterator[Reading]:
        """Jobs by state, and the progress of the one in hand."""
        states = Counter(job.journal.state for job in self._known)
        for state in JobState:
            yield "jobs", (state.value,), float(states[state])
        for job in self._known:
            if job.journal.state is JobState.MAKING:
                yield "job_progress_ratio", (), job.journal.progress

    def _news(self, wanted: bool) -> None:
        self._tell(BooksNews(self._url, self._key, wanted))

    def _check_room(self, size: int) -> None:
        """
        Raises:
            ApiError: 507.
        """
        used, most = self.folder.used(), self.settings.max_jobs_bytes
        if used + size > most:
            message = f"The jobs take {used} bytes of the {most} that they may: delete some."
            raise ApiError(507, message, code="jobs_full")
        self.folder.path.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder.path).free < size + SPARE_BYTES:
            raise ApiError(507, "The disk has no room for the file.", code="disk_full")

    def _look(self) -> tuple[list[Job], str]:
        try:
            return self.folder.jobs(), trouble(self.folder.path, ROOM_TO_WORK)
        except OSError as error:
            return [], str(error)


def unavailable(error: OSError) -> ApiError:
    """The answer where the folder of jobs can't be used."""
    message = f"The folder of jobs can't be used: {error.strerror or error}. (--jobs-dir)"
    return ApiError(503, message, code="jobs_unavailable", headers={"Retry-After": "60"})
