"""One job: its file is read, its book is made, and its journal says how far it has come."""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from books.book import Book, BookError, Chapter
from books.making.casting import cast_of
from books.making.maker import BookMaker, Order
from books.making.outputs import BookOutput, FinishedChapter
from books.making.passages import PassageRefused, Postponed
from books.making.progress import BookProgress, spoken_seconds
from books.making.server import ServerSpeaker
from books.making.settings import BookPauses, BookSettings, chosen
from books.reading.open import read_book
from books.writing.chapter_audio import audio_format
from shm.atomic import replacing, write_whole
from shm.audio import SAMPLE_RATE
from shm.book_jobs import BookPart, BookSentence, Hours, Job, JobOptions, JobState, JobText
from shm.job_folder import SOURCE, TEXT, WORK, JobFolder

# The finished file of a job, made from the options that the front has checked.

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Date of all files in a zip, so that the same book gives the same bytes."""


def settings_of(options: JobOptions) -> BookSettings:
    pauses = BookPauses.given(options.paragraph_pause, options.scene_pause, options.chapter_pause)
    return BookSettings(cast_of(options.cast), options.speed, options.lang, pauses, options.loudness)


def result_name(options: JobOptions) -> str:
    return f"result.{options.format}"


def output_of_job(options: JobOptions, folder: Path, work: Path) -> BookOutput:
    """The place to which `books.making` writes the book: the result itself; for a zip, the folder that is packed."""
    if options.format == "zip":
        return BookOutput(work / "packed", audio_format(options.chapter_format), True, options.captions)
    return BookOutput(folder / result_name(options), audio_format(options.format), by_word=options.by_word)


def pack(output: BookOutput, path: Path) -> None:
    """Put the folder of chapters into a zip, and delete the folder."""
    with replacing(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(output.path.iterdir()):
            # Audio doesn't get smaller, and 64-bit sizes let a chapter have any length.
            entry = zipfile.ZipInfo(file.name, _LONG_AGO)
            with file.open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
                shutil.copyfileobj(source, packed)
    shutil.rmtree(output.path)


def text_in_time(chapters: Sequence[FinishedChapter]) -> bytes:
    """The finished book's text, for a player, in JSON: `JobText`."""
    timed, begins = [], 0.0
    for chapter in chapters:
        sentences = [
            BookSentence(each.text, round(begins + each.start / SAMPLE_RATE, 3)) for each in chapter.spoken().sentences
        ]
        timed.append(BookPart(chapter.title, round(begins, 3), sentences))
        begins += chapter.seconds
    return msgspec.json.encode(JobText(timed))


log = logging.getLogger(__name__)

MOST_ATTEMPTS = 4
"""Processes that may die of a job without a passage made; the next one gives the job up. The supervisor gives up the
role after the fifth such death."""

_NOTED_SECONDS = 0.5
"""Least time between two notes of progress alone: each is a write that waits for the disk."""

_DISK_SECONDS = 30.0
"""Seconds after which a disk that refused something is tried again."""

_LONGEST_READING = 600.0
"""Seconds after which a file is given up that keeps a reader busy: the books after it wait."""


class JobDelayed(Exception):
    """The job can't go on now, and others may."""

    def __init__(self, reason: str, seconds: float) -> None:
        """`seconds` until it is tried again."""
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


