"""Rules of expression: each finds words in sentences made up for it, and none in texts that only look so."""

import pytest

from benchmarks.inflections.rules import TEMPLATES, made_up
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


@pytest.mark.parametrize("rule", TEMPLATES)
def test_a_rule_finds_words_in_all_its_sentences_and_no_other_rule_does(rule: str) -> None:
    for text in made_up(rule, 30):
        assert set(inflected(text).values()) == {RULES[rule].inflection}, text
        assert inflected(text, "es") == {}
        assert inflected(text, emphasis=0.0) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She packed apples, green pears, and bread for the trip.", "apples, pears,"),
        ("The bridge (built by her uncle) was closed.", "(built by her uncle)"),
        ("The bridge -- built by her uncle -- was closed.", "built by her uncle"),
        ("Would you like strong black tea or coffee?", "tea"),
        ("“Come in!” said Anna.", "said Anna."),
        ('Anna said, "Come in."', "Anna said,"),
        ("# The old mill\n\nIt stood by the river.", "The old mill"),
    ],
)
def test_the_words_of_a_rule(text: str, words: str) -> None:
    assert " ".join(inflected(text)) == words


@pytest.mark.parametrize(
    "text",
    [
        "(See the next page.)",
        "The values of f(x) and g(x) differ, and so do the word(s) in it.",
        "It was late — too late.",
        "The trip from nine to five took eight hours - or more.",
        "She came home, and the lights were off.",
        "If it rains, stay inside, because the roof of the shed that we built last year leaks.",
        "Tea or coffee is served at four.",
        "It was so-called “art” for the rich.",
        "The word “said” is a verb.",
        "On 3 May 2021, in London, it rained.",
        "Well, John, where were you?",
        "Are you ready or not?",
    ],
)
def test_texts_that_only_look_so(text: str) -> None:
    assert not inflected(text).keys() - {"not?"}, inflected(text)


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
