"""/v1/jobs of a real server: books are made in the background, whatever is killed meanwhile."""

import io
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.system.book_jobs import accepted, job, passages, result, until, until_files, until_passages
from tests.system.changed_engine import slowed_by
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import DEADLINE, ROOT, Server, server
from tests.system.shared import SharedServer, shared

pytestmark = pytest.mark.timeout(540)

TEXT = "\n\n".join(
    f"# Chapter {number}\n\n{sentences(4).replace('Sentence', f'Sentence {number}')}" for number in range(1, 3)
)


def two_chapters(length: int) -> str:
    """Twelve paragraphs of so many sentences, no two alike."""
    return "\n\n".join(
        f"# Chapter {n}\n\n" + "\n\n".join(f"{sentences(length)} {n}.{m}." for m in range(6)) for n in (1, 2)
    )


LONG = two_chapters(2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs")


@pytest.fixture(scope="module")
def arguments(folder: Path) -> tuple[str, ...]:
    return (*miniature_arguments(folder), "--jobs-dir", str(folder / "jobs"))


@pytest.fixture(scope="module")
def house(arguments: tuple[str, ...]) -> Iterator[SharedServer]:
    with shared(*arguments) as kept:
        yield kept


@pytest.fixture
def made(house: SharedServer, folder: Path) -> tuple[Server, Path]:
    return house.calm(), folder / "jobs"


@pytest.mark.slow
def test_kills_of_everything_change_no_byte(
    house: SharedServer, arguments: tuple[str, ...], folder: Path, tmp_path: Path
) -> None:
    """A server whose worker rests before each segment is killed; the next one, with the same folder, finishes."""
    house.close()
    jobs, book = folder / "jobs", two_chapters(1).encode()
    with server(*arguments, environment=slowed_by(tmp_path, 0.3)) as first:
        killed = accepted(first, book, "book.md")
        for number, victim in enumerate(("books", "front", "worker"), 1):
            until_passages(jobs / killed, number)
            process = first.child(victim)
            process.kill()
            process.wait(DEADLINE)
        until_passages(jobs / killed, 5)
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait(DEADLINE)
        kept = passages(jobs)
    assert 5 <= kept < 12, "it was under way"
    second = house.calm()
    assert until(second, killed, "done", "failed")["state"] == "done", job(second, killed)
    undisturbed = accepted(second, book, "book.md")
    assert until(second, undisturbed, "done", "failed")["state"] == "done"
    assert result(second, killed)[2] == result(second, undisturbed)[2]
    for each in (killed, undisturbed):
        second.post(f"/v1/jobs/{each}", {}, "DELETE")


def commanded(folder: Path, url: str, output: str, *options: str) -> Path:
    """The book that `kokoro-live book` makes of the same file."""
    source = folder / "a book.md"
    source.write_text(TEXT)
    command = [sys.executable, "-m", "supervisor", "book", str(source), "-o", str(folder / output), "--url", url]
    environment = {"XDG_CACHE_HOME": str(folder / "cache"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run([*command, *options], cwd=ROOT, env=environment, capture_output=True, timeout=2 * DEADLINE)
    assert done.returncode == 0, done.stderr
    return folder / output


def test_the_result_is_the_commands_book(made: tuple[Server, Path], tmp_path: Path) -> None:
    started, folder = made
    wanted = commanded(tmp_path, f"http://127.0.0.1:{started.port}", "book.m4b", "--speed", "1.1").read_bytes()
    identity = accepted(started, TEXT.encode(), "a book.md", speed="1.1", between="")
    done = until(started, identity, "done", "failed")
    assert (done["state"], done["title"], done["chapters"], done["progress"]) == ("done", "a book", 2, 1), done
    assert done["result"]["bytes"] == len(wanted) and done["result"]["file_name"] == "a book.m4b"
    status, headers, found = result(started, identity)
    assert (status, headers["Content-Type"], found) == (200, "audio/mp4", wanted)
    assert 'filename="a book.m4b"' in headers["Content-Disposition"]
    status, headers, part = result(started, identity, {"Range": "bytes=10-19"})
    assert (status, part, headers["Content-Range"]) == (206, wanted[10:20], f"bytes 10-19/{len(wanted)}")
    assert result(started, identity, {"Range": f"bytes={len(wanted)}-"})[0] == 416
    until_files(folder / identity, {"order.json", "journal.json", "result.m4b", "text.json"})
    report = started.get("/status")[1]
    assert report["jobs"]["done"] == 1 and 'kokoro_live_jobs{state="done"} 1.0' in started.get("/metrics")[1]
    assert started.post(f"/v1/jobs/{identity}", {}, "DELETE") == (
        200,
        {"id": identity, "object": "job", "deleted": True},
    )
    assert not (folder / identity).exists() and started.get(f"/v1/jobs/{identity}")[0] == 404


def test_jobs_queue_beside_listeners_and_a_cancelled_one_leaves_nothing(made: tuple[Server, Path]) -> None:
    started, folder = made
    first = accepted(started, LONG.encode(), "long.md")
    second = accepted(started, TEXT.encode(), "second.md", format="zip", captions="srt", chapter_format="flac")
    until_passages(folder / first, 1)
    assert job(started, second)["position_in_queue"] == 1
    said = "A listener comes. Another sentence follows."
    heard = started.hear(input=said, response_format="pcm")
    assert job(started, first)["state"] == "making", "the listener didn't wait for the book"
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of(said))
    assert started.post(f"/v1/jobs/{first}", {}, "DELETE")[0] == 200
    done = until(started, second, "done", "failed")
    assert done["state"] == "done", done
    assert not (folder / first).exists(), "no thread has written after its job was removed"
    with zipfile.ZipFile(io.BytesIO(result(started, second)[2])) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
    assert [name.rpartition(".")[2] for name in names] == ["flac", "srt", "flac", "srt", "json"], names
    started.post(f"/v1/jobs/{second}", {}, "DELETE")


def test_a_book_that_cannot_be_read_fails_with_a_reason(made: tuple[Server, Path]) -> None:
    started, folder = made
    identity = accepted(started, b"PK\x03\x04 not a zip", "broken.epub")
    error = until(started, identity, "done", "failed")["error"]
    assert error["code"] == "book_unreadable" and "no readable zip archive" in error["message"], error
    assert result(started, identity)[0] == 409
    started.post(f"/v1/jobs/{identity}", {}, "DELETE")
    assert [each.name for each in folder.iterdir()] == []
