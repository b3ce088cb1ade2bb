"""One job of the server: what pauses it, what ends it, and what counts as a death."""

import asyncio
import errno
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from books.jobs.making import MOST_ATTEMPTS, JobDelayed, JobMaking
from books.jobs.process import JobQueue, StuckThread
from books.making.maker import SpeechJournal
from books.making.passages import Passage, PassageRefused, PassageSpeech, Postponed
from books.making.server import ServerSpeaker
from frontend.settings.front import JobSettings
from shm.book_jobs import Hours, Job, JobJournal, JobOptions, JobOrder, JobState, JobText
from shm.job_folder import JobFolder
from tests.books.made_markup import MadeEpub, nav
from tests.books.making.made_speaker import made_speech

TEXT = b"# One\n\nA first chapter.\n\n# Two\n\nAnd a second one.\n"


class MadeFront(ServerSpeaker):
    """A front that speaks tones; `fails` may raise before each passage."""

    def __init__(self) -> None:
        self.inference_threads = 1
        self.away = ""
        self.fails: Callable[[Passage], None] = lambda passage: None

    async def engine(self) -> str:
        if self.away:
            raise Postponed(self.away, 5.0)
        return "made/1"

    async def script(self, passage: Passage) -> str:
        return passage.text

    async def speak(self, passage: Passage) -> PassageSpeech:
        self.fails(passage)
        return made_speech(passage)


class Shelf:
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
    picture = b"\x89PNG a cover"
    manifest = '<item id="c" href="c.png" media-type="image/png" properties="cover-image"/>'
    texts = {f"{name}.xhtml": f"<body><h1>{name}</h1><p>Chapter {name}.</p></body>" for name in ("One", "Two")}
    toc = "".join(f'<li><a href="{name}">{name[:3]}</a></li>' for name in texts)
    shelf = Shelf(tmp_path, MadeEpub(texts, {"OEBPS/c.png": picture}, manifest=manifest, toc=nav(toc)).bytes())
    shelf.run()
    assert (shelf.folder.of(shelf.id) / shelf.journal.cover).read_bytes() == picture
    assert (shelf.journal.state, shelf.journal.chapters, shelf.journal.progress) == (JobState.DONE, 2, 1.0)
    assert sorted(each.name for each in shelf.folder.of(shelf.id).iterdir()) == [
        "cover.png",
        "journal.json",
        "order.json",
        "result.flac",
        "text.json",
    ]
    first, second = msgspec.json.decode((shelf.folder.of(shelf.id) / "text.json").read_bytes(), type=JobText).chapters
    times = [sentence.start for chapter in (first, second) for sentence in chapter.sentences]
    assert first.start == 0 < second.start <= second.sentences[0].start, "by the whole book's time"
    assert times == sorted(times) and times[-1] < (shelf.journal.audio_seconds or 0)


def test_a_full_disk_is_waited_for_and_is_no_death(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(SpeechJournal, "add", full)
        for _ in range(2 * MOST_ATTEMPTS):
            with pytest.raises(JobDelayed, match="No space"):
                shelf.run()
        assert (shelf.journal.attempts, shelf.journal.state) == (0, JobState.MAKING)
    shelf.run()
    assert shelf.journal.state is JobState.DONE


def test_a_change_of_engines_is_no_death(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)

    def changed(_: Passage) -> None:
        raise PassageRefused("espeak-ng speaks now", "engine_changed")

    shelf.front.fails = changed
    for _ in range(2 * MOST_ATTEMPTS):
        with pytest.raises(JobDelayed):
            shelf.run()
    assert shelf.journal.attempts == 0


def test_deaths_before_a_passage_was_made_are_forgotten_with_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.folder.note(shelf.id, JobJournal(attempts=MOST_ATTEMPTS - 1))

    def at_the_second(passage: Passage) -> None:
        if "second" in passage.text:
            raise PassageRefused("another", "engine_changed")

    shelf.front.fails = at_the_second
    with pytest.raises(JobDelayed):
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
        with pytest.raises(JobDelayed, match="stands in"):
            shelf.run()
    assert len(reads) == 1 and shelf.journal.words is not None
    shelf.front.away = ""
    shelf.run()
    assert shelf.journal.state is JobState.DONE


def test_a_file_that_keeps_the_reader_busy_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, go = Shelf(tmp_path), threading.Event()
    monkeypatch.setattr("books.jobs.making._LONGEST_READING", 0.01)
    monkeypatch.setattr(JobMaking, "_read", lambda making: go.wait(60))

    async def run() -> None:
        await JobMaking(shelf.folder, shelf.job, shelf.front).run()
        go.set()

    asyncio.run(run())
    assert (shelf.journal.state, shelf.journal.error_code) == (JobState.FAILED, "book_unreadable")


def test_a_thread_that_outlives_its_removed_job_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, begun, go = Shelf(tmp_path), threading.Event(), threading.Event()

    def stuck(_: JobMaking) -> None:
        begun.set()
        go.wait(60)

    monkeypatch.setattr(JobMaking, "_read", stuck)
    monkeypatch.setattr("books.jobs.process._LONGEST_THREAD", 0.01)
    queue = JobQueue(JobSettings(jobs_dir=tmp_path), shelf.front, lambda: None)

    async def run() -> None:
        work = asyncio.create_task(queue.work())
        assert await asyncio.to_thread(begun.wait, 60)
        shelf.folder.remove(shelf.id)
        queue.changed.set()
        try:
            with pytest.raises(StuckThread):
                await work
        finally:
            go.set()

    asyncio.run(run())


def test_a_job_that_waits_for_the_night_is_looked_at_by_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a machine sleeps the monotonic clock stands still: a pause of hours would pass the night by."""
    shelf, closed = Shelf(tmp_path), [0.0]
    monkeypatch.setattr(Hours, "closed", lambda hours: closed[0])
    shelf.front.fails = lambda passage: closed.__setitem__(0, 64_800.0)
    settings = JobSettings(jobs_dir=tmp_path, jobs_between="01:00-07:00")
    queue = JobQueue(settings, shelf.front, lambda: None)
    asyncio.run(queue.work())
    assert "hours" in shelf.journal.waiting
    assert 0 < queue._not_before[shelf.id] - time.monotonic() <= 60


def test_a_job_that_cannot_be_read_keeps_its_files_and_no_other_waiting(tmp_path: Path) -> None:
    bad, good = Shelf(tmp_path), Shelf(tmp_path)
    (bad.folder.of(bad.id) / "journal.json").mkdir()
    queue = JobQueue(JobSettings(jobs_dir=tmp_path), good.front, lambda: None)

    async def run() -> bool:
        await queue.work()
        return await queue.work()

    assert asyncio.run(run()) is False
    assert good.journal.state is JobState.DONE
    assert (bad.folder.of(bad.id) / "source").exists() and bad.job.unreadable


def test_a_done_job_whose_journal_was_lost_does_not_wait_for_its_upload(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.run()
    (shelf.folder.of(shelf.id) / "journal.json").write_bytes(b"{")
    shelf.run()
    assert (shelf.journal.state, shelf.journal.error_code) == (JobState.FAILED, "book_unreadable")
    assert "upload it again" in shelf.journal.error
