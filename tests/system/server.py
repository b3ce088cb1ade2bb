"""A real server: `python -m supervisor serve` as a child of the test, with everything behind it."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import psutil

from tests.followed_output import END, FollowedOutput
from tests.made_once import made_once

DEADLINE = float(os.environ.get("KOKORO_LIVE_TEST_DEADLINE", "120"))
"""Seconds after which a test that waits for an event gives up: at load 20 a server takes 20 s to start."""

ROOT = Path(__file__).parents[2]

Seen = TypeVar("Seen")


def awaited(look: Callable[[], Seen], wanted: Callable[[Seen], object] = bool, seconds: float = DEADLINE) -> Seen:
    """What is seen once it is wanted. Another process's state has no event here: it is looked at again and again.

    Raises:
        AssertionError: it isn't after so many seconds; the message is what was seen last.
    """
    give_up = time.monotonic() + seconds
    while not wanted(found := look()):
        assert time.monotonic() < give_up, found
        time.sleep(0.05)
    return found


class Connection(http.client.HTTPConnection):
    def speak(self, body: dict[str, object]) -> http.client.HTTPResponse:
        """Ask for speech; the response's body is the caller's to read."""
        self.request("POST", "/v1/audio/speech", json.dumps(body), {"Content-Type": "application/json"})
        return self.getresponse()


class Server:
    """Started, and speaking unless told not to wait for that."""

    def __init__(
        self,
        *arguments: str,
        environment: dict[str, str] | None = None,
        wait: bool = True,
        patience: float = DEADLINE,
        open_files: int | None = None,
        prefix: Sequence[str] = (),
        pass_fds: Sequence[int] = (),
        root: Path = ROOT,
    ) -> None:
        """Start it, and wait until it speaks and has its standby, if it is to have one.

        `patience`: seconds within which it must speak, where a model is prepared first.

        `open_files`: how many files each of its processes may have open (`ulimit -n`).

        `prefix`: a command that ends in executing its arguments; `pass_fds`: descriptors that it gets. `root`: the
        folder with the program.
        """
        self.home = tempfile.TemporaryDirectory()
        self.temporary = Path(self.home.name, "tmp")
        self.temporary.mkdir()
        # Each server of its own would find out anew that the miniature can't be cut: a tenth of a second of a core.
        cache = Path(self.home.name, "kokoro-live")
        cache.mkdir()
        (cache / "split").symlink_to(made_once("cut models", lambda _: None))
        variables = {key: value for key, value in os.environ.items() if not key.startswith("KOKORO_LIVE_")}
        variables |= {
            "HOME": self.home.name,
            "XDG_CONFIG_HOME": self.home.name,
            "XDG_CACHE_HOME": self.home.name,
            "XDG_DATA_HOME": self.home.name,
            "TMPDIR": str(self.temporary),
            # A test that wants the real model, which takes a second to load, says --packaged-model.
            "KOKORO_LIVE_PACKAGED_MODEL": "0",
            # No test's server asks an address with TLS, and reading the system's certificates takes a front 0.1 s.
            "SSL_CERT_FILE": os.devnull,
            # A spare worker's imports take a third of a second of a core; a test that wants one says --standby.
            "KOKORO_LIVE_STANDBY": "off",
            # Nor does a test wait for the template that fronts are forked from, unless it says --standby-front.
            "KOKORO_LIVE_STANDBY_FRONT": "0",
        }
        command = [sys.executable, "-m", "supervisor", "serve", "--port", "0", *arguments]
        if open_files is not None:
            command = ["bash", "-c", f'ulimit -n {open_files}; exec "$@"', "bash", *command]
        self.process = subprocess.Popen(
            [*prefix, *command],
            pass_fds=pass_fds,
            cwd=root,
            env=variables | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._connections: list[Connection] = []
        assert self.process.stdout and self.process.stderr
        self.output = FollowedOutput(self.process.stdout)
        self._announcements = 0
        self._log = FollowedOutput(self.process.stderr)
        self.log = self._log.lines
        self.announcement = ""
        if wait:
            try:
                self.announcement = self.announced(patience)
                if dict(pairwise(arguments)).get("--standby", "off") != "off":
                    awaited(self._has_standby)
            except BaseException:
                self.close()
                raise

    def _has_standby(self) -> bool:
        processes = self.get("/status")[1]["processes"]
        return any(each["role"] == "standby" and each["state"] != "starting" for each in processes)

    def announced(self, patience: float = DEADLINE) -> str:
        """Wait for the next line that says who speaks."""
        line = self.output.find("", patience, start=self._announcements)
        assert line and line.string != END, "\n".join(self.log)
        self._announcements += 1
        return line.string

    def logs(self, pattern: str, start: int = 0) -> re.Match[str]:
        """Wait until a log line from number `start` on matches."""
        found = self._log.find(pattern, DEADLINE, start)
        assert found, "\n".join(self.log)
        return found

    @property
    def port(self) -> int:
        found = re.search(r":(\d+)\b", self.announcement)
        assert found, self.announcement
        return int(found[1])

    def connect(self) -> Connection:
        """A connection that is closed with the server, if not before."""
        connection = Connection("127.0.0.1", self.port, timeout=DEADLINE)
        self._connections.append(connection)
        return connection

    def ask(self, path: str) -> http.client.HTTPResponse:
        """The response to a GET, whose body is the caller's to read."""
        connection = self.connect()
        connection.request("GET", path)
        return connection.getresponse()

    def get(self, path: str) -> tuple[int, Any]:
        """Status and body, as JSON where it is that."""
        with contextlib.closing(self.connect()) as connection:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
        is_json = response.getheader("Content-Type", "").startswith("application/json")
        return response.status, json.loads(body) if is_json else body.decode()

    def post(self, path: str, body: object, method: str = "POST") -> tuple[int, Any]:
        """Status and body: JSON where it is that, else bytes."""
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
        is_json = response.getheader("Content-Type", "").startswith("application/json")
        return response.status, json.loads(answer) if is_json else answer

    def speak(self, **body: object) -> http.client.HTTPResponse:
        """Ask for speech; the response's body is the caller's to read."""
        return self.connect().speak(body)

    def hear(self, **body: object) -> bytes:
        """The whole audio of a request that is answered with 200."""
        with contextlib.closing(self.connect()) as connection:
            response = connection.speak(body)
            data = response.read()
        assert response.status == 200, data
        return data

    def await_streams(self, count: int) -> None:
        """Wait until so many streams are active."""
        awaited(lambda: self.get("/status")[1]["active_streams"], lambda found: found == count)

    def family(self) -> list[psutil.Process]:
        """The supervisor and all that it started."""
        supervisor = psutil.Process(self.process.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def children(self, title: str) -> list[psutil.Process]:
        """Those whose process title begins so: front, worker, fetcher."""
        found = []
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if " ".join(process.cmdline()).startswith(f"kokoro-live: {title}"):
                    found.append(process)
        return found

    def child(self, title: str) -> psutil.Process:
        (process,) = self.children(title)
        return process

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal it and wait for its end; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)

    def hang_up(self) -> None:
        """Close all connections that were made so far."""
        while self._connections:
            self._connections.pop().close()

    def close(self) -> None:
        """End it, however it is."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(DEADLINE)
        self.hang_up()
        for output in (self.output, self._log):
            output.join(DEADLINE)
        assert self.process.stdout and self.process.stderr
        self.process.stdout.close()
        self.process.stderr.close()
        self.home.cleanup()


@contextlib.contextmanager
def server(*arguments: str, **options: Any) -> Iterator[Server]:
    """A server for the length of a test. It fetches nothing unless the arguments say otherwise."""
    network = () if "--no-offline" in arguments else ("--offline",)
    started = Server(*network, *arguments, **options)
    try:
        yield started
    finally:
        started.close()


def all_gone(processes: list[psutil.Process]) -> bool:
    """Wait for their end; false if one is still there."""
    _, alive = psutil.wait_procs(processes, DEADLINE)
    return not alive
