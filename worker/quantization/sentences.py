"""Texts to judge by: over 500 words in texts of 1 to 60, questions, numbers, exclamations.

`evaluation.txt` has a text a line: English, a tab, and Kokoro's phonemes, which this project's own pipeline made of it.
To make them again, join the scripts of `TextPipeline(G2P()).segments(english, "en-us", notation)` (`frontend.text`),
where `notation` has the model's vocabulary and its 510 tokens.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def evaluation_texts() -> tuple[tuple[str, str], ...]:
    """English and phonemes of each text."""
    lines = (files(__package__) / "evaluation.txt").read_text(encoding="utf-8").splitlines()
    return tuple((english, script) for english, _, script in (line.partition("\t") for line in lines))
