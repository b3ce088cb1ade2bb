"""Jobs: books that the server makes. These types are the files of the jobs' folder (`shm.job_folder`)."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

BookFormat = Literal["m4b", "m4a", "mp3", "opus", "flac", "epub", "zip"]
"""Format of a job's result; `zip` is a folder of chapters."""
ChapterFormat = Literal["m4a", "mp3", "opus", "flac"]

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


class JobOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A book's settings: the options of `kokoro-live book`."""

    format: BookFormat = "m4b"
    chapter_format: ChapterFormat = "m4a"
    """Format of the chapters in a zip."""
    chapters: str = ""
    """Ranges of chapters, as in 3-9 or 1,4-; empty: all."""
    all_matter: bool = False
    cast: CastFile = CastFile()
    """The narrator is `voice`, where a request gives one."""
    speed: float | None = None
    """None: the server's default."""
    lang: str = ""
    loudness: float | None = None
    """LUFS; None: as the model speaks."""
    captions: tuple[Literal["srt", "vtt"], ...] = ()
    by_word: bool = False
    paragraph_pause: float | None = None
    """Seconds; None: as `kokoro-live book` has it. The same holds for the other pauses."""
    scene_pause: float | None = None
    chapter_pause: float | None = None
    between: str = ""
    """Hours of the day, as in 01:00-07:00; empty: the server's setting."""


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
    attempts: int = 0
    """Processes that began or continued the job and have made no passage of it."""


class Job(msgspec.Struct, frozen=True):
    order: JobOrder
    journal: JobJournal
    unreadable: bool = False
    """True if a disk has damaged its files: the order and the journal say only that, and it can only be removed."""


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
