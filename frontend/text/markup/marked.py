"""Text without its markup, and the annotations that the markup gave."""

from __future__ import annotations

from dataclasses import dataclass

from frontend.text.sanitize import sanitize


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """Pronunciation of a stretch, which no other rule changes."""

    start: int
    end: int
    phonemes: str
    """Phonemes in the alphabet of the text's language; empty if the stretch is read as written."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Speaking rate of a stretch. Rates don't overlap."""

    start: int
    end: int
    rate: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence at a place, after every word that begins before the place."""

    at: int
    seconds: float
    """Duration of the silence; 0 removes a pause that would be here."""


@dataclass(frozen=True, slots=True)
class SentenceEnd:
    """End of a sentence at a blank line that ends here, and that separates sentences, not paragraphs."""

    at: int


Annotation = Pronunciation | Rate | Pause | SentenceEnd


@dataclass(frozen=True, slots=True)
class Marked:
    """Text and its annotations. Positions are character indices of `text`, and rise within each kind of annotation."""

    text: str
    """Text that is sanitised already: `sanitize` doesn't change it."""
    annotations: tuple[Annotation, ...] = ()

    @classmethod
    def plain(cls, text: str) -> Marked:
        """Sanitised text without annotations."""
        return cls(sanitize(text))
