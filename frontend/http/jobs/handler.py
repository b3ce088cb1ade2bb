"""The handlers of /v1/jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Annotated, Any, Literal
from urllib.parse import quote

import msgspec
from aiohttp import hdrs, web
from aiohttp.abc import AbstractStreamWriter
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.http.jobs.upload import JobForm, Receiver
from frontend.jobs import JobDesk
from frontend.serving.json_body import json_response
from frontend.serving.route import JSON, Access, Answer, Routes, json_answer
from frontend.serving.services import SERVICES
from shm.book_formats import BOOK_FORMATS
from shm.book_jobs import Hours, Job, JobOptions, JobState, JobText, file_name
from shm.job_folder import TEXT


class ChapterInHand(msgspec.Struct):
    """The chapter that is being made."""

    number: Annotated[int, Meta(description="From 1.")]
    title: str


class JobError(msgspec.Struct):
    """The reason why a job failed."""

    code: str
    message: str


class JobResult(msgspec.Struct):
    """The finished file."""

    file_name: str
    bytes: int
    content_type: str
    audio_seconds: float
    path: Annotated[str, Meta(description="Where it is fetched.")]


class JobReport(msgspec.Struct, kw_only=True):
    """One job. Values that aren't known yet are null."""

    id: str
    object: Literal["job"] = "job"
    state: Literal["queued", "making", "done", "failed"]
    position_in_queue: Annotated[int | None, Meta(description="Unfinished jobs before this one; null if it ended.")]
    waiting: Annotated[str | None, Meta(description="Why nothing of it is made now.")]
    file_name: str
    file_bytes: int
    options: JobOptions
    created: Annotated[float, Meta(description="Seconds since 1970, as the next ones.")]
    started: float | None
    finished: float | None
    title: str | None
    author: str | None
    language: str | None
    words: int | None
    chapters: int | None
    chapter: ChapterInHand | None
    progress: Annotated[float, Meta(description="Part of the text that is spoken, 0 to 1.")]
    estimated_audio_seconds: Annotated[float | None, Meta(description="Length of the book, about.")]
    seconds_left: Annotated[float | None, Meta(description="Seconds of work that are left, at the speed of this run.")]
    speed: Annotated[float | None, Meta(description="Seconds of audio made in a second of work.")]
    error: JobError | None
    cover: Annotated[str | None, Meta(description="Where the finished book's cover is fetched, if it has one.")]
    result: JobResult | None


class JobList(msgspec.Struct):
    """All jobs, the oldest first."""

    object: Literal["list"]
    data: list[JobReport]


class JobDeleted(msgspec.Struct):
    """A removed job."""

    id: str
    object: Literal["job"] = "job"
    deleted: Literal[True] = True


def shown(job: Job, jobs: Sequence[Job], between: str) -> JobReport:
    """The job as the API shows it.

    Args:
        jobs: all jobs, in the order in which they are made.
        between: the server's hours for jobs that have none of their own.
    """
    order, journal = job.order, job.journal
    before = [each for each in jobs if not each.journal.state.ended and each.order.id != order.id]
    before = [each for each in before if (each.order.created, each.order.id) < (order.created, order.id)]
    result = None
    if journal.result and journal.result_bytes is not None:
        result = JobResult(
            file_name=saved_as(job),
            bytes=journal.result_bytes,
            content_type=BOOK_FORMATS[order.options.format].content_type,
            audio_seconds=round(journal.audio_seconds or 0.0, 3),
            path=f"/v1/jobs/{order.id}/result",
        )
    return JobReport(
        id=order.id,
        state=journal.state.value,
        position_in_queue=None if journal.state.ended else len(before),
        waiting=_waiting(job, between) or None,
        file_name=order.file_name,
        file_bytes=order.file_bytes,
        options=order.options,
        created=order.created,
        started=journal.started,
        finished=journal.finished,
        title=journal.title or None,
        author=journal.author or None,
        language=journal.language or None,
        words=journal.words,
        chapters=journal.chapters,
        chapter=ChapterInHand(journal.chapter, journal.chapter_title) if journal.chapter else None,
        progress=round(journal.progress, 4),
        estimated_audio_seconds=_rounded(journal.estimated_audio_seconds),
        seconds_left=_rounded(journal.seconds_left),
        speed=_rounded(journal.speed),
        error=JobError(journal.error_code, journal.error) if journal.error else None,
        cover=f"/v1/jobs/{order.id}/cover" if result and journal.cover else None,
        result=result,
    )


def saved_as(job: Job) -> str:
    """Name under which a browser saves the result."""
    return f"{file_name(job.journal.title) or 'book'}.{job.order.options.format}"


def _waiting(job: Job, between: str) -> str:
    hours = job.order.options.between or between
    if not job.journal.state.ended and hours and Hours(hours).closed():
        return f"it is made in the hours {hours}"
    return job.journal.waiting


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 2)


_CHUNK = 256 * 1024
"""Bytes of a result that are read from the disk at a time."""


class _FileFromThreads(web.FileResponse):
    """A file that is read in threads. `sendfile`, which aiohttp prefers, makes the event loop wait for the disk, for up
    to a socket buffer of some megabytes at a time, while streams of speech need it."""

    async def _sendfile(self, request: web.BaseRequest, fobj: IO[Any], offset: int, count: int) -> AbstractStreamWriter:
        writer = await web.StreamResponse.prepare(self, request)
        assert writer is not None
        return await self._sendfile_fallback(writer, fobj, offset, count)


JOBS: web.AppKey[JobDesk] = web.AppKey("JOBS", JobDesk)
ROUTES = Routes()

