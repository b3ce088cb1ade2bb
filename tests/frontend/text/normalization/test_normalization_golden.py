"""What a listener hears, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontend.text.normalization.normalize import normalize
from frontend.text.normalization.settings import Normalization
from frontend.text.sanitize import sanitize

GOLDEN = [
    line.split("\t")
    for name in ("golden.tsv", "hard.tsv", "languages.tsv")
    for line in (Path(__file__).parent / name).read_text().splitlines()
]
"""Family, language, text (with \\n for a newline), what is said (with | between sentences)."""


def said(text: str, language: str = "en-us", settings: Normalization | None = None) -> str:
    return normalize(sanitize(text), language, settings or Normalization()).text


def test_the_golden_files_are_long() -> None:
    assert len(GOLDEN) >= 800
    assert len({(language, text) for _, language, text, _ in GOLDEN}) == len(GOLDEN)


@pytest.mark.parametrize(("language", "text", "expected"), [pytest.param(*line[1:], id=line[2]) for line in GOLDEN])
def test_a_line_is_said_as_expected(language: str, text: str, expected: str) -> None:
    assert said(text.replace("\\n", "\n"), language).replace("\n", " | ") == expected


@pytest.mark.parametrize(("language", "expected"), [pytest.param(line[1], line[3], id=line[3]) for line in GOLDEN])
def test_what_was_normalised_stays_as_it_is(language: str, expected: str) -> None:
    text = expected.replace(" | ", "\n\n")
    assert said(text, language).split() == text.split()


@pytest.mark.parametrize(("language", "text"), [pytest.param(line[1], line[2], id=line[2]) for line in GOLDEN])
def test_with_all_rules_off_the_text_is_spoken_as_it_is_written(language: str, text: str) -> None:
    clean = sanitize(text.replace("\\n", "\n"))
    assert said(clean, language, Normalization.none()).split() == clean.split()
