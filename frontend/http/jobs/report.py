"""A job as the API shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shm.book_jobs import BookFormat, Hours, Job, JobOptions

MEDIA_TYPES: dict[BookFormat, str] = {
    "m4b": "audio/mp4",
    "m4a": "audio/mp4",
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "flac": "audio/flac",
    "epub": "application/epub+zip",
    "zip": "application/zip",
}


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
            content_type=MEDIA_TYPES[order.options.format],
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
        result=result,
    )


def saved_as(job: Job) -> str:
    """Name under which a browser saves the result."""
    title = re.sub(r'[\x00-\x1f<>:"/\\|?*]+', " ", job.journal.title).strip(" .")[:80].strip(" .")
    return f"{title or 'book'}.{job.order.options.format}"


def _waiting(job: Job, between: str) -> str:
    hours = job.order.options.between or between
    if not job.journal.state.ended and hours and Hours(hours).closed():
        return f"it is made in the hours {hours}"
    return job.journal.waiting


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 2)
