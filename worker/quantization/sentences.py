"""Sentences to calibrate with and others to judge by: long and short ones, questions, numbers, exclamations.

`calibration.txt` and `evaluation.txt` have a sentence a line: English, a tab, and Kokoro's phonemes, which this
project's own pipeline made of it. To make them again, join the scripts of
`TextPipeline(G2P()).segments(english, "en-us", notation)` (`frontend.text`), where `notation` has the model's
vocabulary and its 510 tokens. No sentence is in both files: ranges measured on a sentence fit that
sentence too well.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def calibration() -> tuple[str, ...]:
    """Phonemes of the sentences that activation ranges are measured on."""
    return _phonemes("calibration.txt")


@cache
def evaluation_texts() -> tuple[tuple[str, str], ...]:
    """English and phonemes of the texts that a variant is compared on: over 500 words, in texts of 1 to 60."""
    lines = (files(__package__) / "evaluation.txt").read_text(encoding="utf-8").splitlines()
    return tuple((english, script) for english, _, script in (line.partition("\t") for line in lines))


@cache
def evaluation() -> tuple[str, ...]:
    """Phonemes of the sentences that a variant is compared on."""
    return tuple(script for _, script in evaluation_texts())


def _phonemes(name: str) -> tuple[str, ...]:
    lines = (files(__package__) / name).read_text(encoding="utf-8").splitlines()
    return tuple(line.partition("\t")[2] for line in lines)
