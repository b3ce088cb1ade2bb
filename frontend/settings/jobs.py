"""Settings of the jobs that make books; the supervisor makes each into a flag, a variable and a TOML key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shm.folders import state_folder
from shm.setting import Group, check_bounds, setting

LONGEST_FILE = 100 * 1024 * 1024
"""Bytes of the longest file that is read as a book (`books.reading.open.MOST_BYTES`)."""


@dataclass(frozen=True, slots=True)
class JobSettings:
    """The folder of jobs, and its limits.

    Raises:
        ValueError: a value that nothing could work with; the message names the setting.
    """

    jobs_dir: Path | None = setting(
        Group.BOOKS, "The folder of the books that /v1/jobs makes.  [default: jobs in the user's state folder]", None
    )
    jobs_between: str = setting(
        Group.BOOKS, "Hours of the day in which books are made, as in 01:00-07:00; a job may name its own.", ""
    )
    max_jobs: int = setting(
        Group.BOOKS,
        "Jobs that are kept, finished ones too; one more is answered with 409. 0: none.",
        50,
        low=0,
    )
    max_job_bytes: int = LONGEST_FILE
    """The longest file that a book is made of, in bytes; a longer one is answered with 413."""
    max_jobs_bytes: int = setting(
        Group.BOOKS,
        "The most that the folder of jobs may hold, in bytes; books wait when it is full.",
        20 * 1024 * 1024 * 1024,
        low=1,
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.jobs_between:
            from shm.book_jobs import Hours  # with msgspec, which a command without such hours doesn't need

            try:
                Hours(self.jobs_between)
            except ValueError as error:
                raise ValueError(f"jobs_between: {error}") from error

    @property
    def folder(self) -> Path:
        """The folder of jobs; it may not exist yet."""
        return self.jobs_dir or state_folder() / "jobs"
