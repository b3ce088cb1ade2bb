"""Estimates before anything was spoken."""

from __future__ import annotations

from books.book import Chapter
from books.making.settings import BookSettings

LETTERS_PER_SECOND = 15.0
"""Characters that Kokoro speaks in a second at speed 1, about."""


def spoken_seconds(chapter: Chapter, settings: BookSettings, letters_per_second: float = LETTERS_PER_SECOND) -> float:
    """Length of a chapter in seconds, its pauses included."""
    letters = sum(len(block.text) for block in chapter.blocks)
    pauses = sum(settings.pauses.after(block.kind) for block in chapter.blocks)
    return letters / letters_per_second / settings.speed + pauses
