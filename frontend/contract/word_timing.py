"""The time at which one written word sounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WordTiming:
    """One written word in the audio."""

    word: str
    """As the user wrote it."""
    said: str
    """As it was normalised."""
    start: float
    """Seconds from the audio's beginning."""
    end: float
