"""The output through a program that plays its standard input, where no library can be used."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from pathlib import PurePath

from player.output.output import Fill, NoOutput
from player.output.programs import failure, installed_player
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE

BLOCK = SAMPLE_RATE // 50
"""Samples written at a time: 20 ms."""

TRIAL_SECONDS = 5.0
"""Seconds in which a program must have played a tenth of a second of silence, to show that it finds a sound card."""


class ProgramOutput:
    """A thread writes samples as they are due; closing kills the program and what it holds."""

    takes_fade = False

    def __init__(self, fill: Fill, buffer_ms: int) -> None:
        """
        Raises:
            NoOutput: there is no such program, or it finds no sound card.
        """
        command = installed_player()
        if command is None:
            raise NoOutput("no program that plays raw samples was found on PATH")
        self.name = PurePath(command[0]).name
        _try(command, self.name)
        self._fill = fill
        self._buffer = buffer_ms * SAMPLE_RATE // 1000
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._began = time.monotonic()
        self._written = 0
        threading.Thread(target=self._write, name="output", daemon=True).start()

    @property
    def delay(self) -> int:
        """By the clock, because the program doesn't tell."""
        played = (time.monotonic() - self._began) * SAMPLE_RATE
        return max(round(self._written - played), 0)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _write(self) -> None:
        assert self._process.stdin
        try:
            while self._process.poll() is None:
                ahead = self.delay
                if ahead >= self._buffer:
                    time.sleep(max(ahead - self._buffer + BLOCK, BLOCK) / SAMPLE_RATE)
                    continue
                if ahead == 0:  # the thread was late: what is written now sounds now
                    self._began = time.monotonic() - self._written / SAMPLE_RATE
                self._process.stdin.write(self._fill(BLOCK).tobytes())
                self._written += BLOCK
        except OSError:
            pass  # the program has ended; the loudspeaker notices that nothing is taken any more
        finally:
            self._process.stdin.close()


def _try(command: list[str], name: str) -> None:
    silence = bytes(SAMPLE_RATE // 10 * SAMPLE_BYTES)
    with tempfile.TemporaryFile() as said:
        try:
            tried = subprocess.run(
                command, input=silence, stdout=subprocess.DEVNULL, stderr=said, timeout=TRIAL_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoOutput(f"{name}: {error}") from error
        said.seek(0)
        if reason := failure(tried.returncode, said.read().decode(errors="replace")):
            raise NoOutput(f"{name} {reason}")
