"""A book on a real model: its speed, what Whisper hears of it, and a listener's time to first audio alongside it."""

from __future__ import annotations

import random
import signal
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.books.command import BookCommand
from benchmarks.books.shipped import book_text
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import spoken_words, word_errors
from benchmarks.measuring.listening import FRESH, listen
from benchmarks.measuring.subjects import Subject, kokoro_live
from benchmarks.measuring.texts import SENTENCE
from books.book import SAMPLE_RATE, SpokenChapter
from books.writing.chapter_audio import decode_file
from worker.settings import WorkerSettings

VOICE = "af_heart"
_BEGUN = 2
"""Passages after which listeners come: both inference threads are at the book by then."""
_LATEST = 2.0
"""Seconds, at most, between a passage's end and the listener's request, so that it hits any place of the next one."""
_EXCERPT = 25.0
"""Seconds of an excerpt: Whisper hears 30 at once."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds to the first audible sample for one listener alongside the book, and for the next one alone."""

    beside: float
    alone: float


@dataclass
class HeardChapter:
    """Whisper's hearing of an excerpt of one chapter."""

    title: str
    seconds: float
    words: int = 0
    """Words of the excerpts."""
    errors: int = 0


@dataclass
class RealBook:
    """Figures of one run."""

    source: str
    words: int
    seconds: float = 0.0
    """Time of the making, that of pauses for lone listeners apart."""
    audio_seconds: float = 0.0
    pairs: list[Pair] = field(default_factory=list)
    chapters: list[HeardChapter] = field(default_factory=list)

    @property
    def real_time_factor(self) -> float:
        """Seconds of work for a second of audio, pauses in the text included."""
        return self.seconds / self.audio_seconds

    @property
    def word_error_rate(self) -> float | None:
        """Share of the excerpts' words; None if nobody listened."""
        words = sum(chapter.words for chapter in self.chapters)
        return sum(chapter.errors for chapter in self.chapters) / words if words else None

    @property
    def beside_ratio(self) -> float | None:
        """Median over the pairs of time to first audio alongside the book divided by alone; None without pairs."""
        return statistics.median(pair.beside / pair.alone for pair in self.pairs) if self.pairs else None


@dataclass(frozen=True, slots=True)
class RealOptions:
    """The options of a real book's measurement."""

    settings: WorkerSettings
    chapters: int
    words: int | None
    """Words of each chapter, at most; None: all."""
    pairs: int
    excerpts: int
    """Excerpts of each chapter that Whisper hears; 0: none."""


def make_real(folder: Path, options: RealOptions, say: Callable[[str], None]) -> RealBook:
    """Make the book, interrupted by listeners, and have it heard.

    Raises:
        CannotStart, ConnectionError, Ended: something that is measured doesn't work.
    """
    text, source = book_text(options.chapters, options.words)
    file = folder / "real.md"
    file.write_text(text)
    found = RealBook(source, len(text.split()))
    with kokoro_live(options.settings, "--cache-bytes", "0") as server:
        for _ in range(3):
            listen(server.port, SENTENCE, VOICE, headers=FRESH).assert_complete()
        url = f"http://127.0.0.1:{server.port}"
        book = BookCommand(folder / "real", file, "book.m4b", url, ("--voice", VOICE)).start()
        started, paused = time.monotonic(), _interrupt(server, book, options.pairs, found.pairs, say)
        book.finish()
        found.seconds = time.monotonic() - started - paused
    recognizer = Recognizer() if options.excerpts else None
    for chapter, audio in sorted(book.chapters(), key=lambda each: text.index(f"# {each[0].title}\n")):
        found.audio_seconds += chapter.seconds
        if recognizer:
            found.chapters.append(_heard(chapter, audio, options.excerpts, recognizer))
            say(f"{chapter.title}: {found.chapters[-1].errors} errors in {found.chapters[-1].words} words")
    return found


def _interrupt(server: Subject, book: BookCommand, count: int, pairs: list[Pair], say: Callable[[str], None]) -> float:
    """Have listeners come, one while the book is made and one while its command is stopped, by turns; the seconds for
    which it was stopped."""
    chance, paused = random.Random(1), 0.0
    for number in range(count):
        before = book.passages
        if not book.until(partial(book.has, max(before + 1, _BEGUN))):
            break
        time.sleep(chance.uniform(0, _LATEST))
        beside = _first_audible(server)
        stopped = time.monotonic()
        book.process.send_signal(signal.SIGSTOP)
        try:
            _until_idle(server)
            pairs.append(Pair(beside, _first_audible(server)))
        finally:
            book.process.send_signal(signal.SIGCONT)
        paused += time.monotonic() - stopped
        say(f"listener {number + 1} of {count}: {beside * 1e3:.0f} ms beside, {pairs[-1].alone * 1e3:.0f} ms alone")
    return paused


def _first_audible(server: Subject) -> float:
    seconds = listen(server.port, SENTENCE, VOICE, headers=FRESH).assert_complete().to_first_audible
    assert seconds is not None
    return seconds


def _until_idle(server: Subject) -> None:
    """Wait until the worker has finished what it was at."""
    worker, before = server.processes()["worker"], -1.0
    while (now := sum(worker.cpu_times()[:2])) - before > 0.02:
        before = now
        time.sleep(0.3)


def _heard(chapter: SpokenChapter, audio: Path, excerpts: int, recognizer: Recognizer) -> HeardChapter:
    """Excerpts of whole sentences, evenly over the chapter, with Whisper's errors in them."""
    pcm = np.concatenate(list(decode_file(audio)))
    found = HeardChapter(chapter.title, chapter.seconds)
    sentences = chapter.sentences
    for excerpt in range(excerpts):
        first = last = len(sentences) * excerpt // excerpts
        longest = sentences[first].start + _EXCERPT * SAMPLE_RATE
        while last + 1 < len(sentences) and sentences[last + 1].end <= longest:
            last += 1
        said = " ".join(sentence.text for sentence in sentences[first : last + 1])
        understood = recognizer.understood(pcm[sentences[first].start : sentences[last].end + SAMPLE_RATE // 4])
        found.words += len(spoken_words(said))
        found.errors += word_errors(said, understood)
    return found
