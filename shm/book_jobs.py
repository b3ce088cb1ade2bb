"""Jobs: books that the server makes. These types are the files of the jobs' folder (`shm.job_folder`)."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from shm.book_formats import BOOK_FORMAT, BOOK_FORMATS, CHAPTER_FORMAT, CHAPTER_FORMATS
from shm.engine_info import Speed

if TYPE_CHECKING:
    FormatName = str
    ChapterFormatName = str
else:
    FormatName = Literal[*BOOK_FORMATS]
    ChapterFormatName = Literal[*CHAPTER_FORMATS]

_TITLES = [row.title for row in BOOK_FORMATS.values()]
_JOB_ID = re.compile(r"job-[0-9a-f]{16}")

MOST_SPEAKERS = 200
"""Speakers of a cast. Each is looked for next to each quotation by two expressions, of which Python keeps 512 compiled:
with more of them a book would take hours to divide."""

Pause = Annotated[float, Meta(ge=0, le=30)]


class CastFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The voices of a book's speakers, as a TOML file or field names them."""

    narrator: str = ""
    quotes: str = ""
    speakers: Annotated[dict[str, str], Meta(max_length=MOST_SPEAKERS)] = {}


_RANGE = r"\s*(?:\d{1,9}\s*(?:-\s*(?:\d{1,9}\s*)?)?|-\s*\d{1,9}\s*)"
"""One range of chapters. No text matches it in two ways: with two ways for each of several hundred ranges, the search
of a wrong list would never end."""

_Loudness = Annotated[float, Meta(ge=-40, le=-5)]


class BookOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `kokoro-live book` that an upload's form and a job's order have alike."""

    format: Annotated[FormatName, Meta(description=f"{'; '.join(filter(None, _TITLES))}.")] = BOOK_FORMAT
    chapter_format: Annotated[ChapterFormatName, Meta(description="Format of the chapters in a zip.")] = CHAPTER_FORMAT
    speed: Annotated[Speed | None, Meta(description="The pace; the server's default.")] = None
    lang: Annotated[str, Meta(max_length=64, description="The book's language. The one that the file names.")] = ""
    chapters: Annotated[
        str,
        Meta(
            pattern=f"^{_RANGE}(?:,{_RANGE})*$",
            max_length=1000,
            description="Numbers like 3-9 or 1,4-. All.",
        ),
    ] = "1-"
    all_matter: Annotated[bool, Meta(description="Speak front matter, notes and back matter too.")] = False
    loudness: Annotated[_Loudness | None, Meta(description="LUFS to which each chapter is brought.")] = None
    captions: Annotated[
        tuple[Literal["srt", "vtt"], ...],
        Meta(description="Captions alongside each chapter of a zip, with commas between."),
    ] = ()
    by_word: Annotated[bool, Meta(description="Mark words instead of sentences in an EPUB.")] = False
    paragraph_pause: Annotated[Pause | None, Meta(description="Seconds of silence after a paragraph.")] = None
    scene_pause: Annotated[Pause | None, Meta(description="Seconds of silence at a scene break.")] = None
    chapter_pause: Annotated[Pause | None, Meta(description="Seconds of silence after a chapter.")] = None
    between: Annotated[
        str, Meta(description="Hours of the day in which it is made, as in 01:00-07:00. The server's setting.")
    ] = ""


class JobOptions(BookOptions, frozen=True, kw_only=True):
    """A job's options, each of them valid for the engine that spoke when it was asked for."""

    cast: CastFile = CastFile()
    """The narrator is `voice`, where the form gives one."""


class JobOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One job as its client asked for it. The front writes this file once; without it there is no job."""

    id: str
    file_name: str
    """The uploaded file's name; its suffix tells Markdown and HTML from plain text."""
    file_bytes: int
    created: float
    """Seconds since 1970."""
    options: JobOptions = JobOptions()


