"""An engine in its own process, to be measured: a crash or hang rejects only the configuration being measured."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec

import worker
from kokoro_live import own_command
from worker.settings import WorkerSettings
from worker.tuning.messages import MeasurementFailed, Round, decode_result, encode

PROCESS = own_command("-m", "worker.tuning.process")

_LAST_WORDS = 300
"""Characters of a crashed process's last line of standard error that go into the message."""


class CannotMeasure(Exception):
    """The engine can't be loaded, or crashed, or took too long; the message says which."""


class MeasuredEngine:
    """The process of one measured engine. Its first measurement waits until the engine has loaded."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes], timeout: float) -> None:
        self._process = process
        self._log = log
        self._timeout = timeout

    def write_line(self, line: bytes) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # the missing answer gives the reason
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def measure(self) -> Round:
        """
        Raises:
            CannotMeasure: the engine fails, or doesn't load.
        """
        self.write_line(b"\n")
        assert self._process.stdout
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN)
        if not poll.poll(self._timeout * 1000):
            raise CannotMeasure(f"no answer within {self._timeout:g} s")
        try:
            result = decode_result(self._process.stdout.readline())
        except msgspec.DecodeError:
            raise CannotMeasure(self._end()) from None
        if isinstance(result, MeasurementFailed):
            raise CannotMeasure(result.reason)
        return result

    def _end(self) -> str:
        """A description of the process's end."""
        _kill(self._process)
        status = self._process.returncode
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        return f"its process ended with {how}" + (f": {lines[-1][-_LAST_WORDS:]}" if lines else "")


@contextlib.contextmanager
def measured_engine(
    settings: WorkerSettings, timeout: float, command: Sequence[str] = PROCESS
) -> Iterator[MeasuredEngine]:
    """An engine that lasts until the end of the block. Its process dies with this one, however this one ends.

    Args:
        timeout: seconds within which it must answer, the first time also load.
        command: gets the number of its lifeline (`shm.lifeline`) as its last argument.

    """
    lifeline_end, lifeline = os.pipe()
    path = os.pathsep.join(filter(None, (str(Path(worker.__path__[0]).parent), os.environ.get("PYTHONPATH"))))
    try:
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                [*command, str(lifeline_end)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=[lifeline_end],
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for this process, which then ends the engine's
            )
            try:
                engine = MeasuredEngine(process, log, timeout)
                engine.write_line(encode(settings))
                yield engine
            finally:
                _kill(process)
                for stream in (process.stdin, process.stdout):
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()  # type: ignore[union-attr]
    finally:
        os.close(lifeline_end)
        os.close(lifeline)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with everything that it started. A process that has ended keeps its own status."""
    # macOS gives EPERM if the group consists of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
