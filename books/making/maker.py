"""Makes a book: speaks what the journal lacks, finishes chapters as they are complete, and writes the output."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import av
import msgspec

from books.book import SAMPLE_RATE, Book, Chapter
from books.making.chapter import MissingPassage, PlannedChapter, SpeechJournal, audio_of, timed
from books.making.outputs import BookOutput, FinishedChapter, decode_chapter, encoded_chapter, write_output
from books.making.passages import Passage, PassageRefused, PassageSpeaker, Postponed, passages_of
from books.making.progress import BookProgress, Meter
from books.making.settings import BookSettings
from books.writing.chapter_audio import Packets, encode_chapter
from shm.atomic import write_whole

log = logging.getLogger(__name__)

Result = TypeVar("Result")

_LONGEST_WAIT = 60.0
"""Seconds after which the clock is looked at again: a machine may sleep in between."""


@dataclass(frozen=True, slots=True)
class Order:
    book: Book
    chapters: tuple[Chapter, ...]
    """Chapters to speak, in order."""
    settings: BookSettings
    output: BookOutput
    folder: Path
    """Folder of the journal and the finished chapters. Another run with the same folder continues."""
    parallel: int | None = None
    """Passages asked for at once; None: as many as the speaker makes side by side."""


@dataclass(slots=True)
class BookMaker:
    """One run that makes a book. Cancel `make` to stop; everything finished is kept, and another run goes on."""

    order: Order
    speaker: PassageSpeaker
    tell: Callable[[BookProgress], None] = lambda _: None
    """Called after each passage and while waiting."""
    may_work: Callable[[], float] = lambda: 0.0
    """Seconds to wait before the next passage, 0 for none: hours of the day in which nothing is made."""
    _journal: SpeechJournal = field(init=False)
    _meter: Meter = field(init=False)
    _current: tuple[int, str] = (0, "")

    def __post_init__(self) -> None:
        self._journal = SpeechJournal(self.order.folder / "passages")
        self._meter = Meter(0)

    async def make(self) -> Sequence[FinishedChapter]:
        """Make the book, and return its chapters, whose files stay until the order's folder is deleted.

        Raises:
            PassageRefused: the speaker refuses a passage, which the message names, or another engine speaks now
                (`engine_changed`). Finished passages are kept.
            OSError: the disk is full or can't be written.
        """
        engine = await self._patiently(self.speaker.engine)
        # Dividing a long book takes a core for seconds, in which the event loop has cancellations to hear.
        divided = await asyncio.to_thread(lambda: [self._divided(chapter) for chapter in self.order.chapters])
        self._meter = Meter(sum(len(passage.text) for passages in divided for passage in passages))
        finished: list[FinishedChapter] = []
        for number, (chapter, passages) in enumerate(zip(self.order.chapters, divided, strict=True), 1):
            self._current = (number, chapter.title)
            finished.append(await self._chapter(await self._planned(chapter, passages, engine)))
        facts: dict[str, object] = {
            "engine": engine,
            "speed": self.order.settings.speed,
            "loudness": self.order.settings.loudness,
        }
        await asyncio.to_thread(write_output, self.order.output, self.order.book, finished, facts)
        self._report()
        return finished

    def _divided(self, chapter: Chapter) -> tuple[Passage, ...]:
        language = self.order.settings.language or self.order.book.language
        return tuple(passages_of(chapter, self.order.settings, language))

    async def _planned(self, chapter: Chapter, passages: tuple[Passage, ...], engine: str) -> PlannedChapter:
        """The chapter with the names of its passages, which depend on their pronunciation now."""
        if (now := await self._patiently(self.speaker.engine)) != engine:
            raise PassageRefused(f"{now} speaks now, not {engine} as before.", "engine_changed")
        scripts = [await self._patiently(partial(self.speaker.script, passage)) for passage in passages]
        keys = (passage.key(engine, script) for passage, script in zip(passages, scripts, strict=True))
        return PlannedChapter(chapter, passages, tuple(keys))

    async def _chapter(self, planned: PlannedChapter) -> FinishedChapter:
        form, loudness = self.order.output.form, self.order.settings.loudness
        base = self.order.folder / "chapters" / planned.key(form, loudness)
        audio, text = base.with_suffix(f".{form.suffix}"), base.with_suffix(".json")
        while True:
            if kept := await asyncio.to_thread(self._kept, planned, audio, text):
                self._meter.kept(sum(len(passage.text) for passage in planned.passages))
                return kept
            before = self._meter.done
            await self._speak(planned)
            try:
                return await asyncio.to_thread(self._finish, planned, audio, text)
            except MissingPassage:
                log.warning("a passage of %r was damaged and is made again", planned.chapter.title)
                self._meter.done = before

    def _kept(self, planned: PlannedChapter, audio: Path, text: Path) -> FinishedChapter | None:
        """The chapter as an earlier run has finished it; None if none has, or a disk has damaged it since."""
        try:
            spoken = decode_chapter(text.read_bytes())
            if Packets.of(audio).seconds >= spoken.seconds:
                return FinishedChapter(spoken.title, spoken.seconds, audio, text)
        except FileNotFoundError:
            return None
        except (msgspec.DecodeError, av.FFmpegError):
            pass
        log.warning("the finished chapter %r is damaged and is put together again", planned.chapter.title)
        return None

    def _finish(self, planned: PlannedChapter, audio: Path, text: Path) -> FinishedChapter:
        form, loudness = self.order.output.form, self.order.settings.loudness
        spoken = timed(planned, self._journal)
        audio.parent.mkdir(parents=True, exist_ok=True)
        encode_chapter(audio, audio_of(planned, self._journal, loudness), form)
        write_whole(text, encoded_chapter(spoken))
        return FinishedChapter(spoken.title, spoken.seconds, audio, text)

    async def _speak(self, planned: PlannedChapter) -> None:
        """Speak what the journal lacks of a chapter, several passages at once, the earliest first."""
        waiting: dict[str, int] = {}
        for number, (passage, key) in enumerate(zip(planned.passages, planned.keys, strict=True)):
            if key in self._journal or key in waiting:
                self._meter.kept(len(passage.text))
            else:
                waiting[key] = number
        self._report()
        queue = iter(waiting.values())

        async def speak_waiting() -> None:
            for number in queue:
                await self._passage(planned, number)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.order.parallel or self.speaker.inference_threads):
                    group.create_task(speak_waiting())
        except ExceptionGroup as errors:
            raise _first(errors) from None

    async def _passage(self, planned: PlannedChapter, number: int) -> None:
        passage, key = planned.passages[number], planned.keys[number]

        async def ask() -> None:
            speech = await self.speaker.speak(passage)
            await asyncio.to_thread(self._journal.add, key, speech)
            self._meter.made(len(passage.text), len(speech.pcm) / SAMPLE_RATE)

        try:
            await self._patiently(ask)
        except PassageRefused as error:
            message = f"{planned.chapter.title!r}: {error} The text begins {passage.text[:60]!r}."
            raise PassageRefused(message, error.code) from error
        self._report()

    async def _patiently(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        while True:
            if (closed := self.may_work()) > 0:
                await self._wait("these aren't the hours for books", min(closed, _LONGEST_WAIT))
                continue
            try:
                return await attempt()
            except Postponed as reason:
                await self._wait(reason.reason, reason.seconds)

    async def _wait(self, reason: str, seconds: float) -> None:
        self._meter.working(False)
        self._report(reason)
        await asyncio.sleep(seconds)

    def _report(self, waiting: str = "") -> None:
        number, title = self._current
        meter = self._meter
        spoken = (meter.done, meter.total, meter.audio_seconds, meter.seconds_left)
        progress = BookProgress(number, len(self.order.chapters), title, *spoken, waiting, meter.speed)
        self.tell(progress)


def _first(errors: BaseExceptionGroup[Exception]) -> Exception:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
