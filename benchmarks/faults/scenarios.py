"""Work during which a call fails, in a forked process: a book, a job, an upload, a cache, a download, settings.

Each scenario goes the way that the product goes, from the command or the request down to the disk, and ends in what its
user has: files or bytes, or a refusal in words.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

import supervisor.commands.book
import supervisor.commands.models
from benchmarks.faults.shim import ACTIVE, CONTROL, Shim
from books.jobs.making import JobDelayed, JobMaking
from books.making.passages import PassageSpeaker
from frontend.jobs import JobDesk
from frontend.settings.front import JobSettings
from frontend.streams.cache import CachedSegment, DiskCache, SegmentCache
from shm.book_jobs import JobOptions, JobOrder, JobState
from shm.job_folder import JobFolder
from supervisor.cli import kokoro_live
from supervisor.commands.serve import Program
from supervisor.connect.files import JSON, FileEdit, Unreadable
from supervisor.settings.composition import Settings, parse_settings
from tests.books.jobs.test_making import MadeFront
from tests.books.making.made_speaker import MadeSpeaker
from tests.followed_output import END
from tests.frontend.http_fakes import FakeSpeaker, serving
from tests.system.book_jobs import multipart
from tests.system.oracle import miniature_arguments
from tests.system.server import server
from text.lexicon import LexiconFile, keep

BOOK = b"# One\n\nA first chapter, of two sentences. It is short.\n\n# Two\n\nAnd a second one.\n"

START_LIMIT = 100.0
"""Seconds in which a server must speak, or say why it doesn't."""


class Refused(Exception):
    """The user is told in words why it can't be done now."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that a user has done."""

    name: str
    attempt: Callable[[Path, Shim], str]
    """Do it in a folder that an earlier attempt may have been in; returns what the user has.

    Raises:
        Refused: it can't be done.
        SystemExit: the same, from a command whose line is on standard error.
    """
    trouble: Callable[[Path], str] = lambda folder: ""
    """Names the fault on the disk after a refused attempt; empty if there is none."""
    prepare: Callable[[Path], None] = lambda folder: None
    """Put there what is there before the first attempt."""
    holds: Callable[[Path], str] | None = None
    """Names what no power cut may take once an attempt has given its result. None: no power cuts are tried."""


def digest(*files: Path) -> str:
    """Names and contents of files."""
    return " ".join(f"{file.name}:{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}" for file in files)


def command(*arguments: str) -> None:
    """Run `kokoro-live ARGUMENTS` in this process.

    Raises:
        SystemExit: it ended with another status than 0; its line is on standard error.
    """
    try:
        kokoro_live(list(arguments), prog_name="kokoro-live")
    except SystemExit as end:
        if end.code:
            raise


# ---- a book, made by the command


def _put_book(folder: Path) -> None:
    (folder / "source.md").write_bytes(BOOK)


def _book_files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.glob("book*") if each.suffix in (".flac", ".srt"))


def _make_book(folder: Path, shim: Shim) -> str:
    @asynccontextmanager
    async def speaker(*_: object) -> AsyncIterator[PassageSpeaker]:
        yield MadeSpeaker()

    supervisor.commands.book._speaker = speaker  # type: ignore[assignment]
    command("book", str(folder / "source.md"), "-o", str(folder / "book.flac"), "--captions", "srt")
    with shim.exempt():
        return _book(folder)


def _book(folder: Path) -> str:
    return digest(*_book_files(folder))


def _book_trouble(folder: Path) -> str:
    left = [each.name for each in folder.glob(".*.part")]
    return f"left behind: {left}" if left else ""


# ---- a job of the server's, made by the maker of books


def _put_job(folder: Path) -> None:
    jobs = JobFolder(folder / "jobs")
    with jobs.upload() as (identity, source):
        source.write(BOOK)
        options = JobOptions(format="flac")
        jobs.publish(
            JobOrder(id=identity, file_name="a.md", file_bytes=len(BOOK), created=1.0, options=options), source
        )


def _make_job(folder: Path, shim: Shim) -> str:
    jobs = JobFolder(folder / "jobs")
    with shim.exempt():
        (job,) = jobs.jobs()
    if not job.journal.state.ended:
        try:
            with ExitStack() as running:
                with shim.exempt():
                    runner = running.enter_context(asyncio.Runner())
                runner.run(JobMaking(jobs, job, MadeFront()).run())
        except JobDelayed as delayed:
            raise Refused(delayed.reason) from delayed
    with shim.exempt():
        return _made_job(folder)


