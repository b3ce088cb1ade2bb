"""A real server that lacks a resource, or has too many clients, refuses clearly, and serves again when it can."""

import contextlib
import http.client
import json
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from supervisor.processes.standing import ExitCode
from tests import platforms
from tests.system.conftest import CommonServer
from tests.system.listening import LONG
from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import DEADLINE, Server, server
from tests.system.shared import SharedServer, shared

CROWD = 10_000


@pytest.fixture
def started(common: CommonServer) -> Server:
    return common.calm()


@pytest.fixture(scope="module")
def limited_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    arguments = (*miniature_arguments(tmp_path_factory.mktemp("model")), "--rings", "1", "--write-timeout", "0.5")
    with shared(*arguments, open_files=96) as kept:
        yield kept


@pytest.fixture
def limited(limited_house: SharedServer) -> Server:
    """A server with few open files, a single ring and little patience with deaf listeners."""
    return limited_house.calm()


@contextlib.contextmanager
def crowd(to: Server, size: int) -> Iterator[list[socket.socket]]:
    """Open a number of connections that say nothing."""
    clients: list[socket.socket] = []
    try:
        clients.extend(socket.create_connection(("127.0.0.1", to.port), timeout=DEADLINE) for _ in range(size))
        yield clients
    finally:
        for client in clients:
            client.close()


def insist(ask: Callable[[], bool]) -> None:
    """Ask, as a patient client does, until the answer is yes. A place may have to become free first."""
    deadline = time.monotonic() + DEADLINE
    while True:
        with contextlib.suppress(ConnectionError, http.client.HTTPException):
            if ask():
                return
        assert time.monotonic() < deadline


def connections(to: Server) -> int:
    _, metrics = to.get("/metrics")
    return int(
        float(next(line for line in metrics.splitlines() if line.startswith("kokoro_live_connections ")).split()[1])
    )


def is_intact(to: Server) -> bool:
    text = "Still here."
    return np.array_equal(np.frombuffer(to.hear(input=text, response_format="pcm"), "<i2"), samples_of(text))


@pytest.mark.slow
def test_ten_thousand_idle_connections_are_held_where_that_is_wanted(tmp_path: Path) -> None:
    arguments = ("--max-connections", str(CROWD + 100), "--header-timeout", "600")
    with platforms.many_files(CROWD + 1000), server(*miniature_arguments(tmp_path), *arguments) as crowded:
        assert is_intact(crowded)
        front = crowded.child("front")
        with crowd(crowded, CROWD):
            assert is_intact(crowded)
            assert connections(crowded) > CROWD
        assert is_intact(crowded)
        assert crowded.child("front") == front