@dataclass(slots=True)
class JobMaking:
    """One run of one job. Cancel `run` to stop: another run continues."""

    folder: JobFolder
    job: Job
    speaker: ServerSpeaker
    hours: Hours | None = None
    """Hours of the day in which the job is made."""
    room: Callable[[], bool] = lambda: True
    """False while the folder of jobs has reached its limit."""
    progressed: Callable[[], None] = lambda: None
    """Called after each passage."""
    _noted: float = field(default=0.0, init=False)

    async def run(self) -> None:
        """Make the book and note the job's end.

        Raises:
            JobDelayed: it can't go on now.
        """
        before = self.job.journal.attempts
        if before >= MOST_ATTEMPTS:
            message = f"The process that makes books ended {before} times over this book, which is given up."
            self._end(JobState.FAILED, error=message, error_code="book_kills")
            return
        try:
            self._note(state=JobState.MAKING, attempts=before + 1, started=self.job.journal.started or time.time())
            try:
                await self._make()
            except BaseException:
                # Only attempts that kill the process count, and it lives.
                self._note(attempts=min(before, self.job.journal.attempts))
                raise
        except PassageRefused as error:
            if error.code == "engine_changed":
                raise self._paused("another engine speaks now", 1.0) from error
            self._end(JobState.FAILED, error=str(error), error_code="passage_refused")
        except BookError as error:
            self._end(JobState.FAILED, error=str(error), error_code="book_unreadable")
        except OSError as error:
            if not self.folder.exists(self.job.order.id):
                return
            where = error.filename or self.folder.path
            raise self._paused(f"{where}: {error.strerror or error}", _DISK_SECONDS) from error

    async def _make(self) -> None:
        order = self.job.order
        home = self.folder.of(order.id)
        self._may_work()
        described = self.job.journal.words is not None
        if described:
            # Reading a long book takes a core for seconds: not every few seconds while no engine can speak it.
            await self._await_engine()
        try:
            async with asyncio.timeout(_LONGEST_READING):
                book, chapters = await asyncio.to_thread(self._read)
        except TimeoutError as error:
            raise BookError(f"The file couldn't be read as a book in {_LONGEST_READING:g} seconds.") from error
        self._describe(book, chapters)
        if not described:
            await self._await_engine()
        settings, work = settings_of(order.options), home / WORK
        output = output_of_job(order.options, home, work)
        make = Order(book, chapters, settings, output, work)
        finished = await BookMaker(make, self.speaker, self._tell, self._may_work).make()
        await asyncio.to_thread(lambda: write_whole(home / TEXT, text_in_time(finished)))
        cover = ""
        if book.cover:
            cover = f"cover.{book.cover.media_type.partition('/')[2]}"
            await asyncio.to_thread(write_whole, home / cover, book.cover.data)
        result = home / result_name(order.options)
        if output.folder:
            await asyncio.to_thread(pack, output, result)
        size = result.stat().st_size
        seconds = sum(chapter.seconds for chapter in finished)
        made = {"result": result.name, "result_bytes": size, "cover": cover}
        self._end(JobState.DONE, audio_seconds=seconds, progress=1.0, **made)
        await asyncio.to_thread(self.folder.clear, order.id)

    async def _await_engine(self) -> None:
        try:
            await self.speaker.engine()
        except Postponed as reason:
            raise self._paused(reason.reason, reason.seconds) from reason

    def _read(self) -> tuple[Book, tuple[Chapter, ...]]:
        order = self.job.order
        try:
            source = (self.folder.of(order.id) / SOURCE).read_bytes()
        except FileNotFoundError as error:
            # A job that was done, and whose journal was damaged since.
            raise BookError("The uploaded file is gone from the folder of jobs: upload it again.") from error
        try:
            book = read_book(source, order.file_name)
        except MemoryError as error:
            raise BookError("The book needs more memory than there is.") from error
        chapters = book.chapters if order.options.all_matter else book.body
        return book, chosen(chapters, order.options.chapters)

    def _describe(self, book: Book, chapters: tuple[Chapter, ...]) -> None:
        settings = settings_of(self.job.order.options)
        self._note(
            title=book.title,
            author=book.author,
            language=book.language,
            words=sum(chapter.words for chapter in chapters),
            chapters=len(chapters),
            estimated_audio_seconds=sum(spoken_seconds(chapter, settings) for chapter in chapters),
        )

    def _may_work(self) -> float:
        if self.hours and (closed := self.hours.closed()):
            raise self._paused("these aren't the hours for books", closed)
        if not self.room():
            raise self._paused("the folder of jobs is full: delete jobs that aren't needed any more", _DISK_SECONDS)
        return 0.0

    def _tell(self, progress: BookProgress) -> None:
        made = progress.audio_seconds > 0
        if made:
            self.progressed()
        journal = self.job.journal
        news = (progress.chapter, progress.waiting) != (journal.chapter, journal.waiting) or (made and journal.attempts)
        if not news and time.monotonic() - self._noted < _NOTED_SECONDS:
            return
        self._noted = time.monotonic()
        self._note(
            attempts=0 if made else journal.attempts,
            chapter=progress.chapter,
            chapter_title=progress.title,
            progress=progress.fraction,
            seconds_left=progress.seconds_left,
            speed=progress.speed,
            waiting=progress.waiting,
        )

    def _paused(self, reason: str, seconds: float) -> JobDelayed:
        log.info("%s waits: %s", self.job.order.id, reason)
        try:
            self._note(waiting=reason, seconds_left=None, speed=None)
        except OSError as error:
            log.error("the journal of %s can't be written: %s", self.job.order.id, error)
        return JobDelayed(reason, seconds)

    def _end(self, state: JobState, **facts: Any) -> None:
        log.info("%s: %s %s", self.job.order.id, state, facts.get("error", ""))
        self._note(state=state, finished=time.time(), waiting="", seconds_left=None, attempts=0, **facts)

    def _note(self, **facts: Any) -> None:
        journal = msgspec.structs.replace(self.job.journal, **facts)
        self.folder.note(self.job.order.id, journal)
        self.job = Job(self.job.order, journal)