def _made_job(folder: Path) -> str:
    jobs = JobFolder(folder / "jobs")
    (job,) = jobs.jobs()
    if job.journal.state is not JobState.DONE:
        raise AssertionError(f"the job is {job.journal.state}: {job.journal.error}")
    return digest(jobs.of(job.order.id) / job.journal.result)


# ---- an upload, over HTTP


def _upload(folder: Path, shim: Shim) -> str:
    desk = JobDesk(JobSettings(jobs_dir=folder / "jobs"), lambda _: None, "http://a", "k")

    async def served() -> tuple[int, dict[str, Any]]:
        asyncio.get_running_loop().set_exception_handler(_in_the_loop)
        async with AsyncExitStack() as stack:
            with shim.exempt():
                server = await stack.enter_async_context(serving(FakeSpeaker(), jobs=desk))
            return await _beside(lambda: _send(server.port), shim)

    with ExitStack() as running:
        with shim.exempt():
            runner = running.enter_context(asyncio.Runner())
        status, answer = runner.run(served())
    if status != 202:
        error = answer.get("error", {})
        if status == 500 or not error.get("message"):
            raise AssertionError(f"{status}: {answer}")
        raise Refused(f"{status}: {error['message']}")
    with shim.exempt():
        job = desk.folder.get(str(answer["id"]))
        assert job is not None and not job.unreadable
        return digest(desk.folder.of(job.order.id) / "source") + f" {job.order.file_name}"


def _uploaded(folder: Path) -> str:
    jobs = JobFolder(folder / "jobs")
    return " ".join(digest(jobs.of(job.order.id) / "source") for job in jobs.jobs() if not job.unreadable)


def _in_the_loop(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an exception as ever, but asyncio's own of `accept` in a line: the product's front never calls that."""
    if str(context["message"]).startswith("socket.accept()"):
        logging.warning("%s", context["message"])
    else:
        loop.default_exception_handler(context)


async def _beside(work: Callable[[], tuple[int, dict[str, Any]]], shim: Shim) -> tuple[int, dict[str, Any]]:
    """Do the client's work in a thread, none of whose calls is meant."""

    def unmeant() -> tuple[int, dict[str, Any]]:
        with shim.exempt():
            return work()

    return await asyncio.to_thread(unmeant)


def _send(port: int) -> tuple[int, dict[str, Any]]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        body, kind = multipart({"file": ("b.md", BOOK * 4000), "voice": "af_heart"})
        try:
            connection.request("POST", "/v1/jobs", body, {"Content-Type": kind})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"the connection ended: {error!r}") from error


def _upload_trouble(folder: Path) -> str:
    jobs = JobFolder(folder / "jobs")
    if found := jobs.jobs():
        return f"a refused upload is a job: {found}"
    jobs.sweep()
    left = [each.name for each in jobs.path.iterdir()] if jobs.path.exists() else []
    return f"left behind: {left}" if left else ""


# ---- the cache of spoken segments


def _segments() -> dict[bytes, CachedSegment]:
    """A short segment, which lies in the index, and a long one, which has a file of its own."""
    return {
        bytes([number]): CachedSegment(np.arange(size, dtype=np.int16) * np.int16(number + 1))
        for number, size in enumerate((2_000, 60_000, 3_000))
    }


def _fill_cache(folder: Path, shim: Shim) -> str:
    wanted = _segments()
    for fill in (True, False):
        try:
            disk = DiskCache(folder / "cache", 4 << 20)
        except OSError as error:
            raise Refused(str(error)) from error
        cache = SegmentCache(1, disk)
        if fill:
            for key, segment in wanted.items():
                cache.keep(key, segment)
        else:
            with shim.exempt():
                found = asyncio.run(_found(cache, wanted))
        cache.store_rest()
    wrong = [key for key, segment in found.items() if not np.array_equal(segment.samples, wanted[key].samples)]
    assert not wrong, f"the cache gives other samples for {wrong}"
    if len(found) < len(wanted):
        raise Refused(f"the cache has {len(found)} of {len(wanted)}")
    return f"{len(found)} segments"


async def _found(cache: SegmentCache, wanted: dict[bytes, CachedSegment]) -> dict[bytes, CachedSegment]:
    answers = {key: await cache.find(key) for key in wanted}
    return {key: segment for key, segment in answers.items() if segment is not None}


# ---- a model, downloaded by the command


def _download(folder: Path, shim: Shim) -> str:
    models = folder / "models"
    manifest = Path(os.environ["KOKORO_LIVE_FAULTS_MANIFEST"])
    command("models", "fetch", "--manifest", str(manifest), "--model-dir", str(models))
    with shim.exempt():
        return _downloaded(folder)


