"""The table of what is read right: every shipped case is counted once, and each class is in it."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.numbers_heard import Heard, sentences
from benchmarks.pauses import longest_silence
from benchmarks.pronunciation import error_rates, homographs, normalisation


def test_every_case_is_counted() -> None:
    rows = normalisation().rows
    assert sum(int(str(row[3])) for row in rows) >= 800
    assert {"en-us", "en-gb", "es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn"} == {row[0] for row in rows}
    assert all(row[2] == row[3] for row in rows)


def test_the_document_has_the_error_rates() -> None:
    document = Path(__file__).parents[2].joinpath("docs", "pronunciation.md").read_text()
    assert error_rates().as_markdown().partition("\n\n")[2].strip() in document


def test_homographs_are_counted_by_set() -> None:
    found = {row[0]: (row[1], row[2]) for row in homographs().rows}
    assert found["held"][1] == 50
    assert all(int(str(right)) / int(str(total)) > 0.8 for right, total in found.values())


def test_each_language_has_sixty_cases_and_english_four_hundred_hard_ones() -> None:
    of: Counter[str] = Counter()
    for row in normalisation().rows:
        of[str(row[0])] += int(str(row[3]))
    assert all(of[language] >= 60 for language in ("es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn"))
    assert of["en-us"] >= 400


def test_thirty_sentences_are_listened_to() -> None:
    assert len(sentences()) == 30
    assert all(any(map(str.isdigit, written)) or "XIV" in written or "VIII" in written for written, _ in sentences())
    assert not any(any(map(str.isdigit, words)) for _, words in sentences())


def test_a_sentence_is_compared_in_words_whatever_whisper_writes() -> None:
    said = "The train number seventeen left at three thirty p m in twenty nineteen"
    right = Heard("", said, "The train No. 17 left at 3:30 p.m. in 2019.", said)
    wrong = Heard("", said, "The train No. 70 left at 3:30 p.m. in 2019.", said)
    assert (right.errors, right.floor) == (0, 0)
    assert wrong.errors == 1


def test_the_longest_silence_is_the_one_inside() -> None:
    tone = (10_000 * np.sin(np.arange(12_000))).astype(np.int16)
    quiet = np.zeros(7_200, np.int16)
    assert longest_silence(np.concatenate([quiet, quiet, tone, quiet, tone, quiet, quiet])) == pytest.approx(
        0.3, abs=0.02
    )
