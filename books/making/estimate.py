"""Estimates before anything was spoken."""

from __future__ import annotations

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
    return letters / (pace or Pace()).letters_per_second / settings.speed + pauses
