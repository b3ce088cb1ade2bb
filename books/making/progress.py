"""Estimates before anything was spoken, and the progress of a book that is being made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from books.book import Chapter
from books.making.settings import BookSettings


@dataclass(frozen=True, slots=True)
class Pace:
    """The length of a text's speech, and the time that making it takes."""

    letters_per_second: float = 15.0
    """Characters that are spoken in a second at speed 1. Kokoro speaks 15, about."""
    real_time_factor: float = 0.5
    """Seconds of work per second of audio."""
    measured: bool = False
    """True if a server has measured its factor."""


def pace_of(status: Mapping[str, Any]) -> Pace:
    """The pace that a server's `/status` shows for the engine that speaks; what it hasn't measured is assumed.

    A phoneme for each letter is assumed.
    """
    usual = Pace()
    costs = status.get("costs", {}).get(status.get("engine", {}).get("name"), {})
    factor = costs.get("real_time_factor")
    sounding = costs.get("audio_seconds_per_token")
    return Pace(
        1 / sounding if sounding else usual.letters_per_second, factor or usual.real_time_factor, factor is not None
    )


def spoken_seconds(chapter: Chapter, settings: BookSettings, pace: Pace | None = None) -> float:
    """Length of a chapter in seconds, its pauses included."""
    letters = sum(len(block.text) for block in chapter.blocks)
    pauses = sum(settings.pauses.after(block.kind) for block in chapter.blocks)
    return letters / (pace or Pace()).letters_per_second / (settings.speed or 1) + pauses


@dataclass(frozen=True, slots=True)
class BookProgress:
    chapter: int
    """Number of the chapter in hand, from 1."""
    chapters: int
    title: str
    """Title of the chapter in hand."""
    done: int
    """Characters that are spoken."""
    total: int
    audio_seconds: float
    """Length of what was spoken in this run."""
    seconds_left: float | None
    """None before anything was made in this run."""
    waiting: str = ""
    """The reason for which nothing is made now."""
    speed: float | None = None
    """Seconds of audio made in a second of work; None before anything was made in this run."""

    @property
    def fraction(self) -> float:
        return self.done / self.total if self.total else 1.0


class Meter:
    """Counts what is made; time spent waiting for listeners doesn't count as speed."""

    def __init__(self, total: int) -> None:
        self.total = total
        """Characters of the whole book."""
        self._made = 0
        self.audio_seconds = 0.0
        self._busy = 0.0
        self._since: float | None = None
        self.done = 0
        """Characters done, those of earlier runs included."""

    def working(self, working: bool) -> None:
        now = time.monotonic()
        if self._since is not None:
            self._busy += now - self._since
        self._since = now if working else None

    def kept(self, characters: int) -> None:
        self.done += characters

    def made(self, characters: int, audio_seconds: float) -> None:
        self.working(True)
        self.done += characters
        self._made += characters
        self.audio_seconds += audio_seconds

    @property
    def seconds_left(self) -> float | None:
        if not self._made or not self._busy:
            return None
        return (self.total - self.done) * self._busy / self._made

    @property
    def speed(self) -> float | None:
        return self.audio_seconds / self._busy if self._busy else None
