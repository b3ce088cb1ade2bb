"""Makes a book: speaks what the journal lacks, finishes chapters as they are complete, and writes the output."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import av
import msgspec
import numpy as np

from books.book import SAMPLE_RATE, Book, BookWord, Chapter, SpokenBlock, SpokenChapter, SpokenSentence
from books.making.outputs import BookOutput, FinishedChapter, decode_chapter, encoded_chapter, write_output
from books.making.passages import (
    Passage,
    PassageRefused,
    PassageSpeaker,
    PassageSpeech,
    PassageTiming,
    Postponed,
    passages_of,
)
from books.making.progress import BookProgress, Meter
from books.making.settings import BookSettings
from books.writing.chapter_audio import QUIETEST, Packets, Pcm, encode_chapter, levelled, measure
from shm import kept
from shm.atomic import sync_folder, write_whole
from shm.book_formats import BookAudioFormat

Made = TypeVar("Made")


class _Facts(msgspec.Struct):
    """The first line of a passage's file."""

    samples: Annotated[int, msgspec.Meta(ge=0)]
    words: list[tuple[str, int, int]]


_decode = kept.PASSAGE.decoder(_Facts)

log = logging.getLogger(__name__)


class SpeechJournal:
    """A folder with a file for each passage: a line of JSON with the word times, then the samples as FLAC."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, key: str) -> bool:
        return self._path(key).exists()

    def add(self, key: str, speech: PassageSpeech) -> None:
        """Keep a passage. After the call, no kill or power cut loses it.

        Raises:
            OSError: the disk is full or can't be written.
        """
        words = [[word.text, word.start, word.end] for word in speech.words]
        line = kept.PASSAGE.encode({"samples": len(speech.pcm), "words": words})
        path = self._path(key)
        if not path.parent.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            sync_folder(self._folder)
        write_whole(path, line + b"\n" + _flac(speech))

    def timing(self, key: str) -> PassageTiming | None:
        """A passage's length and words, or None if there is none. A damaged file is deleted."""
        return self._opened(key, lambda timing, _: timing)

    def read(self, key: str) -> PassageSpeech | None:
        """A passage, or None if there is none. A damaged file is deleted, so that the passage is made again."""
        return self._opened(key, _speech)

    def _opened(self, key: str, use: Callable[[PassageTiming, bytes], Made]) -> Made | None:
        path = self._path(key)
        try:
            line, _, audio = path.read_bytes().partition(b"\n")
            facts = _decode(line)
            return use(PassageTiming(facts.samples, tuple(BookWord(*word) for word in facts.words)), audio)
        except FileNotFoundError:
            return None
        except (ValueError, av.FFmpegError) as error:
            log.warning("a spoken passage is damaged and will be made again: %s", error)
            path.unlink(missing_ok=True)
            return None

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.spoken"


def _speech(timing: PassageTiming, audio: bytes) -> PassageSpeech:
    pcm = _pcm(audio) if timing.samples else np.empty(0, np.int16)
    if len(pcm) != timing.samples:
        raise ValueError(f"{len(pcm)} samples of {timing.samples}")
    return PassageSpeech(pcm, timing.words)


def _flac(speech: PassageSpeech) -> bytes:
    if not len(speech.pcm):
        return b""
    made = io.BytesIO()
    with av.open(made, "w", format="flac", container_options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(speech.pcm)[None, :], "s16", "mono")
        frame.sample_rate = SAMPLE_RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return made.getvalue()


def _pcm(audio: bytes) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    with av.open(io.BytesIO(audio), "r", format="flac") as container:
        return np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])


