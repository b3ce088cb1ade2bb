"""Spoken chapters made for tests: each sentence is a tone of its own."""

import numpy as np
from numpy.typing import NDArray

from books.book import (
    SAMPLE_RATE,
    BlockKind,
    Book,
    BookWord,
    Chapter,
    Picture,
    SpokenBlock,
    SpokenChapter,
    SpokenSentence,
    TextBlock,
)


def tone(seconds: float, hertz: float = 440.0, level: float = 0.25) -> NDArray[np.int16]:
    """Samples of a sine."""
    times = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (np.sin(2 * np.pi * hertz * times) * level * 32767).astype(np.int16)


def spoken(
    title: str, seconds: float = 2.0, sentences: tuple[str, ...] = ("It rains.", "It rains & pours.")
) -> SpokenChapter:
    """A chapter of a heading and one paragraph, its sentences of equal length."""
    length = round(seconds * SAMPLE_RATE)
    texts = (title, *sentences)
    each = length // len(texts)
    timed = []
    for number, text in enumerate(texts):
        start, words = number * each, text.split()
        of_word = each // len(words)
        times = [(start + of_word * place, start + of_word * (place + 1)) for place in range(len(words))]
        inner = tuple(BookWord(word, *time) for word, time in zip(words, times, strict=True))
        timed.append(SpokenSentence(text, start, start + each, inner))
    blocks = (
        SpokenBlock(TextBlock(BlockKind.HEADING, title, 1), (timed[0],)),
        SpokenBlock(TextBlock(BlockKind.SCENE_BREAK)),
        SpokenBlock(TextBlock(BlockKind.PARAGRAPH, " ".join(sentences)), tuple(timed[1:])),
    )
    return SpokenChapter(title, blocks, length)


def book(cover: Picture | None = None, titles: tuple[str, ...] = ("Één", "Two & three")) -> Book:
    """A book of such chapters."""
    return Book("Made <book>", tuple(Chapter(title, ()) for title in titles), "Ada", "en", cover)
