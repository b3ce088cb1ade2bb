"""The handlers of /v1/jobs."""

from __future__ import annotations

from typing import IO, Any
from urllib.parse import quote

import msgspec
from aiohttp import hdrs, web
from aiohttp.abc import AbstractStreamWriter

from frontend.contract.errors import ApiError
from frontend.contract.speaker import Speaker
from frontend.http.jobs.report import MEDIA_TYPES, JobDeleted, JobList, saved_as, shown
from frontend.http.jobs.upload import Receiver
from frontend.jobs.desk import JobDesk
from frontend.settings.front import FrontSettings
from shm.book_jobs import Job, JobState

_CHUNK = 256 * 1024
"""Bytes of a result that are read from the disk at a time."""


class _FileFromThreads(web.FileResponse):
    """A file that is read in threads. `sendfile`, which aiohttp prefers, makes the event loop wait for the disk, for up
    to a socket buffer of some megabytes at a time, while streams of speech need it."""

    async def _sendfile(self, request: web.BaseRequest, fobj: IO[Any], offset: int, count: int) -> AbstractStreamWriter:
        writer = await web.StreamResponse.prepare(self, request)
        assert writer is not None
        return await self._sendfile_fallback(writer, fobj, offset, count)


class JobsHandler:
    """Answers the operations on jobs."""

    def __init__(self, desk: JobDesk, speaker: Speaker, settings: FrontSettings) -> None:
        self._desk = desk
        self._speaker = speaker
        self._patience = settings.body_timeout

    async def post(self, request: web.Request) -> web.Response:
        """POST /v1/jobs: 202 with the job.

        Raises:
            ApiError, Unavailable: the book isn't taken.
        """
        job = await Receiver(self._desk, self._speaker.engine, self._patience).receive(request)
        return self._answer(job, await self._desk.jobs(), 202)

    async def get_all(self, request: web.Request) -> web.Response:
        """GET /v1/jobs: all jobs."""
        jobs = await self._desk.jobs()
        return _json(JobList("list", [shown(job, jobs, self._desk.settings.jobs_between) for job in jobs]))

    async def get(self, request: web.Request) -> web.Response:
        """GET /v1/jobs/{id}: one job.

        Raises:
            ApiError: 404.
        """
        jobs = await self._desk.jobs()
        return self._answer(_named(request, jobs), jobs)

    async def delete(self, request: web.Request) -> web.Response:
        """DELETE /v1/jobs/{id}: stop the job, and delete all that was made of it.

        Raises:
            ApiError: 404.
        """
        job = _named(request, await self._desk.jobs())
        await self._desk.remove(job.order.id)
        return _json(JobDeleted(job.order.id))

    async def result(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/jobs/{id}/result: the finished file, or the range of it that is asked for.

        Raises:
            ApiError: 404, there is no such job; 409, it isn't finished.
        """
        job = _named(request, await self._desk.jobs())
        if job.journal.state is not JobState.DONE:
            message = f"The book isn't finished: it is {job.journal.state}. {job.journal.error}".strip()
            raise ApiError(409, message, code="job_not_done", headers={hdrs.CACHE_CONTROL: "no-store"})
        path = self._desk.folder.of(job.order.id) / job.journal.result
        if not await self._desk.run(path.is_file):
            raise ApiError(404, "The book's file is gone from the folder of jobs.", code="job_result_missing")
        name = saved_as(job)
        plain = name.encode("ascii", "replace").decode().replace("?", "_")
        headers = {
            hdrs.CONTENT_TYPE: MEDIA_TYPES[job.order.options.format],
            hdrs.CONTENT_DISPOSITION: f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}",
        }
        return _FileFromThreads(path, _CHUNK, headers=headers)

    def _answer(self, job: Job, jobs: list[Job], status: int = 200) -> web.Response:
        return _json(shown(job, jobs, self._desk.settings.jobs_between), status)


def _named(request: web.Request, jobs: list[Job]) -> Job:
    name = request.match_info["id"]
    for job in jobs:
        if job.order.id == name:
            return job
    raise ApiError(404, "There is no such job.", code="job_not_found")


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(body),
        status=status,
        content_type="application/json",
        headers={hdrs.CACHE_CONTROL: "no-store"},
    )
