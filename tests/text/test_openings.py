"""Openings: what is spoken of a sentence that is still being written is what its whole text says."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

import pytest

from benchmarks.measuring.evaluation.sentences import answers, evaluation_texts
from tests.share import share
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.sentences.growth import opening_of
from text.words.segment import Notation, Unit

CHANGED = (
    "Doctor",
    "Dr",
    "St",
    "3",
    "3.5 million",
    "$5",
    "5 km",
    "**bold words**",
    "[a link](https://example.com/a)",
    "`code`",
    "read",
    "live",
    "the 8",
    "NASA",
    "World War II",
    "No. 5",
    "a.m.",
    "e.g. this",
    "https://example.com",
    '"quoted"',
    "- item",
    "half-past",
    "I'll",
    "und",
    "café",
    "the end",
    "used to",
    "that",
    "May 5",
    "etc.",
    "x = 3",
    "~~gone~~",
    "😀",
)
"""Words that may stand anywhere in a sentence, and change their neighbours."""


_VOCABULARY = frozenset("".join(script for _, script in evaluation_texts()))


HETERONYMS = (
    "They read all of the long books in the small library last year.",
    "You read all of the long books in the small library every year.",
    "The people read aloud to all of the children a long time ago.",
    "The bass in the old hall was loud, and so was the music of the band.",
    "The bow of the small wooden ship was painted green by the two sailors.",
)
"""Words that are pronounced by what comes long after them."""


@cache
def _pipeline() -> tuple[TextPipeline, Notation]:
    return TextPipeline(G2P()), Notation("phonemes", _VOCABULARY, 510)


def spoken(text: str, language: str) -> tuple[list[str], list[str]]:
    """The words of a text as they are written, and the phonemes of each without its stress."""
    pipeline, notation = _pipeline()
    units: list[Unit] = [unit for each in pipeline.sentences(text, language, notation) for unit in each]
    found = [
        (word.written, re.sub("[ˈˌ]", "", unit.script[word.start : word.end])) for unit in units for word in unit.words
    ]
    return [written for written, _ in found], [phonemes for _, phonemes in found]


def pieces(text: str, tokens: int) -> list[str]:
    """Pieces of one of three tokenisers: a word with the space before it in pieces of up to 4 or 12 characters, or
    single characters."""
    patterns = (r"\s*\w{1,4}|\s*[^\w\s]|\s+", r"\s*\w{1,12}[^\w\s]*|\s*[^\w\s]+|\s+", r"(?s).")
    return re.findall(patterns[tokens], text)


def wrong(text: str, language: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """The cuts of a text after which other words would be spoken than the whole text's: text, words, and right ones."""
    pipeline, _ = _pipeline()
    whole: tuple[list[str], list[str]] | None = None
    seen = set()
    for begun in {each for kind in range(3) for each in accumulate(pieces(text, kind))}:
        opening = opening_of(begun, language)
        if opening is None or opening in seen:
            continue
        seen.add(opening)
        settled = pipeline.settled(opening.text.split()[: opening.words], language)
        whole = whole or spoken(text, language)
        written, phonemes = spoken(opening.text, language)
        one, other = [(w[:settled], p[:settled]) for w, p in ((written, phonemes), whole)]
        if written == opening.text.split() and one != other:
            yield begun, one[1], other[1]


def changed(text: str, number: int) -> str:
    """A sentence with things in it that change their neighbours."""
    chance, words = random.Random(number), text.split(" ")
    for _ in range(chance.randint(0, 3)):
        words.insert(chance.randint(0, len(words)), chance.choice(CHANGED))
    return " ".join(words)


def openings(count: int) -> Iterator[str]:
    """Sentences of answers and of the gate's texts, as they are and changed."""
    texts = [*HETERONYMS, *answers(), *(text for text, _ in evaluation_texts())]
    for number in range(count):
        text = texts[number % len(texts)]
        yield text if number < len(texts) else changed(text, number)


@pytest.mark.parametrize("language", ["en-us", "en-gb"])
def test_words_of_openings_are_those_of_the_whole_text(language: str) -> None:
    assert not [each for text in openings(150) for each in wrong(text, language)]


@pytest.mark.slow
def test_words_of_openings_are_those_of_the_whole_text_in_many_sentences() -> None:
    assert not [each for text in openings(share(2000)) for each in wrong(text, "en-us")]


def test_enough_of_most_answers_is_spoken_before_their_end() -> None:
    begun = [opening_of(" ".join(text.split(" ")[:8]) + " ", "en-us") for text in answers()]
    assert sum(each is not None for each in begun) > 0.9 * len(begun)


@pytest.mark.parametrize(
    "text",
    ["", "Hello there", "It costs 3 ", "Dr Smith went home and ", "**Bold is the new ", "- I can help you ", "See [a "],
)
def test_what_may_still_change_waits(text: str) -> None:
    assert opening_of(text, "en-us") is None


def test_a_language_without_rules_of_its_own_waits() -> None:
    assert opening_of("Bien sûr je peux vous aider avec cela ", "fr-fr") is None
