"""Texts to fit with and others to judge by: long and short ones, questions, numbers, exclamations.

`calibration.txt` and `evaluation.txt` have a text a line: English, a tab, and Kokoro's phonemes, which this project's
own pipeline made of it. Some texts are in both.
To make them again, join the scripts of `TextPipeline(G2P()).segments(english, "en-us", notation)` (`frontend.text`),
where `notation` has the model's vocabulary and its 510 tokens.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def calibration() -> tuple[str, ...]:
    """Phonemes of the texts that norms' statistics are fitted on."""
    return tuple(script for _, script in _texts("calibration.txt"))


@cache
def evaluation_texts() -> tuple[tuple[str, str], ...]:
    """English and phonemes of the texts to judge by: over 500 words, in texts of 1 to 60."""
    return _texts("evaluation.txt")


@cache
def evaluation() -> tuple[str, ...]:
    """Phonemes of the texts to judge by."""
    return tuple(script for _, script in evaluation_texts())


def _texts(name: str) -> tuple[tuple[str, str], ...]:
    lines = (files(__package__) / name).read_text(encoding="utf-8").splitlines()
    return tuple((english, script) for english, _, script in (line.partition("\t") for line in lines))