class JobState(StrEnum):
    """The stage that a job has reached."""

    QUEUED = "queued"
    MAKING = "making"
    DONE = "done"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """True if nothing is left to be made."""
        return self in (JobState.DONE, JobState.FAILED)


class JobJournal(msgspec.Struct, frozen=True, kw_only=True):
    """A job's progress: written whenever it changes, by the process that makes books."""

    state: JobState = JobState.QUEUED
    waiting: str = ""
    """The reason for which nothing is made now."""
    title: str = ""
    """The book's, once the file was read; so are the next fields."""
    author: str = ""
    language: str = ""
    words: int | None = None
    chapters: int | None = None
    chapter: int | None = None
    """Number of the chapter in hand, from 1."""
    chapter_title: str = ""
    progress: float = 0.0
    """Part of the text that is spoken, 0 to 1."""
    estimated_audio_seconds: float | None = None
    audio_seconds: float | None = None
    """Length of the finished book."""
    seconds_left: float | None = None
    """Seconds of work that are left, at the speed of this run."""
    speed: float | None = None
    """Seconds of audio made in a second of work, in this run."""
    started: float | None = None
    """Seconds since 1970."""
    finished: float | None = None
    error: str = ""
    """The reason of a failed job, as a sentence for people; empty without one."""
    error_code: str = ""
    result: str = ""
    """Name of the finished file in the job's folder."""
    result_bytes: int | None = None
    cover: str = ""
    """Name of the book's cover in the job's folder: `cover.jpeg` or `cover.png`; empty without one."""
    attempts: int = 0
    """Processes that began or continued the job and have made no passage of it."""


class BookSentence(msgspec.Struct, frozen=True):
    text: str
    start: float
    """Seconds from the book's beginning."""


class BookPart(msgspec.Struct, frozen=True):
    title: str
    start: float
    """Seconds from the book's beginning."""
    sentences: list[BookSentence]


class JobText(msgspec.Struct, frozen=True):
    """A finished book's text in time."""

    chapters: list[BookPart]


class Job(msgspec.Struct, frozen=True):
    order: JobOrder
    journal: JobJournal
    unreadable: bool = False
    """True if a disk has damaged its files: the order and the journal say only that, and it can only be removed."""


def file_name(title: str) -> str:
    """A title as a file's name on any system: at most 80 characters, and so many bytes that a number, a suffix and the
    marks of an unfinished file fit into the 255 that file systems take."""
    plain = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*]+', " ", title).strip(" .")[:80]
    return plain.encode()[:200].decode(errors="ignore").strip(" .")


def is_job_id(text: str) -> bool:
    """True for a text that names a job's folder and nothing else."""
    return bool(_JOB_ID.fullmatch(text))


class Hours:
    """Hours of each day, in local time, such as 01:00-07:00; they may pass midnight."""

    def __init__(self, text: str) -> None:
        """
        Raises:
            ValueError: the text isn't two times of day.
        """
        found = re.fullmatch(r"\s*(\d{1,2}:\d{2})\s*[-–]\s*(\d{1,2}:\d{2})\s*", text)
        try:
            if not found:
                raise ValueError
            self._start, self._end = (_time(each) for each in found.groups())
        except ValueError:
            raise ValueError(f"{text!r} are no hours: write for example 01:00-07:00.") from None

    def closed(self, now: datetime | None = None) -> float:
        """Seconds until the hours begin; 0 within them."""
        now = now or datetime.now()
        clock = now.time()
        inside = self._start <= clock < self._end
        if self._start >= self._end:
            inside = clock >= self._start or clock < self._end
        if inside:
            return 0.0
        begins = datetime.combine(now.date(), self._start)
        if begins <= now:
            begins += timedelta(days=1)
        return (begins - now).total_seconds()


def _time(text: str) -> time:
    """A time of day; 24:00 is midnight, as ISO 8601 has it."""
    return time() if text == "24:00" else time.fromisoformat(text.zfill(5))
