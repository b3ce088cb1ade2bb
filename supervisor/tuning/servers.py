"""Real servers of this machine's, started to be measured: each in processes of its own that end with this one."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import psutil

import supervisor
from supervisor.client.server_client import NoAnswer, get_json

SERVER = (sys.executable, "-P", "-m", "supervisor.tuning.measured_server")

ALONE = ("--host", "127.0.0.1", "--port", "0", "--offline", "--no-tuned", "--cache-bytes", "0", "--drain-timeout", "1")
"""A server nobody else knows of, which takes what it is told and keeps nothing that it has spoken."""

STOP = 10.0
"""Seconds after which a server that was asked to end is killed."""

_ASK_AGAIN = 0.2

_OURS = re.compile("KOKORO_LIVE_|NOTIFY_SOCKET$|WATCHDOG_|LISTEN_")
"""Variables that would make another server of it: the user's settings, and what systemd tells this process."""

_LINES, _TOLD = 3, 600
"""Lines of what a server said at last, and characters, that are worth repeating: the reason for an end may stand before
what else ends with it."""


class ServerFailed(Exception):
    """It doesn't start, has crashed, or doesn't answer as it should; the message says which."""


def flags(settings: Mapping[str, Any]) -> list[str]:
    """Settings by name as `kokoro-live serve` takes them; what is empty is left out."""
    found = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if value is None or value in ("", ()):
            continue
        if isinstance(value, bool):
            found.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            found += [f"--{flag}", ",".join(value) if isinstance(value, tuple) else str(value)]
    return found


class RunningServer:
    """One that speaks."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes], url: str, workers: int) -> None:
        self.url = url
        self.workers = workers
        self._process = process
        self._log = log
        self._restarts = 0
        """Of workers, when all of them spoke."""

    def processes(self) -> list[dict[str, Any]]:
        """As `/status` has them.

        Raises:
            ServerFailed: it doesn't answer.
        """
        if (status := self._process.poll()) is not None:
            raise ServerFailed(_ended(status, self._log))
        try:
            _, answer = get_json(self.url, "/status")
            found: list[dict[str, Any]] = answer["processes"]
        except (NoAnswer, TypeError, KeyError) as error:
            raise ServerFailed(f"it doesn't tell how it stands: {error}") from error
        return found

    def assert_sound(self) -> None:
        """
        Raises:
            ServerFailed: a worker has crashed since it began to speak, or speaks no more.
        """
        there = self._workers()
        if _restarts(there) != self._restarts or not _all_speak(there, self.workers):
            raise ServerFailed(f"a worker crashed: {_last_words(self._log)}")

    def wait_for_workers(self, deadline: float) -> None:
        """Until all of them speak.

        Args:
            deadline: monotonic seconds.

        Raises:
            ServerFailed: they don't by then, or never will.
        """
        while not _all_speak(there := self._workers(), self.workers):
            if any(each["state"] == "fatal" for each in there):
                raise ServerFailed(f"a worker can't start: {_last_words(self._log)}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"its {self.workers} workers don't all speak in time: {_last_words(self._log)}")
            time.sleep(_ASK_AGAIN)
        self._restarts = _restarts(there)

    def _workers(self) -> list[dict[str, Any]]:
        return [each for each in self.processes() if each["role"] == "worker"]

    def memory(self) -> int:
        """Bytes of all its workers together: what each has alone, and once what they share."""
        pids = [each["pid"] for each in self.processes() if each["role"] in ("worker", "standby")]
        try:
            return together(psutil.Process(pid) for pid in pids)
        except psutil.NoSuchProcess as error:
            raise ServerFailed(f"a worker crashed: {_last_words(self._log)}") from error


def together(processes: Iterator[psutil.Process]) -> int:
    """Bytes of several processes that map the same files. Where the system doesn't tell what is shared (macOS tells
    only root), that counts once for each."""
    sizes: list[tuple[int, int]] = []
    for process in processes:
        try:
            info = process.memory_full_info()
            sizes.append((info.uss, info.rss - info.uss))
        except psutil.AccessDenied:
            sizes.append((process.memory_info().rss, 0))
    return sum(own for own, _ in sizes) + max((shared for _, shared in sizes), default=0)


@contextlib.contextmanager
def serving(
    arguments: Sequence[str], workers: int, timeout: float, command: Sequence[str] = SERVER
) -> Iterator[RunningServer]:
    """A server until the end of the block, or of this process, however that ends.

    Args:
        arguments: of `serve`, beside `ALONE`.
        timeout: seconds in which all its workers must speak.
        command: gets the number of its lifeline and `serve`'s arguments.

    Raises:
        ServerFailed: they don't.
    """
    lifeline_end, lifeline = os.pipe()
    path = os.pathsep.join(filter(None, (str(Path(supervisor.__path__[0]).parent), os.environ.get("PYTHONPATH"))))
    variables = {name: value for name, value in os.environ.items() if not _OURS.match(name)}
    serve = ("serve", "--config", os.devnull, *ALONE, "--workers", str(workers), *arguments)
    try:
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                [*command, str(lifeline_end), *serve],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=[lifeline_end],
                env=variables | {"PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for whoever measures, who ends the server
            )
            try:
                deadline = time.monotonic() + timeout
                running = RunningServer(process, log, _url(process, log, deadline), workers)
                running.wait_for_workers(deadline)
                yield running
            finally:
                _end(process)
    finally:
        os.close(lifeline_end)
        os.close(lifeline)


def _url(process: subprocess.Popen[bytes], log: IO[bytes], deadline: float) -> str:
    """From the line on its standard output that says who speaks."""
    assert process.stdout
    told, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
    if not told:
        raise ServerFailed(f"it didn't speak in time: {_last_words(log)}")
    line = process.stdout.readline().decode(errors="replace")
    if not (found := re.search(r"http://\S+", line)):
        raise ServerFailed(_ended(process.wait(STOP), log) if not line else f"it said: {line.strip()}")
    return found[0]


def _all_speak(there: Sequence[Mapping[str, Any]], workers: int) -> bool:
    """No more, either: while one is replaced there are two of it."""
    return [each["state"] for each in there] == ["running"] * workers


def _restarts(there: Sequence[Mapping[str, Any]]) -> int:
    return sum(each.get("restarts", 0) for each in there)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let it clear up after itself; if it doesn't, kill it with all that it started."""
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.stdout
    process.stdout.close()


def _ended(status: int, log: IO[bytes]) -> str:
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"it ended with {how}: {_last_words(log)}"


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return "; ".join(map(str.strip, lines[-_LINES:]))[-_TOLD:] or "it said nothing"
