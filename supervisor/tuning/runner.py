"""Runs a trial in a process of its own: what crashes there costs that one trial."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

import worker
from worker.tuning.records import Failed, Result, TrialSpec, decode_result, encode

Runner = Callable[[TrialSpec], Result]
"""Whatever makes a trial. Never raises for what happens within one."""

TRIAL = (sys.executable, "-P", "-m", "worker.tuning.trial")

_TOLD = 300
"""Characters of what a process said at last that are worth repeating."""


class SubprocessRunner:
    """See `Runner`. The process dies with this one, however this one ends."""

    def __init__(self, timeout: float, command: Sequence[str] = TRIAL) -> None:
        """Args:
        timeout: seconds after which a trial counts as failed.
        command: gets the number of its lifeline (`shm.lifeline`) as its last argument.
        """
        self._timeout = timeout
        self._command = command

    def __call__(self, spec: TrialSpec) -> Result:
        """
        Raises:
            KeyboardInterrupt: as it comes; the process is gone then too.
        """
        lifeline_end, lifeline = os.pipe()
        path = os.pathsep.join(filter(None, (str(Path(worker.__path__[0]).parent), os.environ.get("PYTHONPATH"))))
        try:
            with tempfile.TemporaryFile() as said:
                process = subprocess.Popen(
                    [*self._command, str(lifeline_end)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    pass_fds=[lifeline_end],
                    env={**os.environ, "PYTHONPATH": path},
                    start_new_session=True,  # Ctrl-C is for the search, which ends the trial
                )
                try:
                    answer, _ = process.communicate(encode(spec), self._timeout)
                except subprocess.TimeoutExpired:
                    return Failed(f"it took longer than {self._timeout:g} s")
                finally:
                    _end(process)
                said.seek(0)
                return _result(process.returncode, answer, said.read().decode(errors="replace"))
        finally:
            os.close(lifeline_end)
            os.close(lifeline)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Also what it has started, and what of it has ended but isn't reaped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM where all of the group are zombies
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        assert stream
        with contextlib.suppress(BrokenPipeError):
            stream.close()


def _result(status: int, answer: bytes, said: str) -> Result:
    try:
        return decode_result(answer)
    except msgspec.DecodeError:
        lines = [line for line in said.splitlines() if line.strip()]
        told = f": {lines[-1].strip()[-_TOLD:]}" if lines else ""
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        return Failed(f"its process ended with {how}{told}")
