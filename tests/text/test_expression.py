"""The list of rules of expression, and their degree."""

from __future__ import annotations

import pytest

from benchmarks.measuring.evaluation.sentences import middling
from tests.text.letters import LetterG2P
from tests.text.test_prosody import KOKORO
from text.pipeline import TextPipeline
from text.units.expression import RULES

_pipeline = TextPipeline(LetterG2P())


def inflected(text: str, language: str = "en-us", emphasis: float = 1.0) -> dict[str, object]:
    """Words of the text that are inflected, with their inflections."""
    sentences = _pipeline.emphasising(emphasis).sentences(text, language, KOKORO)
    words = [word for sentence in sentences for unit in sentence for word in unit.words]
    return {word.written: word.inflection for word in words if word.inflection}


def test_ordinary_sentences_stay_as_they_are() -> None:
    plain = [text for text in middling() if not set(text) & set('?!*(…—"“') and text.count(",") < 2]
    assert len(plain) >= 15
    assert [text for text in plain if inflected(text)] == []


@pytest.mark.parametrize(
    ("text", "word", "rule"),
    [
        ("It is **very** late.", "**very**", "marked"),
        ("It is VERY late.", "VERY", "shouted"),
        ("Are you there?", "there?", "question"),
    ],
)
def test_emphasis_is_the_degree_of_every_rule(text: str, word: str, rule: str) -> None:
    own = RULES[rule].inflection
    for degree in (0.5, 1.0, 2.0):
        assert inflected(text, emphasis=degree) == {word: own.times(degree)}
    assert inflected(text, emphasis=0.0) == {}
    assert own.times(2.0).times(0.5) == own
    assert (inflected(text, "es") == {}) is RULES[rule].english
