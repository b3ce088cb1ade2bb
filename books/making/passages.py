"""Passages: the text of one request to the server, the silence after it, and its speech."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from books.book import SAMPLE_RATE, BlockKind, BookError, BookWord, Chapter, TextBlock
from books.making.casting import parts
from books.making.settings import BookSettings
from client.answers import SpokenPiece
from text.sentences.sentences import sentences

LONGEST = 350
"""Characters of a passage, unless one sentence has more. About twenty seconds: what a kill can cost."""
LONGEST_SENTENCE = 700
"""Characters of a sentence that stays whole: an engine takes longer ones in parts too. A text without full stops, such
as a table or a stream of consciousness, would be one passage of any length, and a kill would cost all of it."""
_CLAUSE_ENDS = re.compile(r".*(?:[;:,—–][\s”’»)]|[；：，、])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passage:
    """Whole sentences of one block in one voice."""

    text: str
    sentences: tuple[str, ...]
    voice: str
    speed: float | None
    """None: the speaker's default."""
    language: str
    block: int
    """Index of its block in the chapter."""
    pause: float
    """Seconds of silence after it."""

    def key(self, engine: str, script: str) -> str:
        """Name of its audio in the journal: the same for whatever would sound the same.

        Args:
            engine: the identity of the engine and its model.
            script: its pronunciation. An entry added to the user's lexicon makes only the passages with that word
                again.
        """
        # What the speaker takes for a voice or a pace that isn't named is part of the engine's identity.
        heard = [engine, self.text, script, self.voice, self.speed, self.language]
        return hashlib.sha256(json.dumps(heard, ensure_ascii=False).encode()).hexdigest()[:32]


def passages_of(chapter: Chapter, settings: BookSettings, language: str) -> list[Passage]:
    """Passages of a chapter in order.

    Args:
        language: for the division into sentences and for the server.
    """
    made: list[Passage] = []
    for number, block in enumerate(chapter.blocks):
        if block.kind is BlockKind.SCENE_BREAK:
            if made:
                made[-1] = replace(made[-1], pause=settings.pauses.scene_break)
            continue
        own = list(_of_block(block, number, settings, language))
        if own:
            own[-1] = replace(own[-1], pause=settings.pauses.after(block.kind))
            made += own
    if made:
        made[-1] = replace(made[-1], pause=settings.pauses.chapter)
    return made


def _of_block(block: TextBlock, number: int, settings: BookSettings, language: str) -> Iterator[Passage]:
    lines = block.text.split("\n") if block.kind is BlockKind.VERSE else [" ".join(block.text.split())]
    for line in lines:
        pause = settings.pauses.verse_line if block.kind is BlockKind.VERSE else 0.0
        for text, voice in parts(line, settings.cast):
            groups = list(_groups(text, language))
            for place, group in enumerate(groups):
                last = pause if place == len(groups) - 1 else 0.0
                yield Passage(" ".join(group), group, voice, settings.speed, language, number, last)


def _groups(text: str, language: str) -> Iterator[tuple[str, ...]]:
    group: list[str] = []
    for sentence in chain.from_iterable(map(_divided, sentences(text, language))):
        if group and sum(map(len, group)) + len(sentence) > LONGEST:
            yield tuple(group)
            group = []
        group.append(sentence)
    if group:
        yield tuple(group)


def _divided(sentence: str) -> Iterator[str]:
    """A sentence, or the parts of one that is too long: cut after a clause, else between words, else anywhere."""
    while len(sentence) > LONGEST_SENTENCE:
        head = sentence[:LONGEST_SENTENCE]
        clause = _CLAUSE_ENDS.match(head)
        place = clause.end() if clause else head.rfind(" ") + 1
        yield sentence[: place or LONGEST_SENTENCE].strip()
        sentence = sentence[place or LONGEST_SENTENCE :].strip()
    yield sentence


@dataclass(frozen=True, slots=True)
class PassageSpeech:
    pcm: NDArray[np.int16]
    """Samples, shape [n], mono at 24 kHz."""
    words: tuple[BookWord, ...] = ()

    @classmethod
    def of(cls, piece: SpokenPiece) -> PassageSpeech:
        """A passage that came in one piece."""
        words = ((word.word, round(word.start * SAMPLE_RATE), round(word.end * SAMPLE_RATE)) for word in piece.words)
        return cls(np.frombuffer(piece.pcm, "<i2"), tuple(BookWord(*word) for word in words))


@dataclass(frozen=True, slots=True)
class PassageTiming:
    samples: int
    words: tuple[BookWord, ...] = ()


class Postponed(Exception):
    """The speaker has no time for books now: a listener is served, or it starts."""

    def __init__(self, reason: str, seconds: float) -> None:
        """`seconds` until it is worth asking again."""
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


class PassageRefused(BookError):
    """The speaker will never speak this passage."""

    def __init__(self, message: str, code: str = "") -> None:
        """`code` is the API's name of the error, if it has one."""
        super().__init__(message)
        self.code = code


class PassageSpeaker(Protocol):
    """Makes passages, several at once if asked."""

    inference_threads: int
    """Passages that it makes side by side."""

    async def engine(self) -> str:
        """Identity of the engine and its model.

        Raises:
            Postponed: it can't be told now.
        """
        ...

    async def script(self, passage: Passage) -> str:
        """The pronunciation of a passage, as the user's lexicon and the rules of normalisation make it now.

        Raises:
            Postponed: it can't be told now.
        """
        ...

    async def speak(self, passage: Passage) -> PassageSpeech:
        """Make a passage.

        Raises:
            Postponed: not now.
            PassageRefused: never.
        """
        ...
