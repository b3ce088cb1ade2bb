"""Evaluation texts: over 500 words in texts of 1 to 60 words, with questions, numbers and exclamations.

Each line of `evaluation.txt` has the English text, a tab, and Kokoro's phonemes, which this project's own pipeline made
from it. To make the phonemes again, join the scripts of `TextPipeline(G2P()).segments(english, "en-us", notation)`
(`frontend.text`), where `notation` has the model's vocabulary and its 510 tokens.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def evaluation_texts() -> tuple[tuple[str, str], ...]:
    """English text and phonemes of each evaluation text."""
    lines = (files(__package__) / "evaluation.txt").read_text(encoding="utf-8").splitlines()
    return tuple((english, script) for english, _, script in (line.partition("\t") for line in lines))
