"""Servers that are measured: started, asked where they listen, stopped."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import psutil

from kokoro_live import own_command
from worker.settings import WorkerSettings

START = 600.0
"""Seconds until a server must listen: a model is split at its first start."""

STOP = 20.0

_NOT_PASSED_ON = {"mirror", "manifest"}
"""Settings that are about fetching files; a measured server fetches none."""


class CannotStart(Exception):
    """A server ended, or said nothing, where it should have listened. The message has the end of its log."""


def free_port() -> int:
    """A port of this machine that nothing listened on a moment ago."""
    with socket.socket() as taken_for_a_moment:
        taken_for_a_moment.bind(("127.0.0.1", 0))
        return int(taken_for_a_moment.getsockname()[1])


class Subject:
    """A server in a process of its own."""

    def __init__(self, name: str, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        """Start it and wait for the line on its standard output that has its port.

        Raises:
            CannotStart: it doesn't come.
        """
        self.name = name
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment, start_new_session=True
        )
        lines: Queue[str] = Queue()

        def read() -> None:
            assert self._process.stdout
            for line in self._process.stdout:
                lines.put(line)
            lines.put("")

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        try:
            self.announcement = lines.get(timeout=START)
            found = re.search(r":(\d+)\b", self.announcement)
            if found is None:
                raise CannotStart(f"{name} didn't start:\n{self.log()}")
            self.port = int(found[1])
        except Empty:
            said = self.log()
            self.close()
            raise CannotStart(f"{name} didn't listen within {START:g} s:\n{said}") from None
        except BaseException:
            self.close()
            raise

    def status(self) -> Any:
        """The answer of a kokoro-live at `/status`."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status") as answer:
            return json.load(answer)

    def log(self) -> str:
        """The end of what it said on standard error."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-4000:]

    def processes(self) -> dict[str, psutil.Process]:
        """Processes by role: those of kokoro-live by their titles, any other one as `other`."""
        top = psutil.Process(self._process.pid)
        found: dict[str, psutil.Process] = {}
        for process in (top, *top.children(recursive=True)):
            title = re.match(r"kokoro-live: (\w+)", " ".join(process.cmdline()))
            found.setdefault(title[1] if title else "other", process)
        return found

    def close(self) -> None:
        """End it, and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(STOP)
        self._reader.join(STOP)
        assert self._process.stdout
        self._process.stdout.close()
        self._log.close()


def flags_of(settings: WorkerSettings) -> Iterator[str]:
    """The settings as `kokoro-live serve` takes them."""
    for field in fields(settings):
        value: Any = getattr(settings, field.name)
        flag = field.name.replace("_", "-")
        if field.name in _NOT_PASSED_ON or value in (None, ()):
            continue
        if isinstance(value, tuple):
            value = ",".join(value)
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield from (f"--{flag}", str(value))


@contextlib.contextmanager
def kokoro_live(settings: WorkerSettings, *flags: str) -> Iterator[Subject]:
    """This project's server, with those settings and no others of the user's.

    Raises:
        CannotStart: it doesn't.
    """
    with tempfile.TemporaryDirectory() as home:
        variables = {key: value for key, value in os.environ.items() if not key.startswith("KOKORO_LIVE_")}
        variables["XDG_CONFIG_HOME"] = home
        serve = own_command("serve", "--port", "0", "--offline", "--no-tuned")
        command = [*serve, *flags_of(settings)]
        yield from _running("kokoro-live", [*command, *flags], variables)


@contextlib.contextmanager
def kokoro_onnx_server(model: Path, voices: Path) -> Iterator[Subject]:
    """kokoro-onnx behind aiohttp.

    Raises:
        CannotStart: it doesn't.
    """
    module = "benchmarks.measuring.competitors.kokoro_onnx_server"
    command = own_command("-m", module, "--model", str(model), "--voices", str(voices))
    yield from _running("kokoro-onnx", command, dict(os.environ))


def _running(name: str, command: Sequence[str], variables: dict[str, str]) -> Iterator[Subject]:
    here = str(Path(__file__).parents[2])
    paths = [here, *filter(None, [variables.get("PYTHONPATH")])]
    subject = Subject(name, command, variables | {"PYTHONPATH": os.pathsep.join(paths)})
    try:
        yield subject
    finally:
        subject.close()
