"""A chapter put together from its passages."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from books.book import SAMPLE_RATE, BookWord, Chapter, SpokenBlock, SpokenChapter, SpokenSentence
from books.making.journal import SpeechJournal
from books.making.passages import Passage, PassageTiming
from books.writing.chapter_audio import BookAudioFormat, Pcm
from books.writing.loudness import QUIETEST, levelled, measure


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
