"""Spoken passages on disk, each there whole or not at all, and the chapters that are put together from them."""

from __future__ import annotations

import hashlib
import io
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import av
import msgspec
import numpy as np

from books.book import SAMPLE_RATE, BookWord, Chapter, SpokenBlock, SpokenChapter, SpokenSentence
from books.making.passages import Passage, PassageSpeech, PassageTiming
from books.writing.chapter_audio import QUIETEST, BookAudioFormat, Pcm, levelled, measure
from shm import kept
from shm.atomic import sync_folder, write_whole

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
