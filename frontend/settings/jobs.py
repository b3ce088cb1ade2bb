"""Settings of the jobs that make books; the supervisor makes each into a flag, a variable and a TOML key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from shm.hours import Hours

LONGEST_FILE = 100 * 1024 * 1024
"""Bytes of the longest file that is read as a book (`books.reading.open.MOST_BYTES`)."""


@dataclass(frozen=True, slots=True)
class JobSettings:
    """The folder of jobs, and its limits.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    jobs_dir: Path | None = field(
        default=None,
        metadata={"help": "The folder of the books that /v1/jobs makes.  [default: jobs in the user's state folder]"},
    )
    jobs_between: str = field(
        default="",
        metadata={"help": "Hours of the day in which books are made, as in 01:00-07:00; a job may name its own."},
    )
    max_jobs: int = field(
        default=50, metadata={"help": "Jobs that are kept, finished ones too; one more is answered with 409. 0: none."}
    )
    max_job_bytes: int = field(
        default=LONGEST_FILE,
        metadata={"help": "The longest file that a book is made of, in bytes; a longer one is answered with 413."},
    )
    max_jobs_bytes: int = field(
        default=20 * 1024 * 1024 * 1024,
        metadata={"help": "The most that the folder of jobs may hold, in bytes; books wait when it is full."},
    )

    def __post_init__(self) -> None:
        if self.max_jobs < 0:
            raise ValueError(f"max_jobs must be 0 or more, not {self.max_jobs}")
        for name in ("max_job_bytes", "max_jobs_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.max_job_bytes > LONGEST_FILE:
            raise ValueError(
                f"max_job_bytes must be at most {LONGEST_FILE}, not {self.max_job_bytes}: no book is longer"
            )
        if self.jobs_between:
            try:
                Hours(self.jobs_between)
            except ValueError as error:
                raise ValueError(f"jobs_between: {error}") from error

    @property
    def folder(self) -> Path:
        """The folder of jobs; it may not exist yet."""
        return self.jobs_dir or platformdirs.user_state_path("kokoro-live", appauthor=False) / "jobs"
