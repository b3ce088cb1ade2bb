"""Texts for fitting and for evaluation: long and short ones, questions, numbers, exclamations.

Each line of `calibration.txt` and `evaluation.txt` has the English text, a tab, and Kokoro's phonemes, which this
project's own pipeline made from it. Some texts are in both files. To make the phonemes again, join the scripts of
`TextPipeline(G2P()).segments(english, "en-us", notation)` (`frontend.text`), where `notation` has the model's
vocabulary and its 510 tokens.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def calibration() -> tuple[str, ...]:
    """Phonemes of the texts on which the norms' statistics are fitted."""
    return tuple(script for _, script in _texts("calibration.txt"))


@cache
def evaluation_texts() -> tuple[tuple[str, str], ...]:
    """English text and phonemes of each evaluation text: over 500 words, in texts of 1 to 60 words."""
    return _texts("evaluation.txt")


@cache
def evaluation() -> tuple[str, ...]:
    """Phonemes of the evaluation texts."""
    return tuple(script for _, script in evaluation_texts())


def _texts(name: str) -> tuple[tuple[str, str], ...]:
    lines = (files(__package__) / name).read_text(encoding="utf-8").splitlines()
    return tuple((english, script) for english, _, script in (line.partition("\t") for line in lines))
