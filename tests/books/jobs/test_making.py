"""One job of the server: what pauses it, what ends it, and what counts as a death."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from books.jobs.making import MOST_ATTEMPTS, JobMaking, Pause
from books.jobs.speaker import FrontSpeaker
from books.making.journal import Journal
from books.making.passages import Passage
from books.making.speech import Postponed, Refused, Speech
from shm.book_jobs import Job, JobJournal, JobOptions, JobOrder, JobState
from shm.job_folder import JobFolder
from tests.books.making.made_speaker import made_speech

TEXT = b"# One\n\nA first chapter.\n\n# Two\n\nAnd a second one.\n"


class MadeFront(FrontSpeaker):
    """A front that speaks tones; `fails` may raise before each passage."""

    def __init__(self) -> None:
        self.inference_threads = 1
        self.away = ""
        self.fails: Callable[[Passage], None] = lambda passage: None

    async def engine(self) -> str:
        if self.away:
            raise Postponed(self.away, 5.0)
        return "made/1"

    async def speak(self, passage: Passage) -> Speech:
        self.fails(passage)
        return made_speech(passage)


class Shelf:
    """A folder with one job."""

    def __init__(self, path: Path, source: bytes = TEXT) -> None:
        self.folder = JobFolder(path)
        self.front = MadeFront()
        with self.folder.upload() as (self.id, file):
            file.write(source)
            options = JobOptions(format="flac")
            order = JobOrder(id=self.id, file_name="a.md", file_bytes=len(source), created=1.0, options=options)
            self.folder.publish(order, file)

    @property
    def job(self) -> Job:
        job = self.folder.get(self.id)
        assert job is not None
        return job

    @property
    def journal(self) -> JobJournal:
        return self.job.journal

    def run(self) -> None:
        asyncio.run(JobMaking(self.folder, self.job, self.front).run())


def test_a_job_is_made(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.run()
    assert (shelf.journal.state, shelf.journal.chapters, shelf.journal.progress) == (JobState.DONE, 2, 1.0)
    assert sorted(each.name for each in shelf.folder.of(shelf.id).iterdir()) == [
        "journal.json",
        "order.json",
        "result.flac",
    ]


def test_a_full_disk_is_waited_for_and_is_no_death(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(Journal, "add", full)
        for _ in range(2 * MOST_ATTEMPTS):
            with pytest.raises(Pause, match="No space"):
                shelf.run()
        assert (shelf.journal.attempts, shelf.journal.state) == (0, JobState.MAKING)
    shelf.run()
    assert shelf.journal.state is JobState.DONE


def test_a_change_of_engines_is_no_death(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)

    def changed(_: Passage) -> None:
        raise Refused("espeak-ng speaks now", "engine_changed")

    shelf.front.fails = changed
    for _ in range(2 * MOST_ATTEMPTS):
        with pytest.raises(Pause):
            shelf.run()
    assert shelf.journal.attempts == 0


def test_deaths_before_a_passage_was_made_are_forgotten_with_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.folder.note(shelf.id, JobJournal(attempts=MOST_ATTEMPTS - 1))

    def at_the_second(passage: Passage) -> None:
        if "second" in passage.text:
            raise Refused("another", "engine_changed")

    shelf.front.fails = at_the_second
    with pytest.raises(Pause):
        shelf.run()
    assert shelf.journal.attempts == 0


def test_too_many_deaths_end_a_job(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.folder.note(shelf.id, JobJournal(attempts=MOST_ATTEMPTS))
    shelf.run()
    assert (shelf.journal.state, shelf.journal.error_code) == (JobState.FAILED, "book_kills")


def test_a_book_is_read_once_while_no_engine_can_speak_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = JobMaking._read

    def counted(making: JobMaking) -> object:
        reads.append(making)
        return read(making)

    monkeypatch.setattr(JobMaking, "_read", counted)
    shelf = Shelf(tmp_path)
    shelf.front.away = "espeak-ng stands in for Kokoro"
    for _ in range(5):
        with pytest.raises(Pause, match="stands in"):
            shelf.run()
    assert len(reads) == 1 and shelf.journal.words is not None
    shelf.front.away = ""
    shelf.run()
    assert shelf.journal.state is JobState.DONE
