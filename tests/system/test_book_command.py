"""`kokoro-live book` with a real server: kills change no byte of the book, and listeners come first."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.followed_output import FollowedOutput
from tests.ports import lasting_port
from tests.system.changed_engine import slowed_by
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.server import DEADLINE, ROOT, Server
from tests.system.shared import SharedServer, shared

TEXT = "\n\n".join(
    f"# Chapter {number}\n\n{sentences(4).replace('Sentence', f'Sentence {number}')}" for number in range(1, 3)
)

REST = 0.2
"""Seconds that the worker sleeps before each segment, so that a book lasts and costs the other tests nothing."""


PATIENCE = 240.0
"""Seconds that a book may take on a busy machine."""
pytestmark = pytest.mark.timeout(540)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A server whose worker rests before each segment; whenever it is started, on the same port."""
    folder = tmp_path_factory.mktemp("model")
    arguments = (*miniature_arguments(folder), "--port", str(lasting_port()))
    with shared(*arguments, environment=slowed_by(folder, REST)) as kept:
        yield kept


@pytest.fixture
def started(house: SharedServer) -> Server:
    return house.calm()


def book(folder: Path, url: str, output: str, *options: str) -> subprocess.Popen[str]:
    """The command under way; it keeps what it makes in `folder`."""
    source = folder / "source.md"
    source.write_text(TEXT)
    command = [sys.executable, "-m", "supervisor", "book", str(source), "-o", str(folder / output), "--url", url]
    return subprocess.Popen(
        [*command, *options],
        cwd=ROOT,
        env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> str:
    """Wait for the command's end; its standard error."""
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    return said


def passages(folder: Path) -> int:
    return len(list(folder.rglob("*.spoken")))


def until_passages(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    """Wait until so many passages are kept, or the command has ended."""
    while passages(folder) < count and process.poll() is None:
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue


@pytest.mark.slow
def test_kills_of_everything_change_no_byte(started: Server, tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    undisturbed.mkdir()
    killed.mkdir()
    url = f"http://127.0.0.1:{started.port}"
    finished(book(undisturbed, url, "book.m4b"))
    process = book(killed, url, "book.m4b")
    for step, victim in enumerate(["worker", "front", "book"], 1):
        until_passages(process, killed, step + 1)
        if victim == "book":
            process.kill()
            process.communicate()
            process = book(killed, url, "book.m4b")
        else:
            kill(started, victim)
    finished(process)
    assert (killed / "book.m4b").read_bytes() == (undisturbed / "book.m4b").read_bytes()
    assert passages(killed) == passages(undisturbed)


def kill(started: Server, title: str) -> None:
    for process in started.children(title)[:1]:
        os.kill(process.pid, signal.SIGKILL)


def test_idle_speech_is_refused_while_somebody_listens(started: Server) -> None:
    listening = started.speak(input=sentences(30), response_format="pcm")
    listening.read(4800)
    idle = started.speak(input="In the background.", stream=False, priority="idle", response_format="wav")
    error = json.loads(idle.read())["error"]
    assert idle.status == 429 and "Listeners" in error["message"] and int(idle.headers["Retry-After"]) >= 1
    listening.close()
    wrong = started.speak(input="In the background.", priority="idle")
    assert wrong.status == 400 and json.loads(wrong.read())["error"]["param"] == "priority"


def test_a_listener_comes_first_and_an_interrupted_book_says_how_to_go_on(started: Server, tmp_path: Path) -> None:
    """1. A listener is served as if there were no book. 2. The book, interrupted by hand, keeps what it has: another
    run goes on from there, as after the kill above."""
    process = book(tmp_path, f"http://127.0.0.1:{started.port}", "book.m4b")
    until_passages(process, tmp_path, 2)
    assert psutil.Process(process.pid).nice() > os.nice(0), "what it encodes takes no core from a listener"
    heard = started.hear(input="A listener comes. Another sentence follows.", response_format="pcm")
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("A listener comes. Another sentence follows."))
    assert process.poll() is None, "the listener didn't wait for the book"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130 and "goes on from here" in said
    assert passages(tmp_path) >= 2 and not (tmp_path / "book.m4b").exists()


def test_a_server_that_had_answered_is_waited_for(house: SharedServer, started: Server, tmp_path: Path) -> None:
    process = book(tmp_path, f"http://127.0.0.1:{started.port}", "book.m4b")
    until_passages(process, tmp_path, 1)
    process.send_signal(signal.SIGSTOP)
    house.close()
    process.send_signal(signal.SIGCONT)
    assert process.stderr
    with process:
        said = FollowedOutput(process.stderr)
        try:
            assert said.find("waiting: no server answers at", DEADLINE), "\n".join(said.lines)
            house.calm()
            assert process.wait(PATIENCE) == 0, "\n".join(said.lines)
        finally:
            process.kill()
            said.join(DEADLINE)
    assert (tmp_path / "book.m4b").exists()
