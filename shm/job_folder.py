"""The folder of jobs, which the front and the process that makes books share.

```
jobs/job-0123456789abcdef/source         the uploaded file; locked while it is being written
                          order.json     JobOrder, written once by the front: with it the job exists
                          journal.json   JobJournal, written by the maker of books only
                          work/          spoken passages and finished chapters
                          text.json      JobText, the finished book's text in time, written before the journal's end
                          cover.jpeg     the book's cover, or cover.png, if it has one
                          RESULT         the finished book, named by the journal
```

Each file has one writer and is replaced whole, so that neither process waits for the other and a kill at any time
leaves a folder that the next process understands. A folder without an order is what is left of an upload or of a
removed job, and `sweep` deletes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from shm import kept
from shm.atomic import sync_folder, try_lock, write_whole
from shm.book_jobs import Job, JobJournal, JobOrder, JobState, is_job_id

log = logging.getLogger(__name__)

SOURCE, ORDER, JOURNAL, WORK, TEXT = "source", "order.json", "journal.json", "work", "text.json"

_decode_order = kept.JOB.decoder(JobOrder)
_decode_journal = kept.JOB.decoder(JobJournal)


class JobFolder:
    """All jobs of one server. Every method reads or writes the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def of(self, job: str) -> Path:
        assert is_job_id(job)
        return self.path / job

    def jobs(self) -> list[Job]:
        """All jobs, the oldest first.

        Raises:
            OSError: the folder can't be read.
        """
        found = filter(None, (self.get(name) for name in self._names()))
        return sorted(found, key=lambda job: (job.order.created, job.order.id))

    def get(self, job: str) -> Job | None:
        """One job, or None if there is none of that id. A damaged journal counts as none: what was spoken is kept."""
        folder = self.of(job)
        try:
            order = _decode_order((folder / ORDER).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, msgspec.DecodeError) as error:
            return _unreadable(JobOrder(id=job, file_name=job, file_bytes=0, created=0.0), error)
        if order.id != job:
            return _unreadable(msgspec.structs.replace(order, id=job), f"its order is {order.id[:40]!r}'s")
        try:
            return Job(order, _decode_journal((folder / JOURNAL).read_bytes()))
        except FileNotFoundError:
            return Job(order, JobJournal())
        except kept.LaterVersion as error:
            return _unreadable(order, error)
        except msgspec.DecodeError as error:
            log.error("the journal of %s is damaged and begins again: %s", job, error)
            return Job(order, JobJournal())
        except OSError as error:
            return _unreadable(order, error)

    def exists(self, job: str) -> bool:
        """True until the job is removed. One whose folder can't be read isn't."""
        try:
            return (self.of(job) / ORDER).exists()
        except OSError:
            return True

    @contextlib.contextmanager
    def upload(self) -> Iterator[tuple[str, IO[bytes]]]:
        """A new id, and the file into which its source is written. Unless `publish` is called within the block, the
        folder is deleted at its end.

        Raises:
            OSError: the folder can't be written.
        """
        job, source = self._begin()
        try:
            yield job, source
        finally:
            # On a full disk closing fails as the last write did; `publish` has flushed what is kept.
            with contextlib.suppress(OSError):
                source.close()
            if not self.exists(job):
                shutil.rmtree(self.of(job), ignore_errors=True)

    def _begin(self) -> tuple[str, IO[bytes]]:
        while True:
            job = f"job-{secrets.token_hex(8)}"
            path = self.of(job) / SOURCE
            path.parent.mkdir(parents=True)
            with contextlib.suppress(FileNotFoundError):
                source = path.open("wb")
                fcntl.flock(source, fcntl.LOCK_EX)
                if path.exists():
                    return job, source
                source.close()
            # A sweep of another process has deleted the folder before the lock was taken.

    def publish(self, order: JobOrder, source: IO[bytes]) -> None:
        """Make an uploaded file a job.

        Raises:
            OSError: the disk is full or can't be written, and the file is no job.
        """
        source.flush()
        os.fsync(source.fileno())
        sync_folder(self.path)
        path = self.of(order.id) / ORDER
        try:
            write_whole(path, kept.JOB.encode(order))
        except OSError:
            # The order may have its name already: a refused upload that is made all the same comes twice.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise

    def note(self, job: str, journal: JobJournal) -> None:
        """Replace a job's journal.

        Raises:
            OSError: the disk is full or can't be written; FileNotFoundError: the job was removed.
        """
        write_whole(self.of(job) / JOURNAL, kept.JOB.encode(journal))

    def remove(self, job: str) -> None:
        """Remove a job with everything that was made for it.

        Raises:
            OSError: it can't be removed.
        """
        folder = self.of(job)
        (folder / ORDER).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def clear(self, job: str) -> None:
        """Delete what only the making of an ended job needed."""
        shutil.rmtree(self.of(job) / WORK, ignore_errors=True)
        (self.of(job) / SOURCE).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete what killed uploads and removed jobs have left.

        Raises:
            OSError: the folder can't be read.
        """
        for name in self._names():
            if not self.exists(name):
                try:
                    self._delete_rest(name)
                except OSError as error:
                    log.error("what is left of %s can't be deleted: %s", name, error)

    def _delete_rest(self, job: str) -> None:
        folder = self.of(job)
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(FileNotFoundError):
                if not try_lock(stack.enter_context((folder / SOURCE).open("rb"))):
                    return  # it is being uploaded
            # Under the lock this is certain: an upload may have become a job since the order was looked for.
            if not self.exists(job):
                shutil.rmtree(folder, ignore_errors=True)

    def used(self) -> int:
        """Bytes of all files.

        Raises:
            OSError: the folder can't be read.
        """
        total = 0
        for folder, _, files in os.walk(self.path):
            for file in files:
                with contextlib.suppress(OSError):
                    total += Path(folder, file).stat().st_size
        return total

    def _names(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return [each.name for each in self.path.iterdir() if is_job_id(each.name)]
        return []


def _unreadable(order: JobOrder, error: Exception | str) -> Job:
    log.error("%s can't be read: %s", order.id, error)
    message = f"The job's files are damaged or can't be read ({error}). Delete it, and upload the book again."
    return Job(order, JobJournal(state=JobState.FAILED, error=message, error_code="job_unreadable"), True)