def _downloaded(folder: Path) -> str:
    return digest(*sorted(each for each in (folder / "models").glob("*") if each.suffix in (".onnx", ".bin")))


def _download_trouble(folder: Path) -> str:
    for entry in json.loads(Path(os.environ["KOKORO_LIVE_FAULTS_MANIFEST"]).read_text()):
        file = folder / "models" / entry["name"]
        if file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() != entry["sha256"]:
            return f"{file.name} isn't the published file"
    return ""


# ---- settings and what they name, read again


def _put_settings(folder: Path) -> None:
    (folder / "words.txt").write_text("Kokoro\t/kˈoʊkəɹoʊ/\n")
    (folder / "keys").write_text("a-key-of-twenty-letters\n")
    lines = ["cache_bytes = 123456", f'lexicon = "{folder}/words.txt"', f'api_key_file = "{folder}/keys"', ""]
    (folder / "config.toml").write_text("\n".join(lines))


def _reload(folder: Path, _: Shim) -> str:
    arguments = ["--config", str(folder / "config.toml")]
    old = Settings.of(parse_settings(["--config", os.devnull]).params)
    spawner = SimpleNamespace(settings=old)
    loop = SimpleNamespace(connections=SimpleNamespace(address=("127.0.0.1", 1), hosts=("127.0.0.1",)))
    manager = cast(Any, SimpleNamespace(watchdog_seconds=None))
    program = Program(cast(Any, spawner), cast(Any, None), cast(Any, loop), arguments, manager, None)
    if not program.reload().front:
        assert spawner.settings is old
        raise Refused  # the log says why
    text = spawner.settings.text
    assert text.lexicon
    entries = len(LexiconFile(text.lexicon).current())
    if not entries:
        raise Refused  # the log says why
    return f"{entries} words, {spawner.settings.front}".replace(str(folder), "")


# ---- files of the user's own, which the product changes


def _put_words(folder: Path) -> None:
    (folder / "words.txt").write_text("Kokoro\t/kˈoʊkəɹoʊ/\n")
    (folder / "claude.json").write_text('{"mcpServers": {"other": {"command": "other"}}}\n')


def _keep_word(folder: Path, _: Shim) -> str:
    try:
        if "Nguyen" not in _words(folder):
            keep(folder / "words.txt", "Nguyen", "win", "en")
    except OSError as error:
        raise Refused(str(error)) from error
    return _words(folder)


def _words(folder: Path) -> str:
    lexicon = LexiconFile(folder / "words.txt").current()
    return " ".join(word for word in ("Kokoro", "Nguyen") if lexicon.find(word, "en-us"))


def _connect(folder: Path, shim: Shim) -> str:
    ours = ("mcpServers", "kokoro-live")
    try:
        FileEdit(folder / "claude.json", JSON, {ours: {"command": "kokoro-live"}}).write()
    except (OSError, Unreadable) as error:
        raise Refused(str(error)) from error
    with shim.exempt():
        return _connected(folder)


def _connected(folder: Path) -> str:
    return (folder / "claude.json").read_text()


# ---- a whole server


def _start(folder: Path, shim: Shim) -> str:
    """Start a server, each of whose processes is meant, and hear it."""
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    shim.control.prefix = os.fsencode(folder)
    meant = {CONTROL: os.environ[CONTROL], ACTIVE: "1"}
    began = time.monotonic()
    with shim.exempt():
        try:
            with server(*miniature_arguments(folder), environment=meant, patience=START_LIMIT) as started:
                heard = hashlib.sha256(started.hear(input="Hello.", response_format="pcm")).hexdigest()
                print(*_told(started.log), sep="\n", file=sys.stderr)
        except AssertionError as error:
            if time.monotonic() - began > START_LIMIT:
                raise
            raise Refused("; ".join(_told(str(error).splitlines()))) from error
    return heard[:16]


def _told(log: Iterable[str]) -> list[str]:
    """Lines that say that something is wrong."""
    return [line for line in log if line != END and ": INFO:" not in line]


SCENARIOS = (
    Scenario("start", _start),
    Scenario("book", _make_book, _book_trouble, _put_book, _book),
    Scenario("job", _make_job, prepare=_put_job, holds=_made_job),
    Scenario("upload", _upload, _upload_trouble, holds=_uploaded),
    Scenario("cache", _fill_cache, holds=lambda folder: ""),
    Scenario("download", _download, _download_trouble, holds=_downloaded),
    Scenario("lexicon", _keep_word, prepare=_put_words, holds=_words),
    Scenario("connect", _connect, prepare=_put_words, holds=_connected),
    Scenario("settings", _reload, prepare=_put_settings),
)
