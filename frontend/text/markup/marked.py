"""A text without its markup, and what the markup said about it."""

from __future__ import annotations

from dataclasses import dataclass

from frontend.text.sanitize import sanitize


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """How a stretch is pronounced; nothing else changes it."""

    start: int
    end: int
    phonemes: str
    """In the alphabet of the language that the text is read in; empty: as it is written."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A stretch with a pace of its own. Rates don't overlap."""

    start: int
    end: int
    rate: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence at a place: after every word that begins before it."""

    at: int
    seconds: float
    """0: no pause where there would be one."""


@dataclass(frozen=True, slots=True)
class SentenceEnd:
    """The blank line that ends here parts sentences, not paragraphs."""

    at: int


Annotation = Pronunciation | Rate | Pause | SentenceEnd


@dataclass(frozen=True, slots=True)
class Marked:
    """Places are characters of `text`. Of each kind of annotation they rise."""

    text: str
    """Sanitised: `sanitize` leaves it as it is."""
    annotations: tuple[Annotation, ...] = ()

    @classmethod
    def plain(cls, text: str) -> Marked:
        """A text without markup."""
        return cls(sanitize(text))
