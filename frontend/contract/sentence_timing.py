"""The time at which a sentence of the text begins in its audio."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SentenceTiming:
    """One sentence in the audio."""

    number: int
    """Place of the sentence in the request's text, from 0."""
    text: str
    """The sentence as the user wrote it, with single spaces."""
    start: int
    """The stream's sample at which the sentence begins; the pause before it belongs to the sentence before."""
