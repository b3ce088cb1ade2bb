"""The pipes between Speech Dispatcher and the module: lines in; lines, audio and marks out.

Speech Dispatcher plays each block before it reads what follows. The pipe is therefore made small: the module is never
more than a block or two ahead of the ear, so that events come when they are heard, and a stop leaves nothing to play.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

from shm.audio import SAMPLE_BYTES

BLOCK_SECONDS = 0.05
"""Length of one block of audio. Speech Dispatcher finishes the block that it plays before it obeys a stop."""

_PIPE_BYTES = 4096
"""The smallest pipe that Linux makes; by default one holds 64 KiB, which is 1.4 s of audio."""

_ESCAPE = 0x7D
_INVERTED = 0x20


class Wire:
    """Reads commands and writes answers, events and audio; each write is whole, from whichever thread."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands = commands
        self._answers = answers
        self._writing = threading.Lock()
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(OSError, ValueError):  # it is no pipe
                fcntl.fcntl(answers.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def lines(self) -> Iterator[str]:
        """Lines of Speech Dispatcher without their ends, until it closes the pipe."""
        for line in iter(self._commands.readline, b""):
            yield line.decode("utf-8", "replace").rstrip("\r\n")

    def block(self) -> list[str] | None:
        """Lines up to a single dot, with doubled dots undone; None if the pipe ends before."""
        found: list[str] = []
        for line in self.lines():
            if line == ".":
                return found
            found.append(line[1:] if line.startswith("..") else line)
        return None

    def reply(self, *lines: str) -> None:
        """Write lines.

        Raises:
            BrokenPipeError: Speech Dispatcher has gone.
        """
        self._write("".join(f"{line}\n" for line in lines).encode())

    def audio(self, pcm: bytes, sample_rate: int) -> None:
        """Write one block of mono samples (int16, little-endian); waits while Speech Dispatcher plays earlier ones.

        Raises:
            BrokenPipeError: Speech Dispatcher has gone.
        """
        head = (
            "705-bits=16\n705-num_channels=1\n"
            f"705-sample_rate={sample_rate}\n705-num_samples={len(pcm) // SAMPLE_BYTES}\n705-big_endian=0\n"
        )
        self._write(head.encode() + b"705-AUDIO\0" + escaped(pcm) + b"\n705 AUDIO\n")

    def _write(self, data: bytes) -> None:
        with self._writing:
            self._answers.write(data)
            self._answers.flush()


def escaped(data: bytes) -> bytes:
    """The bytes without line ends: HDLC's escape, a brace before the byte with its sixth bit inverted."""
    brace = bytes([_ESCAPE])
    data = data.replace(brace, bytes([_ESCAPE, _ESCAPE ^ _INVERTED]))
    return data.replace(b"\n", bytes([_ESCAPE, ord("\n") ^ _INVERTED]))


def leave() -> None:
    """End the process without waiting for threads, one of which may be writing into a pipe that nobody reads."""
    os._exit(0)


class Ended(Exception):
    """The utterance was stopped or paused."""


class Playout:
    """One utterance on the wire."""

    def __init__(self, wire: Wire, is_ended: Callable[[], bool]) -> None:
        self.reached = 0
        """Number of marks that were sent."""
        self.sounded = False
        """True once audio was sent."""
        self._wire = wire
        self._is_ended = is_ended
        self._begun = False
        self._marks: deque[tuple[int, str]] = deque()
        """Marks to come, with the sample of the present source at which they are due."""
        self._position = 0
        """Samples of the present source that were sent."""

    def begin(self) -> None:
        """Tell Speech Dispatcher that the utterance begins. Idempotent."""
        if not self._begun:
            self._begun = True
            self._wire.reply("701 BEGIN")

    def another_source(self) -> None:
        """Forget marks that are due in audio of a source that has failed."""
        self._marks.clear()
        self._position = 0

    def mark(self, sample: int, name: str) -> None:
        """Send a mark before a sample of the source that is sent later, counted from the source's beginning."""
        self._marks.append((sample, name))

    def audio(self, pcm: bytes, sample_rate: int) -> None:
        """Send samples (int16, little-endian, mono); waits while earlier ones are played.

        Raises:
            Ended: the utterance was stopped or paused.
            BrokenPipeError: Speech Dispatcher has gone.
        """
        most = round(BLOCK_SECONDS * sample_rate)
        total = len(pcm) // SAMPLE_BYTES
        start = 0
        while start < total:
            self._send_marks(self._position)
            due = self._marks[0][0] - self._position if self._marks else most
            count = min(most, total - start, due)
            self._check()
            self.begin()
            self._wire.audio(pcm[start * SAMPLE_BYTES : (start + count) * SAMPLE_BYTES], sample_rate)
            self.sounded = True
            start += count
            self._position += count

    def finish(self) -> None:
        """Send all marks that are left.

        Raises:
            Ended: the utterance was stopped or paused.
        """
        self._send_marks(None)

    def _send_marks(self, until: int | None) -> None:
        while self._marks and (until is None or self._marks[0][0] <= until):
            self._check()
            self.begin()
            _, name = self._marks.popleft()
            self._wire.reply(f"700-{' '.join(name.split())}", "700 INDEX MARK")
            self.reached += 1

    def _check(self) -> None:
        if self._is_ended():
            raise Ended