def test_thousands_of_idle_connections_keep_nobody_out_and_cost_a_stream_nothing(started: Server) -> None:
    front = started.child("front")
    response = started.speak(input=LONG, response_format="pcm")
    heard = response.read(4800)
    with platforms.many_files(CROWD // 5 + 1000), crowd(started, CROWD // 5):
        insist(lambda: started.get("/health")[0] == 200)
        assert front.num_fds() < 300
        heard += response.read()
    assert np.array_equal(np.frombuffer(heard, "<i2"), samples_of(LONG))
    insist(lambda: connections(started) < 10)
    assert is_intact(started)
    assert started.child("front") == front
    _, metrics = started.get("/metrics")
    assert 'kokoro_live_connections_closed_total{reason="room"}' in metrics


@platforms.linux_only("only Linux changes another process's limits")
def test_a_front_that_may_open_nothing_more_serves_again_when_it_may(started: Server) -> None:
    front, start = started.child("front"), len(started.log)
    old = front.rlimit(psutil.RLIMIT_NOFILE)
    assert is_intact(started)
    front.rlimit(psutil.RLIMIT_NOFILE, (3, old[1]))
    with crowd(started, 20) as clients:
        started.logs("can't accept connections, .*Too many open files", start)
        assert started.child("front") == front
        front.rlimit(psutil.RLIMIT_NOFILE, old)
        for client in clients:
            client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(15) == b"HTTP/1.1 200 OK"
    started.logs("connections are accepted again", start)
    assert is_intact(started)
    assert started.child("front") == front
    assert not [line for line in started.log[start:] if "Traceback" in line], "\n".join(started.log)


@platforms.linux_only("open files are limited by prlimit")
def test_where_few_open_files_are_allowed_the_connections_are_fewer(limited: Server) -> None:
    """The limit is there from the start. A worker's restart needs descriptors, and finds them."""
    limited.logs(r"96 open files are allowed: \d+ connections instead of 1000")
    front = limited.child("front")
    assert is_intact(limited)
    with crowd(limited, 200):
        start = len(limited.log)
        limited.child("worker[").kill()
        limited.logs(r"worker\[\d+\] is ready", start)
        insist(lambda: limited.get("/health")[0] == 200)
    insist(lambda: connections(limited) == 1)
    assert is_intact(limited)
    assert limited.child("front") == front
    assert not [line for line in limited.log if "Traceback" in line], "\n".join(limited.log)


@platforms.linux_only("only Linux changes another process's limits")
def test_a_front_that_has_no_address_space_for_an_arena_says_so_and_gives_way(started: Server) -> None:
    front = started.child("front")
    assert is_intact(started)
    front.rlimit(psutil.RLIMIT_AS, (front.memory_info().vms - 10_000_000, resource.RLIM_INFINITY))
    start = len(started.log)
    started.child("worker[").kill()
    started.logs("can't take the channel to worker.*Cannot allocate memory", start)
    refused = next(n for n, line in enumerate(started.log) if "can't take the channel to worker" in line)
    started.logs(r"worker\[\d+\] is ready", start)
    assert is_intact(started)
    assert started.child("front") != front
    # Before that, asyncio may log that the memory didn't suffice to read from a connection.
    assert not [line for line in started.log[refused:] if "Traceback" in line], "\n".join(started.log)


@pytest.fixture
def small_group() -> Iterator[Path]:
    """A control group with 260 MB of memory, where this process may make one; emptied and removed afterwards."""
    root = Path("/sys/fs/cgroup/memory")
    group = (root if root.is_dir() else root.parent) / f"kokoro-live-test-{os.getpid()}"
    limit = group / ("memory.limit_in_bytes" if root.is_dir() else "memory.max")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        limit.write_text("260000000")
        yield group
    except OSError as error:
        pytest.skip(f"no control group can be limited here: {error}")
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            (group.parent / "cgroup.procs").write_text(pid)
        group.rmdir()


@platforms.linux_only("control groups are Linux's")
def test_an_arena_beyond_the_control_groups_memory_is_one_clear_line_and_kills_nobody(small_group: Path) -> None:
    with server("--engine", "espeak", "--ring-seconds", "240", wait=False) as refused:
        (small_group / "cgroup.procs").write_text(str(refused.process.pid))
        assert refused.process.wait(DEADLINE) == ExitCode.MEMORY
        refused.logs("can't reserve 369 MB of shared memory for the PCM arena: [0-9]+ MB are available")
        assert not [line for line in refused.log if "Traceback" in line or "died" in line], "\n".join(refused.log)


def test_a_listener_that_never_reads_gives_its_ring_back(limited: Server) -> None:
    body = json.dumps({"input": LONG, "response_format": "pcm"}).encode()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", limited.port))
        deaf.sendall(
            b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        limited.logs("read nothing for 0.5 s")
        assert is_intact(limited)


def test_status_says_what_happened(started: Server) -> None:
    status, first = started.get("/status")
    assert status == 200
    engine = first["engine"]
    assert (first["ready"], first["worker"], first["streams"], first["active_streams"]) == (True, "running", [], 0)
    assert (engine["name"], engine["provider"], engine["model"]) == ("kokoro", "CPUExecutionProvider", "miniature.onnx")
    assert len(engine["sha256"]) == 64
    assert first["restarts"].keys() == {"front", "worker", "player", "books"}
    assert (first["provider_failures"], first["quarantined_segments"]) == ({}, 0)
    assert is_intact(started)
    text = LONG
    body = json.dumps({"input": text, "response_format": "pcm"})
    connection = started.connect()
    connection.request("POST", "/v1/audio/speech", body, {"X-Request-Id": "mine"})
    response = connection.getresponse()
    response.read(10 * 24_000)
    _, then = started.get("/status")
    (stream,) = then["streams"]
    assert (stream["request_id"], stream["engine"], then["active_streams"]) == ("mine", "kokoro", 1)
    assert stream["seconds_sent"] >= 2
    assert then["words_by_source"]["lexicon"] > 0
    assert then["front_uptime_seconds"] > first["front_uptime_seconds"]
    assert text.split()[0] not in json.dumps(then)
    connection.close()
