"""The times at which words sound and sentences begin."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class WordTiming:
    """One written word in the audio."""

    word: str
    """The word as the user wrote it."""
    said: str
    """The word as it was normalised."""
    start: float
    """Seconds from the audio's beginning."""
    end: float
    voice: str = ""
    """The voice that says it (`Performer.name`); empty if one voice says the whole text."""
    bookmarks: tuple[str, ...] = ()
    """Names of the bookmarks that are reached where the word begins."""
    bookmarks_after: tuple[str, ...] = ()
    """Names of the bookmarks that are reached where the word ends."""

    def later(self, seconds: float) -> WordTiming:
        """This word, that many seconds later in the audio."""
        return replace(self, start=self.start + seconds, end=self.end + seconds)


@dataclass(frozen=True, slots=True)
class SentenceTiming:
    """One sentence in the audio."""

    number: int
    """Place of the sentence in the request's text, from 0."""
    text: str
    """The sentence as the user wrote it, with single spaces."""
    start: int
    """The stream's sample at which the sentence begins; the pause before it belongs to the sentence before."""
