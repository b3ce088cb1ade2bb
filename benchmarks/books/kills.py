"""A book whose makers are killed by turns: the same bytes, marks and lengths as without a kill."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from benchmarks.books.command import BookCommand
from books.book import SAMPLE_RATE, Chapter
from books.making.passages import Passage, passages_of
from books.making.settings import BookSettings
from books.reading.open import read_book
from books.writing.chapter_audio import decode_file
from tests.ports import lasting_port
from tests.system.oracle import miniature_arguments, samples_of
from tests.system.server import Server

VICTIMS = ("worker", "front", "supervisor", "command")
FRAME = 1024
"""Samples of a frame of AAC."""
_LATEST = 0.15
"""Seconds, at most, from a passage to the next kill."""
_COST = 8
"""Work for each phoneme (`tests.miniature`): a passage takes at least 0.15 s of a core, so that kills hit passages in
the making, and the book about a minute, so that the kills take most of the time."""
_FARTHEST = 4 * FRAME
"""Samples around a chapter's mark in which its beginning is looked for."""


@dataclass
class KilledBook:
    """Figures of one run."""

    chapters: int
    passages: int
    kills: Counter[str] = field(default_factory=Counter)
    same_bytes: bool = False
    exact_lengths: int = 0
    """Chapters whose number of samples is that of their passages and pauses."""
    latest_mark: int = 0
    """Samples between a chapter's mark and its first sample, at most."""
    marks: int = 0
    contiguous: bool = False
    """True if the chapters' lengths add up to the length of the file."""
    made_again: int = 0
    """Passages kept in the end beyond those of the text: there must be none."""

    def figures(self) -> dict[str, object]:
        """All of it, for a file of JSON."""
        return {**vars(self), "kills": dict(self.kills)}

    @property
    def right(self) -> bool:
        """True if no kill can be told from the book."""
        return (
            self.same_bytes
            and self.exact_lengths == self.chapters == self.marks
            and self.latest_mark <= FRAME + SAMPLE_RATE // 1000  # chapter marks count milliseconds
            and self.contiguous
            and not self.made_again
        )


def made_text(chapters: int, paragraphs: int) -> str:
    """Markdown with so many chapters of paragraphs that are a passage each, no two alike."""
    lines = []
    for chapter in range(1, chapters + 1):
        lines.append(f"# Chapter {chapter}")
        lines += [
            f"Paragraph {number} of chapter {chapter} is short. It has a second sentence of its own."
            for number in range(paragraphs)
        ]
    return "\n\n".join(lines)


class Serving:
    """A server on one port that is started again after its supervisor was killed."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        self._port = lasting_port()
        self._arguments = ("--offline", *arguments, "--port", str(self._port))
        self.server = Server(*self._arguments)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def kill(self, victim: str) -> bool:
        """Kill a process by its role; false if there is none at the moment."""
        if victim == "supervisor":
            self.server.process.kill()
            self.server.close()
            self.server = Server(*self._arguments)
            return True
        found = self.server.children(victim)
        with contextlib.suppress(ProcessLookupError):
            os.kill(found[0].pid, signal.SIGKILL)
            return True
        return False


def kill_by_turns(folder: Path, kills: int, chapters: int, paragraphs: int, say: Callable[[str], None]) -> KilledBook:
    """Make the book undisturbed, then with so many kills, and compare.

    Raises:
        Ended: the command gave up.
    """
    source = folder / "made.md"
    source.write_text(made_text(chapters, paragraphs))
    serving = Serving(miniature_arguments(folder, cost=_COST))
    try:
        undisturbed = BookCommand(folder / "undisturbed", source, "book.m4b", serving.url).start()
        undisturbed.finish()
        found = KilledBook(chapters, undisturbed.passages)
        say(f"made undisturbed: {found.passages} passages")
        killed = BookCommand(folder / "killed", source, "book.m4b", serving.url).start()
        _kill(serving, killed, kills, found, say)
        killed.finish()
    finally:
        serving.server.close()
    found.same_bytes = killed.path.read_bytes() == undisturbed.path.read_bytes()
    found.made_again = killed.passages - undisturbed.passages
    _measure(source, killed, found)
    return found


def _kill(serving: Serving, book: BookCommand, kills: int, found: KilledBook, say: Callable[[str], None]) -> None:
    chance = random.Random(1)
    while found.kills.total() < kills:
        # A kill for each share of the book, so that the last one still finds it unfinished.
        due = found.passages * found.kills.total() // (kills + 1)
        if not book.until(partial(book.has, due + 1)):
            book.finish()
            if book.passages < found.passages:
                raise AssertionError("the command ended before its book was whole")
            return
        time.sleep(chance.uniform(0, _LATEST))
        victim = VICTIMS[found.kills.total() % len(VICTIMS)]
        if victim == "command":
            book.kill()
            book.start()
        elif not serving.kill(victim):
            continue
        found.kills[victim] += 1
        say(f"kill {found.kills.total()} of {kills}: {victim}, at {book.passages} of {found.passages} passages")


def _measure(source: Path, book: BookCommand, found: KilledBook) -> None:
    """Compare marks and lengths with the samples that each passage has."""
    kept = {chapter.title: chapter for chapter, _ in book.chapters()}
    marks = list(_marks(book.path))
    found.marks = len(marks)
    pcm = np.concatenate(list(decode_file(book.path)))
    for chapter, (begin, _) in zip(read_book(source.read_bytes(), source.name).body, marks, strict=False):
        samples = _samples(chapter)
        found.exact_lengths += kept[chapter.title].samples == len(samples)
        found.latest_mark = max(found.latest_mark, abs(lag_of(pcm, begin, samples[:SAMPLE_RATE])))
    ends = [end for _, end in marks]
    found.contiguous = [begin for begin, _ in marks] == [0, *ends[:-1]] and abs(ends[-1] - _length(book.path)) <= FRAME


def _samples(chapter: Chapter) -> NDArray[np.int16]:
    pieces = []
    for passage in passages_of(chapter, BookSettings(), ""):
        pieces += [samples_of(passage.text), np.zeros(_pause(passage), np.int16)]
    return np.concatenate(pieces)


def _pause(passage: Passage) -> int:
    return round(passage.pause * SAMPLE_RATE)


def lag_of(decoded: NDArray[np.int16], place: int, expected: NDArray[np.int16]) -> int:
    """Samples by which the expected ones lie after a place of the decoded ones, by correlation; negative if before."""
    begin = max(place - _FARTHEST, 0)
    around = decoded[begin : place + len(expected) + _FARTHEST].astype(np.float64)
    size = 1 << (len(around) + len(expected)).bit_length()
    spectrum = np.fft.rfft(around, size) * np.conj(np.fft.rfft(expected.astype(np.float64), size))
    return int(np.argmax(np.fft.irfft(spectrum, size)[: len(around)])) + begin - place


def _marks(path: Path) -> Iterator[tuple[int, int]]:
    """Begin and end of each chapter, in samples."""
    with av.open(str(path)) as container:
        for chapter in container.chapters():
            base = chapter["time_base"]
            assert base is not None
            yield round(chapter["start"] * base * SAMPLE_RATE), round(chapter["end"] * base * SAMPLE_RATE)


def _length(path: Path) -> int:
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        assert stream.duration is not None and stream.time_base is not None
        return round(stream.duration * stream.time_base * SAMPLE_RATE)
