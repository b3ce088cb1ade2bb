"""A speaker for tests: each passage is a tone of its own, and nothing is said twice in another way."""

import asyncio
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from books.book import BlockKind, Book, BookWord, Chapter, TextBlock
from books.making.maker import Order
from books.making.outputs import output_of
from books.making.passages import Passage, PassageSpeech
from books.making.settings import BookSettings

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
        return self.identity

    async def script(self, passage: Passage) -> str:
        return " ".join(self.lexicon.get(word, word) for word in passage.text.split())

    async def speak(self, passage: Passage) -> PassageSpeech:
        self.asked.append(passage)
        await asyncio.sleep(0)
        self.before(passage)
        return made_speech(passage)


def made_book(chapters: int = 3, paragraphs: int = 4) -> Book:
    """A book of headings and of paragraphs that take two passages each."""

    def blocks(chapter: int) -> tuple[TextBlock, ...]:
        text = []
        for number in range(paragraphs):
            inner = " ".join(f"It goes on in line {chapter} {number} {line}." for line in range(18))
            text.append(TextBlock(BlockKind.PARAGRAPH, f"Paragraph {chapter} of {number} begins. {inner} It ends."))
        return (
            TextBlock(BlockKind.HEADING, f"Chapter {chapter}", 1),
            *text[:2],
            TextBlock(BlockKind.SCENE_BREAK),
            *text[2:],
        )

    return Book("Made", tuple(Chapter(f"Chapter {n}", blocks(n)) for n in range(1, chapters + 1)), "Ada", "en")


def order(folder: Path, book: Book, name: str = "book.flac", settings: BookSettings | None = None) -> Order:
    """The order to make that book in the folder, with subtitles, and what is kept of it in a folder of that."""
    output = output_of(folder / name, captions=("srt",))
    return Order(book, book.chapters, settings or BookSettings(), output, folder / "kept")