@dataclass(frozen=True, slots=True)
class PlannedChapter:
    """One chapter with its passages and their names in the journal."""

    chapter: Chapter
    passages: tuple[Passage, ...]
    keys: tuple[str, ...]

    def key(self, form: BookAudioFormat, loudness: float | None) -> str:
        """Name of the chapter's finished file: the same for the same audio in the same format."""
        pauses = [passage.pause for passage in self.passages]
        # The text in time, which is kept alongside the audio, has the blocks too: a heading that became a quotation.
        blocks = [(block.kind, block.level, block.text) for block in self.chapter.blocks]
        made = [self.chapter.title, blocks, self.keys, pauses, form.suffix, form.bit_rate, loudness]
        return hashlib.sha256(json.dumps(made, ensure_ascii=False).encode()).hexdigest()[:32]


class MissingPassage(Exception):
    """A passage isn't in the journal any more: it was damaged."""


def audio_of(planned: PlannedChapter, journal: SpeechJournal, loudness: float | None) -> Iterator[Pcm]:
    """Samples of the chapter with its pauses, as they are read from the journal.

    Raises:
        MissingPassage: a passage must be made again.
    """
    if loudness is None:
        return _plain(planned, journal)
    measured = measure(_plain(planned, journal)).integrated
    # A chapter of one short word is too short to have a loudness, and no gain is the right one for it.
    return levelled(_plain(planned, journal), 0.0 if measured <= QUIETEST else loudness - measured)


def timed(planned: PlannedChapter, journal: SpeechJournal) -> SpokenChapter:
    position = 0
    spoken: defaultdict[int, list[SpokenSentence]] = defaultdict(list)
    for passage, key in zip(planned.passages, planned.keys, strict=True):
        # The audio isn't decoded for this: a chapter's passages are decoded once, by its encoder.
        if (timing := journal.timing(key)) is None:
            raise MissingPassage(key)
        spoken[passage.block] += sentences_in(passage, timing, position)
        position += timing.samples + round(passage.pause * SAMPLE_RATE)
    blocks = tuple(SpokenBlock(block, tuple(spoken[number])) for number, block in enumerate(planned.chapter.blocks))
    return SpokenChapter(planned.chapter.title, blocks, position)


def sentences_in(passage: Passage, timing: PassageTiming, position: int) -> Iterator[SpokenSentence]:
    """Sentences of a passage that begins at sample `position` of its chapter.

    A sentence lasts until the next one's first word; without word times, each gets its share by letters.
    """
    words = _by_sentence(passage, timing.words)
    starts = [0]
    total = sum(map(len, passage.sentences)) or 1
    letters = 0
    for sentence, own in zip(passage.sentences[:-1], words[1:], strict=True):
        letters += len(sentence)
        share = timing.samples * letters // total
        starts.append(max(starts[-1], min(own[0].start, timing.samples) if own else share))
    ends = [*starts[1:], timing.samples]
    for sentence, own, start, end in zip(passage.sentences, words, starts, ends, strict=True):
        inner = tuple(BookWord(word.text, position + word.start, position + word.end) for word in own)
        yield SpokenSentence(sentence, position + start, position + end, inner)


def _by_sentence(passage: Passage, words: Sequence[BookWord]) -> list[list[BookWord]]:
    own: list[list[BookWord]] = [[] for _ in passage.sentences]
    ends = np.cumsum([len(sentence) + 1 for sentence in passage.sentences])
    place = 0
    for word in words:
        found = passage.text.find(word.text, place)
        if found >= 0:
            own[int(np.searchsorted(ends, found, side="right"))].append(word)
            place = found + len(word.text)
    return own


def _plain(planned: PlannedChapter, journal: SpeechJournal) -> Iterator[Pcm]:
    for passage, key in zip(planned.passages, planned.keys, strict=True):
        if (speech := journal.read(key)) is None:
            raise MissingPassage(key)
        yield speech.pcm
        if passage.pause:
            yield np.zeros(round(passage.pause * SAMPLE_RATE), np.int16)


Result = TypeVar("Result")

_LONGEST_WAIT = 60.0
"""Seconds after which the clock is looked at again: a machine may sleep in between."""


@dataclass(frozen=True, slots=True)
class Order:
    book: Book
    chapters: tuple[Chapter, ...]
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
