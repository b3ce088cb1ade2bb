"""An engine that is unloaded while nobody asks, a worker's processors and niceness, and a model that arrives."""

import contextlib
import http.client
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from supervisor.processes.standing import ExitCode
from tests.file_server import FileServer, Handler, file_server, serve
from tests.system.conftest import WORKER_NICE
from tests.system.listening import LONG, Listener
from tests.system.oracle import miniature_arguments, samples_of, sentences
from tests.system.published_model import publish
from tests.system.server import DEADLINE, Server, awaited, server
from tests.system.shared import SharedServer, shared


def process(of: Server, role: str) -> dict[str, Any]:
    _, status = of.get("/status")
    (found,) = [each for each in status["processes"] if each["role"] == role]
    return dict(found)


def passes_keepalive_timeout(of: Server) -> None:
    """Wait until the front's own clock has passed `--keepalive-timeout`: it closes a connection after its request."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", of.port, timeout=DEADLINE)) as connection:
        connection.request("GET", "/health")
        connection.getresponse().read()
        assert connection.sock.recv(1) == b""


def until_it_rests(of: Server) -> None:
    """Wait until the engine is unloaded."""
    awaited(
        lambda: {each["state"] for each in of.get("/status")[1]["processes"] if each["role"] == "worker"},
        lambda states: states == {"resting"},
    )


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    settings = ("--idle-unload", "0.3s", "--keepalive-timeout", "1", "--standby", "imported")
    with shared(*miniature_arguments(tmp_path_factory.mktemp("model")), *settings) as kept:
        yield kept


@pytest.fixture
def started(house: SharedServer) -> Server:
    return house.calm()


def test_the_engine_goes_when_nobody_asks_and_the_next_request_brings_it_back(started: Server) -> None:
    speaking = int(started.logs(r"started worker\[1\], pid (\d+)")[1])
    started.logs(r"worker\[1\] has finished")
    until_it_rests(started)
    assert speaking not in [each.pid for each in started.family()], "its memory is back"
    awaited(
        lambda: [each["state"] for each in started.get("/status")[1]["processes"] if each["role"] == "standby"],
        lambda states: states == ["imported"],
    )
    waiting = process(started, "standby")
    assert started.get("/ready")[0] == 200
    assert started.get("/status")[1]["ready"]
    assert "kokoro_live_engine_info{" in started.get("/metrics")[1]

    before = started.get("/status")[1]["restarts"]["worker"]
    heard = started.hear(input="Back again.", response_format="pcm")
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of("Back again."))
    started.logs(rf"worker\[{waiting['generation']}\] is ready")
    assert started.get("/status")[1]["restarts"]["worker"] == before


def test_a_new_front_wakes_the_engine_too(started: Server) -> None:
    until_it_rests(started)
    start = len(started.log)
    started.child("front").kill()
    started.logs("started front", start)
    assert started.get("/ready")[0] == 200
    assert started.hear(input="Hello.", response_format="pcm")


def test_a_listener_who_pauses_keeps_the_engine(started: Server) -> None:
    listener = Listener(started, LONG, held=True)
    passes_keepalive_timeout(started)
    assert process(started, "worker")["state"] == "running"
    start = len(started.log)
    assert listener.heard_all()
    started.logs(r"may rest", start)


linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no processor affinity here")


@linux
def test_only_the_worker_has_the_processors_and_the_niceness_that_were_asked_for(plain: SharedServer) -> None:
    last = max(os.sched_getaffinity(0))
    nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + WORKER_NICE)
    running = plain.calm()
    running.hear(input="Hello.", model="kokoro", voice="af_heart")
    worker = running.child("worker")
    assert worker.cpu_affinity() == [last]
    assert worker.nice() == nice
    assert {thread.id: os.getpriority(os.PRIO_PROCESS, thread.id) for thread in worker.threads()} == {
        thread.id: nice for thread in worker.threads()
    }
    front = running.child("front")
    assert front.cpu_affinity() == psutil.Process().cpu_affinity()
    assert front.nice() == psutil.Process().nice()
    _, status = running.get("/status")
    assert status["engine"]["scheduling"] == {"nice": nice, "processors": [last]}


@linux
def test_a_server_whose_worker_cannot_have_its_processors_says_so_and_ends() -> None:
    with server("--engine", "espeak", "--worker-cpus", "4095", wait=False) as running:
        assert running.process.wait(DEADLINE) == ExitCode.ENGINE
        assert running.logs("worker_cpus names processors that this process may not use")


def fetching(manifest: Path, models: Path) -> tuple[str, ...]:
    return ("--no-offline", "--manifest", str(manifest), "--model-dir", str(models))


def held_back(release: threading.Event) -> Callable[[Handler], None]:
    """Answer only when `release` is set."""

    def act(handler: Handler) -> None:
        assert release.wait(DEADLINE)
        serve(handler)

    return act


def speaks_kokoro(started: Server) -> None:
    assert "kokoro (model.onnx" in started.announced()
    status, ready = started.get("/ready")
    assert (status, ready["engine"]) == (200, "kokoro")
    got = np.frombuffer(started.hear(input="Now with a model.", response_format="pcm"), "<i2")
    assert np.array_equal(got, samples_of("Now with a model."))


def test_espeak_speaks_at_once_and_kokoro_when_it_has_come(tmp_path: Path) -> None:
    release = threading.Event()
    with file_server() as files:
        manifest = publish(files, tmp_path / "published")
        files.script.append(held_back(release))
        with server(*fetching(manifest, tmp_path / "models")) as started:
            assert "espeak-ng" in started.announcement
            text = sentences(24)
            whole = started.hear(input=text, response_format="pcm")
            stream = started.speak(input=text, response_format="pcm")
            heard = stream.read(4800)
            release.set()
            old = started.child("worker")
            speaks_kokoro(started)
            assert heard + stream.read() == whole, "the stream kept its voice to its end"
            started.logs(r"worker\[1\] has finished")
            assert not old.is_running()
            assert not started.children("fetcher")


def test_what_cannot_be_fetched_leaves_espeak_speaking_and_says_why(tmp_path: Path) -> None:
    with file_server() as files:
        manifest = publish(files, tmp_path / "published")
        files.files["/model.onnx"] = files.files["/model.onnx"][::-1]  # of the right size, with the wrong hash
        with server(*fetching(manifest, tmp_path / "models")) as started:
            started.logs("the model was not fetched: .*model.onnx")
            started.hear(input="Still speaking.", response_format="pcm")
            assert started.get("/ready")[1]["engine"] == "espeak-ng"
        assert not [path for path in (tmp_path / "models").iterdir() if path.suffix in (".onnx", ".bin")]


def test_a_server_that_is_to_stay_offline_asks_nobody(plain: SharedServer, unreachable_models: FileServer) -> None:
    started = plain.calm()
    started.hear(input="Offline.", response_format="pcm")
    assert not started.children("fetcher")
    assert not unreachable_models.requests
