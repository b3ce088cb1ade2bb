"""/v1/jobs of a real server: books are made in the background, whatever is killed meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.book_jobs import accepted, result, until, until_files
from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import DEADLINE, ROOT, Server, server

pytestmark = pytest.mark.timeout(540)

TEXT = "\n\n".join(
    f"# Chapter {number}\n\n{sentences(4).replace('Sentence', f'Sentence {number}')}" for number in range(1, 3)
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server, and its folder of jobs."""
    folder = tmp_path_factory.mktemp("jobs")
    with server(*miniature_arguments(folder), "--jobs-dir", str(folder / "jobs")) as started:
        yield started, folder / "jobs"


def commanded(folder: Path, url: str, output: str, *options: str) -> Path:
    """What `kokoro-live book` makes of the same file."""
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
    until_files(folder / identity, {"order.json", "journal.json", "result.m4b"})
    report = started.get("/status")[1]
    assert report["jobs"]["done"] == 1 and 'kokoro_live_jobs{state="done"} 1.0' in started.get("/metrics")[1]
    assert started.post(f"/v1/jobs/{identity}", {}, "DELETE") == (
        200,
        {"id": identity, "object": "job", "deleted": True},
    )
    assert not (folder / identity).exists() and started.get(f"/v1/jobs/{identity}")[0] == 404
