"""A speaker for tests: each passage is a tone of its own, and nothing is said twice in another way."""

import asyncio
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from books.book import BookWord
from books.making.passages import Passage, PassageSpeech

SAMPLES_PER_LETTER = 40


def made_speech(passage: Passage) -> PassageSpeech:
    """The audio of a passage: the same for the same text and voice."""
    samples = SAMPLES_PER_LETTER * len(passage.text)
    hertz = 200 + zlib.crc32(f"{passage.voice}{passage.text}".encode()) % 2000
    pcm = (np.sin(np.arange(samples) * 2 * np.pi * hertz / 24_000) * 6000).astype(np.int16)
    words, place = [], 0
    for word in passage.text.split():
        start = passage.text.index(word, place)
        place = start + len(word)
        words.append(BookWord(word, start * SAMPLES_PER_LETTER, place * SAMPLES_PER_LETTER))
    return PassageSpeech(pcm, tuple(words))


@dataclass
class MadeSpeaker:
    """Implements `books.making.passages.PassageSpeaker`."""

    asked: list[Passage] = field(default_factory=list)
    before: Callable[[Passage], None] = lambda passage: None
    """Called before each passage; it may raise."""
    identity: str = "made/1"
    inference_threads: int = 2
    lexicon: dict[str, str] = field(default_factory=dict)
    """Words with their pronunciations."""

    async def engine(self) -> str:
        """Implements `Speaker.engine`."""
        return self.identity

    async def script(self, passage: Passage) -> str:
        """Implements `Speaker.script`."""
        return " ".join(self.lexicon.get(word, word) for word in passage.text.split())

    async def speak(self, passage: Passage) -> PassageSpeech:
        """Implements `Speaker.speak`."""
        self.asked.append(passage)
        await asyncio.sleep(0)
        self.before(passage)
        return made_speech(passage)
