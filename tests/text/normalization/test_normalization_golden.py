"""Normalised texts as a listener hears them, line by line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.frontend.segments import segments_of
from text.normalization.normalize import normalize
from text.normalization.settings import AS_WRITTEN, Normalization
from text.pipeline import TextPipeline
from text.words.sanitize import sanitize
from text.words.segment import Notation, PhonemeSource, Word

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


TEXT = Notation("text", frozenset(), 60)
PHONEMES = Notation("phonemes", frozenset("abcdefghijklmnopqrstuvwxyz .,"), 60)
LONG = "# Plan\n\nOn 2026-11-21 Dr. X paid $1,250.75 for 5 km of **cable** 😀 and 1/2 of it. See https://example.com/a/b.\n"


class LetterG2P:
    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        return tuple(Word(token, token.lower(), PhonemeSource.LEXICON) for token in sentence.split())


def texts(
    text: str, notation: Notation, normalization: Normalization | None = None, language: str = "en-us"
) -> list[str]:
    pipeline = TextPipeline(LetterG2P(), normalization)
    return [segment.text for segment in segments_of(pipeline, text, language, notation)]


@pytest.mark.parametrize("notation", [TEXT, PHONEMES])
def test_segments_hold_each_normalised_word_once_in_order(notation: Notation) -> None:
    words = normalize(sanitize(LONG * 3), "en-us", Normalization()).split()
    assert " ".join(texts(LONG * 3, notation)).split() == words
    assert "twenty-first," in words


@pytest.mark.parametrize("notation", [TEXT, PHONEMES])
def test_rules_are_on_by_default_and_can_be_off(notation: Notation) -> None:
    assert texts("Pay $5 at 10:30.", notation) == ["Pay five dollars at ten thirty."]
    without_money = Normalization().without(["money"])
    assert texts("Pay $5 at 10:30.", notation, without_money) == ["Pay $5 at ten thirty."]


def test_spanish_has_rules_of_its_own() -> None:
    assert texts("Son $5 a las 10:30.", TEXT, language="es") == ["Son cinco dólares a las diez y treinta."]


def test_british_dates_are_british() -> None:
    assert texts("Due 03/04/2026.", TEXT, language="en-gb") == ["Due the third of April, twenty twenty-six."]
    assert texts("Due 03/04/2026.", TEXT) == ["Due March fourth, twenty twenty-six."]


def test_a_text_of_nothing_but_emoji_has_no_sound_in_any_engine() -> None:
    for notation in (TEXT, PHONEMES):
        assert texts("😀", notation) == texts("🙂 🙂🙂", notation) == []
    assert texts("😀 Hi.", TEXT) == ["Hi."]
    assert texts("😀", TEXT, Normalization().without(["emoji"])) == ["😀"]


def test_a_text_of_nothing_but_markup_is_read_as_it_is_written() -> None:
    assert texts("<hello>", TEXT) == ["<hello>"]


def test_what_no_engine_can_say_is_reported_once() -> None:
    pipeline = TextPipeline(LetterG2P())
    assert list(segments_of(pipeline, "你好", "en-us", PHONEMES)) == []
    assert pipeline.unpronounceable == {"你": 1, "好": 1}
