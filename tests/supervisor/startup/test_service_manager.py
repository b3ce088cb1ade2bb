"""A real `serve` under a service manager's protocol: notifications, the watchdog, a socket that was opened for it."""

import contextlib
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from supervisor.processes.standing import ExitCode
from tests.supervisor.startup.listening_manager import Manager, listening_manager
from tests.system.oracle import miniature_arguments, sentences
from tests.system.server import DEADLINE, awaited, server

ESPEAK = ("--engine", "espeak")
OURS = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES")

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="systemd is Linux's")


def managed_by(child: psutil.Process) -> list[str]:
    """Variables by which a child could speak for the server; none of one that has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [name for name in OURS if name in child.environ()]
    return []


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with listening_manager(str(tmp_path / "notify")) as listening:
        yield listening


@pytest.fixture
def environment(manager: Manager, tmp_path: Path) -> dict[str, str]:
    return {"NOTIFY_SOCKET": str(tmp_path / "notify")}


def test_it_is_ready_when_it_can_speak_reloads_and_stops_when_its_streams_have_finished(
    manager: Manager, environment: dict[str, str], tmp_path: Path
) -> None:
    """1. started: a status, not READY; 2. it speaks: READY; 3. SIGHUP: RELOADING, then READY; 4. SIGTERM during a
    stream: STOPPING, time enough to drain, and the watchdog is fed on; 5. exit 0."""
    config = tmp_path / "config.toml"
    config.write_text("max_streams = 100\n")
    flags = (*miniature_arguments(tmp_path, cost=10), "--drain-timeout", "70", "--config", str(config))
    with server(*flags, environment=environment | {"WATCHDOG_USEC": "100000"}) as started:
        *before, ready = manager.waits_for("READY")
        assert before[0]["STATUS"] == "the front is starting"
        assert ready["STATUS"].startswith("speaking with kokoro")
        assert started.get("/ready")[0] == 200
        for child in started.family()[1:]:
            assert not managed_by(child), "a child could speak for the server"
        config.write_text("max_streams = 50\n")
        started.process.send_signal(signal.SIGHUP)
        reloading = manager.waits_for("RELOADING")[-1]
        assert int(reloading["MONOTONIC_USEC"]) > 0
        manager.waits_for("READY")
        with contextlib.closing(started.connect()) as connection:
            connection.speak({"input": sentences(12), "response_format": "pcm"}).read(4800)
            started.process.send_signal(signal.SIGTERM)
            told = manager.waits_for("STOPPING")
            assert int(told[-1]["EXTEND_TIMEOUT_USEC"]) >= 70_000_000
            for _ in range(4):  # the first may be the answer to a question from before
                told += manager.waits_for("WATCHDOG")
        assert started.process.wait(DEADLINE) == ExitCode.OK
        assert not any("READY" in fields for fields in told + manager.all_heard())


@pytest.mark.slow
def test_an_update_keeps_the_process_that_the_manager_knows(
    manager: Manager, environment: dict[str, str], tmp_path: Path
) -> None:
    """1. READY; 2. SIGUSR2: nothing but a status until the new version is READY, under the same process id, and the
    watchdog is fed; the predecessor tells nothing; 3. SIGTERM: exit 0."""
    with server(*miniature_arguments(tmp_path), environment=environment | {"WATCHDOG_USEC": "60000000"}) as started:
        manager.waits_for("READY")
        started.process.send_signal(signal.SIGUSR2)
        told = manager.waits_for("READY")
        assert not any("STOPPING" in fields or "MAINPID" in fields for fields in told)
        for child in started.family()[1:]:
            assert not managed_by(child), "a child could speak for the server"
        started.announced()
        awaited(lambda: started.children("predecessor"), lambda living: not living)
        assert not any("STOPPING" in fields for fields in manager.all_heard())
        started.process.send_signal(signal.SIGTERM)
        assert started.process.wait(DEADLINE) == ExitCode.OK


def test_a_server_that_cannot_speak_is_never_ready(
    manager: Manager, environment: dict[str, str], tmp_path: Path
) -> None:
    flags = ("--engine", "kokoro", "--model-dir", str(tmp_path))
    with server(*flags, environment=environment, wait=False) as refused:
        assert refused.process.wait(DEADLINE) == ExitCode.ENGINE
        told = manager.waits_for("STOPPING")
        assert not any("READY" in fields for fields in told)
        assert "models fetch" in told[-1]["STATUS"]


def test_a_front_that_is_stopped_is_replaced_and_the_watchdog_is_fed_again(
    manager: Manager, environment: dict[str, str]
) -> None:
    """A system that doesn't tell of stopped processes leaves it to the heartbeats, and the watchdog starves."""
    with server(*ESPEAK, environment=environment | {"WATCHDOG_USEC": "400000"}) as started:
        for _ in range(3):
            manager.waits_for("WATCHDOG")
        front = started.child("front")
        front.suspend()
        client = started.connect()
        client.request("GET", "/health")
        told = started.logs(r"front\[\d+\] (was stopped: ending it|hasn't answered for [45] s)")
        manager.all_heard()
        if "was stopped" not in str(told):
            started.logs(r"ending front\[\d+\]: it hangs: it hasn't answered for")
            assert not any("WATCHDOG" in told for told in manager.all_heard())
        assert client.getresponse().status == 200
        manager.waits_for("WATCHDOG")
        assert not front.is_running() and started.child("front")


def passed(*descriptors: int) -> tuple[str, ...]:
    """A command that passes these as systemd does: from 3 on, with the process's own number in LISTEN_PID."""
    redirections = " ".join(f"{place}<&{fd}" for place, fd in enumerate(descriptors, 3))
    script = f'LISTEN_PID=$$ LISTEN_FDS={len(descriptors)} LISTEN_FDNAMES=http exec "$@" {redirections}'
    return ("bash", "-c", script, "bash")


def test_a_socket_that_systemd_opened_is_served(manager: Manager, environment: dict[str, str]) -> None:
    """1. a client connects before there is a server; 2. the server is given the socket; 3. the client is answered."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        port = opened.getsockname()[1]
        with (
            socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as early,
            server(
                *ESPEAK, environment=environment, prefix=passed(opened.fileno()), pass_fds=[opened.fileno()]
            ) as started,
        ):
            assert started.port == port, "not the one that --port asks for"
            early.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert early.recv(4096).startswith(b"HTTP/1.1 200")
            for child in started.family()[1:]:
                assert not [name for name in OURS if name in child.environ()]
            assert started.stop() == ExitCode.OK
            with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)):
                pass  # systemd holds it still: a connection starts the server again


@pytest.mark.parametrize("wrong", ["two sockets", "a socket that doesn't listen", "a pipe"])
def test_what_cannot_be_served_on_is_one_clear_line(wrong: str) -> None:
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        second = stack.enter_context(socket.socket())
        descriptors, said = {
            "two sockets": ([first.fileno(), second.fileno()], "one ListenStream="),
            "a socket that doesn't listen": ([second.fileno()], "no listening TCP socket"),
            "a pipe": ([stack.enter_context(Path("/dev/null").open()).fileno()], "is no socket"),
        }[wrong]
        with server(*ESPEAK, wait=False, prefix=passed(*descriptors), pass_fds=descriptors) as refused:
            assert refused.process.wait(DEADLINE) == ExitCode.BAD_SETTING
            refused.logs(said)