_FILE = dict.fromkeys(sorted({row.content_type for row in BOOK_FORMATS.values()}))
_UNKEPT: Mapping[str, str] = {hdrs.CACHE_CONTROL: "no-store"}


@ROUTES.add(
    "post",
    "/v1/jobs",
    Access.HERE,
    "Books",
    answers={202: json_answer("It is in the queue.", JobReport)},
    errors=(400, 403, 408, 409, 413, 415, 429, 503, 507),
    body=JobForm,
    example={"file": "novel.epub", "format": "m4b", "voice": "af_heart"},
    body_type="multipart/form-data",
    streams_body=True,
)
async def post(request: web.Request) -> web.Response:
    """Have a book made while nobody listens.

    Without configured keys it answers clients on the server's own machine only, as all operations on jobs do. A file
    that can't be read as a book makes a job that fails and says why.
    """
    desk, services = request.app[JOBS], request.app[SERVICES]
    job = await Receiver(desk, services).receive(request)
    try:
        jobs = await desk.jobs()
    except ApiError:
        jobs = [job]  # it is a job, whether or not the others can be read now
    return _answer(desk, job, jobs, 202)


@ROUTES.add("get", "/v1/jobs", Access.HERE, "Books", json_answer("The oldest first.", JobList), errors=(403, 503))
async def get_all(request: web.Request) -> web.Response:
    """All jobs."""
    desk = request.app[JOBS]
    jobs = await desk.jobs()
    listed = [shown(job, jobs, desk.settings.jobs_between) for job in jobs]
    return json_response(JobList("list", listed), headers=_UNKEPT)


@ROUTES.add(
    "get",
    "/v1/jobs/{id}/result",
    Access.HERE,
    "Books",
    answers={
        200: Answer("The whole file.", _FILE),
        206: Answer("The range that `Range` names.", _FILE),
        416: Answer("There is no such range.", {}),
    },
    errors=(403, 404, 409, 503),
)
async def result(request: web.Request) -> web.StreamResponse:
    """The finished book."""
    job, path = await _finished(request, lambda job: job.journal.result)
    name = saved_as(job)
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    headers = {
        hdrs.CONTENT_TYPE: BOOK_FORMATS[job.order.options.format].content_type,
        hdrs.CONTENT_DISPOSITION: f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}",
    }
    return _FileFromThreads(path, _CHUNK, headers=headers)


@ROUTES.add(
    "get",
    "/v1/jobs/{id}/text",
    Access.HERE,
    "Books",
    json_answer("Chapters and sentences, with the seconds at which they begin.", JobText),
    errors=(403, 404, 409, 503),
)
async def text(request: web.Request) -> web.StreamResponse:
    """A finished book's text in time."""
    _, path = await _finished(request, lambda _: TEXT)
    return _FileFromThreads(path, _CHUNK, headers={hdrs.CONTENT_TYPE: JSON})


@ROUTES.add(
    "get",
    "/v1/jobs/{id}/cover",
    Access.HERE,
    "Books",
    answers={200: Answer("The whole picture.", {"image/jpeg": None, "image/png": None})},
    errors=(403, 404, 409, 503),
)
async def cover(request: web.Request) -> web.StreamResponse:
    """A finished book's cover."""
    job, path = await _finished(request, lambda job: job.journal.cover)
    return _FileFromThreads(path, _CHUNK, headers={hdrs.CONTENT_TYPE: f"image/{job.journal.cover.partition('.')[2]}"})


async def _finished(request: web.Request, name_of: Callable[[Job], str]) -> tuple[Job, Path]:
    """The job that the address names, and a file of its folder.

    Raises:
        ApiError: there is no such job, it isn't done, or its file is gone.
    """
    desk = request.app[JOBS]
    job = _named(request, await desk.jobs())
    if job.journal.state is not JobState.DONE:
        message = f"The book isn't finished: it is {job.journal.state}. {job.journal.error}".strip()
        raise ApiError(409, message, code="job_not_done", headers=_UNKEPT)
    path = desk.folder.of(job.order.id) / name_of(job)
    if not await desk.run(path.is_file):
        raise ApiError(404, "The book's file is gone from the folder of jobs.", code="job_result_missing")
    return job, path


@ROUTES.add(
    "get",
    "/v1/jobs/{id}",
    Access.HERE,
    "Books",
    json_answer("How far it has come.", JobReport),
    errors=(403, 404, 503),
)
async def get(request: web.Request) -> web.Response:
    """One job."""
    desk = request.app[JOBS]
    jobs = await desk.jobs()
    return _answer(desk, _named(request, jobs), jobs)


@ROUTES.add(
    "delete",
    "/v1/jobs/{id}",
    Access.HERE,
    "Books",
    json_answer("It is gone.", JobDeleted),
    errors=(403, 404, 429, 503),
)
async def delete(request: web.Request) -> web.Response:
    """Stop a job, and delete all that was made of it."""
    desk = request.app[JOBS]
    job = _named(request, await desk.jobs())
    await desk.remove(job.order.id)
    return json_response(JobDeleted(job.order.id), headers=_UNKEPT)


def _answer(desk: JobDesk, job: Job, jobs: list[Job], status: int = 200) -> web.Response:
    return json_response(shown(job, jobs, desk.settings.jobs_between), status, _UNKEPT)


def _named(request: web.Request, jobs: list[Job]) -> Job:
    name = request.match_info["id"]
    for job in jobs:
        if job.order.id == name:
            return job
    raise ApiError(404, "There is no such job.", code="job_not_found")
