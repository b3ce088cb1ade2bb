"""Normalised texts as a listener hears them, line by line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from text.normalization.normalize import normalize
from text.normalization.settings import AS_WRITTEN, Normalization
from text.words.sanitize import sanitize

GOLDEN = [
    line.split("\t")
    for name in ("golden.tsv", "hard.tsv", "languages.tsv")
    for line in (Path(__file__).parent / name).read_text().splitlines()
]
"""Family, language, text (with \\n for a newline), what is said (with | between sentences)."""


FAMILIES = sorted({line[0] for line in GOLDEN})
"""One test for each: 3,500 tests of a line each take pytest longer than the lines themselves."""


def said(text: str, language: str = "en-us", settings: Normalization | None = None) -> str:
    return normalize(sanitize(text), language, settings or Normalization())


def wrong(family: str, expected_and_said: Callable[[str, str, str], tuple[object, object]]) -> list[tuple[object, ...]]:
    """Lines of a family that don't say what is expected: language, text, what is expected, what is said."""
    lines = [line[1:] for line in GOLDEN if line[0] == family]
    compared = [(*line[:2], *expected_and_said(*line)) for line in lines]
    return [each for each in compared if each[2] != each[3]]


def test_the_golden_files_are_long() -> None:
    assert len(GOLDEN) >= 800
    assert len({(language, text) for _, language, text, _ in GOLDEN}) == len(GOLDEN)


@pytest.mark.parametrize("family", FAMILIES)
def test_lines_are_said_as_expected(family: str) -> None:
    def compare(language: str, text: str, expected: str) -> tuple[object, object]:
        return expected, said(text.replace("\\n", "\n"), language).replace("\n", " | ")

    assert wrong(family, compare) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_what_was_normalised_stays_as_it_is(family: str) -> None:
    def compare(language: str, _: str, expected: str) -> tuple[object, object]:
        text = expected.replace(" | ", "\n\n")
        return text.split(), said(text, language).split()

    assert wrong(family, compare) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_with_all_rules_off_the_text_is_spoken_as_it_is_written(family: str) -> None:
    def compare(language: str, text: str, _: str) -> tuple[object, object]:
        clean = sanitize(text.replace("\\n", "\n"))
        return clean.split(), said(clean, language, AS_WRITTEN).split()

    assert wrong(family, compare) == []
