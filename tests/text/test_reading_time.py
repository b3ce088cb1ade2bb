"""The time of every rule, and of every way to read a text, grows with the text's length, whatever is repeated in it."""

import math
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import pytest

from tests.growth import grows_with_the_length, limited_seconds
from tests.share import share
from tests.test_regular_expressions import SIGNS
from tests.text.letters import ESPEAK, KOKORO, LetterG2P
from text.markup.marked import MarkupKind
from text.markup.meanings import MarkupError
from text.markup.parse import parse_markup
from text.normalization.draft import Draft
from text.normalization.normalize import rules_of
from text.pipeline import TextPipeline
from text.sentences.growth import Growth
from text.sentences.sentences import lines_of_sentences
from text.units.segmentation import phoneme_sentences
from text.words.sanitize import sanitize

LANGUAGES = ("en-us", "de", "fr-fr", "es", "hi", "ja", "cmn")
BEGINNINGS = ("", "A ", "```\n", "<", "(")
Work = Callable[[str], object]


def by_rules(language: str) -> Iterator[tuple[str, Work]]:
    for name, rule, _ in rules_of(language.partition("-")[0]):
        yield f"{language} {name}", lambda text, rule=rule: rule(Draft(text, language))  # type: ignore[misc]


def by_readers(language: str) -> Iterator[tuple[str, Work]]:
    pipeline = TextPipeline(LetterG2P())
    for notation in (KOKORO, ESPEAK):
        yield f"{language} {notation.speaks}", lambda text, to=notation: list(pipeline.sentences(text, language, to))  # type: ignore[misc]
    yield f"{language} growing", lambda text: grown(text, language)
    yield f"{language} lines", lambda text: list(lines_of_sentences(sanitize(text), language))
    for kind in MarkupKind:
        yield f"{language} {kind}", lambda text, kind=kind: marked(kind, text, language)  # type: ignore[misc]
    yield "phonemes", lambda text: list(phoneme_sentences(text, KOKORO))


def grown(text: str, language: str) -> None:
    growth = Growth(language)
    for start in range(0, len(text), 1_000):
        growth.add(text[start : start + 1_000])
        while growth.take():
            pass
    growth.take_ended()


def marked(kind: MarkupKind, text: str, language: str) -> None:
    try:
        parse_markup(kind, f"<speak>{text}</speak>" if kind is MarkupKind.SSML else text, language, KOKORO)
    except MarkupError:
        pass


def slow_ones(works: Iterator[tuple[str, Work]], units: list[str], beginnings: tuple[str, ...]) -> list[str]:
    found = []
    for name, work in works:
        for begin, unit in product(beginnings, units):

            def run(length: int, work: Work = work, begin: str = begin, unit: str = unit) -> object:
                return work(begin + (unit * length)[:length])

            short, long = limited_seconds(partial(run, 400)), limited_seconds(partial(run, 1_600))
            # A window of a thousand characters makes a step there: beyond it, the time must grow with the length.
            if math.isinf(long) or (
                long > 7 * short + 0.004 and not any(grows_with_the_length(run, length) for length in (1_800, 12_000))
            ):
                found.append(f"{name}: {begin!r} {unit!r} …")
    return found


@pytest.mark.parametrize("works", [by_rules, by_readers])
def test_the_time_grows_with_the_length(works: Callable[[str], Iterator[tuple[str, Work]]]) -> None:
    drawn = ["".join(each) for each in random.Random(3).choices([*product(SIGNS, repeat=2)], k=8)]
    assert slow_ones(works("en-us"), [*':M<>*`["0', *drawn], ("",)) == []


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_time_grows_with_the_length_of_any_repetition(language: str) -> None:
    draw = random.Random(language)
    drawn = ["".join(draw.choices(SIGNS, k=length)) for length in (2, 3) for _ in range(60)]
    units = [*SIGNS, *drawn]
    units = draw.sample(units, share(len(units)))
    for works in (by_rules, by_readers):
        assert slow_ones(works(language), units, BEGINNINGS) == []
