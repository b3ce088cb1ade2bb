"""The output through macOS's `afplay`, which plays whole files: the last resort of a bare Mac. Never run on macOS."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
import time
import wave
from pathlib import Path

import numpy as np

from player.output.output import Fill, NoOutput
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE, Pcm

BLOCK = SAMPLE_RATE // 10
LONGEST = 10 * SAMPLE_RATE
"""Samples of one file at most: a longer one would make a skip wait."""


class FileOutput:
    """Implements `Output`. A thread collects what is there until it is silent, writes a WAV file and has it played; a
    gap follows each file."""

    takes_fade = False

    def __init__(self, fill: Fill, buffer_ms: int) -> None:
        """
        Raises:
            NoOutput: there is no `afplay`.
        """
        program = shutil.which("afplay")
        if program is None:
            raise NoOutput("afplay was not found on PATH")
        self.name = "afplay"
        self._program = program
        self._fill = fill
        self._wait = buffer_ms / 1000
        self._playing: subprocess.Popen[bytes] | None = None
        self._ends = 0.0
        self._closed = threading.Event()
        threading.Thread(target=self._run, name="output", daemon=True).start()

    @property
    def delay(self) -> int:
        """Implements `Output.delay`: the rest of the file, by the clock."""
        return max(round((self._ends - time.monotonic()) * SAMPLE_RATE), 0)

    def close(self) -> None:
        """Implements `Output.close`."""
        self._closed.set()
        if self._playing:
            self._playing.kill()

    def _run(self) -> None:
        with tempfile.TemporaryDirectory(prefix="kokoro-live-") as folder:
            while not self._closed.is_set():
                samples = self._collect()
                if len(samples):
                    self._play(samples, Path(folder, "speech.wav"))
                else:
                    self._closed.wait(self._wait)

    def _collect(self) -> Pcm:
        """The deck's audio up to its first block of silence."""
        blocks: list[Pcm] = []
        while len(blocks) * BLOCK < LONGEST:
            block = self._fill(BLOCK)
            if not block.any():
                break
            blocks.append(block)
        return np.concatenate(blocks) if blocks else np.zeros(0, np.int16)

    def _play(self, samples: Pcm, file: Path) -> None:
        with wave.open(str(file), "wb") as audio:
            audio.setnchannels(1)
            audio.setsampwidth(SAMPLE_BYTES)
            audio.setframerate(SAMPLE_RATE)
            audio.writeframes(samples.tobytes())
        self._ends = time.monotonic() + len(samples) / SAMPLE_RATE
        self._playing = subprocess.Popen([self._program, str(file)])
        if self._closed.is_set():
            self._playing.kill()
        self._playing.wait()
