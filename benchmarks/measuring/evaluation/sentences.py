"""Texts for fitting and for evaluation: long and short ones, questions, numbers, exclamations.

Each line of a file has the English text, a tab, and Kokoro's phonemes, which this project's own pipeline made from it;
a line of `foreign.txt` has the language's code before them. No text is in two of the files. To make the phonemes again,
join the scripts and leads of `TextPipeline(G2P()).sentences(text, language, notation)` (`text`), where
`notation` has the model's vocabulary and its 510 tokens.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def calibration() -> tuple[str, ...]:
    """Phonemes of the English texts on which the norms' statistics are fitted."""
    return tuple(script for _, script in _texts("calibration.txt"))


@cache
def foreign() -> dict[str, tuple[str, ...]]:
    """Phonemes of the other texts on which the norms' statistics are fitted, by language code as espeak-ng names it."""
    found: dict[str, tuple[str, ...]] = {}
    for language, _, script in _lines("foreign.txt"):
        found[language] = (*found.get(language, ()), script)
    return found


@cache
def evaluation_texts() -> tuple[tuple[str, str], ...]:
    """English text and phonemes of each evaluation text: over 500 words, in texts of 1 to 60 words."""
    return _texts("evaluation.txt")


@cache
def held_out() -> tuple[str, ...]:
    """Phonemes of the English texts from which nothing was ever made: predictions are judged by them."""
    return tuple(script for _, script in _texts("held_out.txt"))


@cache
def middling() -> tuple[str, ...]:
    """English texts of 6 to 20 words, for evaluation."""
    found = (*_texts("evaluation.txt"), *_texts("held_out.txt"))
    return tuple(text for text, _ in found if 6 <= len(text.split()) <= 20)


@cache
def questions() -> tuple[tuple[str, bool], ...]:
    """English sentences, most of them questions, and whether each should rise at its end."""
    return tuple((text, bool(kind)) for kind, text in _lines("questions.txt"))


@cache
def hard_texts() -> tuple[tuple[str, str], ...]:
    """Kind and text of 200 English texts at which listeners of this model hear faults: single words, two words,
    repeated imperatives, letters in lists, long sentences."""
    return tuple((kind, text) for kind, text in _lines("hard_texts.txt"))


@cache
def answers(language: str = "en-us") -> tuple[str, ...]:
    """First sentences of answers as voice agents give them."""
    return tuple(text for code, text, *_ in _lines("answers.tsv") if code == language)


@cache
def spoken_answers() -> tuple[tuple[str, str], ...]:
    """Domain and text of 60 English answers, of one, three and six sentences in turn."""
    rows = (line for line in _lines("answers.tsv") if len(line) > 2)
    return tuple((domain, f"{first} {rest}".strip()) for _, first, rest, domain in rows)


def _texts(name: str) -> tuple[tuple[str, str], ...]:
    return tuple((english, script) for english, script in _lines(name))


def _lines(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (files(__package__) / name).read_text(encoding="utf-8").splitlines()]
