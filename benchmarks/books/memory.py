"""Memory of `kokoro-live book` over hours of audio."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.books.command import BookCommand
from benchmarks.books.stand_in import LETTERS_PER_SECOND, StandIn
from benchmarks.measuring.texts import article

FLAT = 1.1
"""Peak of the last interval divided by the first's, at most."""
INDEX = 8.0
"""MB for an hour of audio, at most, that writing the file may take beyond the making: libavformat's MP4 writer holds an
entry of some 70 bytes for each of its 84,000 frames until the end, where the index is written."""
_CHAPTER = 0.5
"""Hours of a chapter, at most. Each interval ends at least one, because the encoder takes the most memory."""
_LOOK = 0.02
"""Seconds between two looks at the memory."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Peaks of resident memory, in MB."""

    interval: float
    """Hours of audio between two of `peaks`."""
    peaks: list[float]
    """The highest of each interval."""
    writing: float
    """The highest while the finished chapters became one file."""
    size: float
    """MB of the finished book."""

    @property
    def ratio(self) -> float:
        """The last interval's peak divided by the first's."""
        return self.peaks[-1] / self.peaks[0]

    @property
    def index(self) -> float:
        """MB that the writing took beyond the making, for an hour of audio."""
        return (self.writing - self.peaks[-1]) / (self.interval * len(self.peaks))

    @property
    def flat(self) -> bool:
        """True if the last interval takes no more than the first one did, and the writing no more than its index."""
        return self.ratio <= FLAT and self.index <= INDEX


def memory_over(folder: Path, hours: float, intervals: int, say: Callable[[str], None]) -> Memory:
    """Make a book of so many hours with a stand-in for the server.

    Raises:
        Ended: the command failed.
    """
    source = folder / "long.md"
    source.write_text(_long_text(hours, max(2 * intervals, round(hours / _CHAPTER))))
    peaks: list[float] = []
    with StandIn() as server:
        book = BookCommand(folder / "long", source, "book.m4b", f"http://127.0.0.1:{server.port}").start()
        for number in range(1, intervals + 1):
            # The whole text is somewhat shorter or longer than asked for; the last interval ends with it.
            due = hours * 3600 * number / intervals * 0.98
            if not book.until(partial(_reached, server, due)):
                book.finish()
            peaks.append(_peak(book.process.pid))
            _forget_peak(book.process.pid)
            say(f"{hours * number / intervals:4.1f} h of audio: peak {peaks[-1]:.1f} MB")
        writing = peaks[-1]
        # The peak is gone with the process, so it is looked at until then.
        while book.process.poll() is None:
            writing = max(writing, _peak(book.process.pid))
            with contextlib.suppress(subprocess.TimeoutExpired):
                book.process.wait(_LOOK)
        book.finish()
    return Memory(hours / intervals, peaks, writing, book.path.stat().st_size / 1e6)


def _reached(server: StandIn, due: float) -> bool:
    return server.audio_seconds >= due


def _long_text(hours: float, chapters: int) -> str:
    text = article(round(hours * 3600 * LETTERS_PER_SECOND)).split("\n\n")
    each = -(-len(text) // chapters)
    parts = [text[place : place + each] for place in range(0, len(text), each)]
    return "\n\n".join(f"# Chapter {n}\n\n" + "\n\n".join(part) for n, part in enumerate(parts, 1))


def _peak(pid: int) -> float:
    """Highest resident memory of a process since `_forget_peak`, in MB (`VmHWM` of proc(5)); 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM")), 0.0)


def _forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")
