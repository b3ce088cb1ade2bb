"""Generated Markdown in nine languages: nothing fails, and each word is heard once, in order, with its own span."""

import re

import pytest

from tests.share import share
from tests.text.normalization.generated_markdown import HIDDEN, VOCABULARY, Writer
from tests.text.normalization.test_normalized_segments import TEXT, LetterG2P
from text.normalization.normalize import normalized_sentences
from text.normalization.settings import Normalization
from text.pipeline import TextPipeline
from text.words.sanitize import sanitize

_KNOWN = {
    language: re.compile("|".join(sorted([*words.split(), *HIDDEN.split()], key=len, reverse=True)))
    for language, words in VOCABULARY.items()
}


def problem(seed: int, language: str) -> str:
    """Report on one generated document; empty if it is read as it should be."""
    document = Writer(seed, language).write()
    known, clean = _KNOWN[language], sanitize(document.source)
    heard: list[str] = []
    for sentence in normalized_sentences(clean, language, Normalization()):
        for word in sentence.words:
            found = known.findall(word.said)
            heard += found
            written = clean[slice(*word.span)]
            if any(each not in written for each in found):
                return f"{word.said!r} is said for {written!r} in {document.source!r}"
    if heard != document.heard:
        return f"{heard} is heard for {document.source!r}"
    units = [unit for sentence in TextPipeline(LetterG2P()).sentences(clean, language, TEXT) for unit in sentence]
    spoken = known.findall(" ".join(unit.text for unit in units))
    return "" if spoken == document.heard else f"{spoken} is spoken for {document.source!r}"


@pytest.mark.parametrize("language", VOCABULARY)
def test_every_word_of_markdown_is_heard_once_and_in_its_place(language: str) -> None:
    problems = [found for seed in range(60) if (found := problem(seed, language))]
    assert problems == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("language", VOCABULARY)
def test_thousands_of_generated_documents(language: str) -> None:
    problems = [found for seed in range(60, 60 + share(2240)) if (found := problem(seed, language))]
    assert problems[:20] == []
