"""A step of reading that fails at one sentence: all sentences are spoken, in order, and the failure is counted once."""

import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.text.letters import ESPEAK, KOKORO, LetterG2P
from text import passages, pipeline
from text.english.english import English
from text.espeak.espeak_g2p import EspeakG2P
from text.g2p import G2P
from text.given import Given
from text.lexicon import Lexicon, read_entries
from text.normalization import normalize
from text.normalization.draft import Draft
from text.normalization.english import english
from text.pipeline import TextPipeline
from text.units import pacing
from text.words.segment import Notation

SENTENCES = ["The first cat sat on 10 cm.", "A Zebra ran 5 km to [it](/x).", "The last dog slept."]
BOOK = Lexicon(read_entries(b"ran\tsprinted\n")[0])


def names_the_zebra(value: object) -> bool:
    return "zebra" in (value.sentence if isinstance(value, Draft) else repr(value)).lower()


def failing(step: Callable[..., Any]) -> Callable[..., Any]:
    def failed(*args: Any, **named: Any) -> Any:
        if any(map(names_the_zebra, args)):
            raise ValueError(f"it was a {'zebra'.title()}")
        return step(*args, **named)

    return failed


@pytest.fixture
def fresh_rules() -> Iterator[None]:
    normalize._rules_on.cache_clear()
    yield
    normalize._rules_on.cache_clear()


def heard(made: TextPipeline, text: str, language: str, notation: Notation) -> str:
    units = [unit for sentence in made.sentences(text, language, notation) for unit in sentence]
    assert all(unit.script for unit in units)
    return " ".join(word.written for unit in units for word in unit.words if word.written)


def speaks_all(made: TextPipeline, text: str, language: str, notation: Notation) -> bool:
    return heard(made, text, language, notation).split() == text.split()


@pytest.mark.parametrize("rule", range(len(english.RULES)), ids=[rule.name for rule in english.RULES])
@pytest.mark.parametrize("notation", [KOKORO, ESPEAK], ids=["phonemes", "text"])
def test_a_rule_that_fails_costs_its_sentence_the_rules(
    rule: int,
    notation: Notation,
    monkeypatch: pytest.MonkeyPatch,
    fresh_rules: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    rules = list(english.RULES)
    rules[rule] = rules[rule]._replace(rewrite=failing(rules[rule].rewrite), needed=re.compile(""))
    monkeypatch.setattr(english, "RULES", tuple(rules))
    misread: list[None] = []
    made = TextPipeline(LetterG2P(), misread=lambda: misread.append(None))
    text = " ".join(SENTENCES)
    assert speaks_all(made, text, "en-us", notation)
    assert len(misread) == 1
    (record,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert f"at character {text.index('A Zebra')}: ValueError" in record.getMessage()
    assert "in failed" in record.getMessage() and "was a Zebra" not in record.getMessage()


STEPS: list[tuple[object, str, str]] = [
    (normalize, "plain", "en-us"),
    (normalize, "sentences", "en-us"),
    (normalize, "chunks", "en-us"),
    (passages, "passages", "en-us"),
    (Given, "keeps", "en-us"),
    (Given, "words", "en-us"),
    (G2P, "words", "en-us"),
    (English, "words", "en-us"),
    (EspeakG2P, "words", "es"),
    (EspeakG2P, "_give", "es"),
    (pacing, "paced_units", "en-us"),
    (pacing, "with_pause", "en-us"),
    (pacing, "with_inner_pauses", "en-us"),
]


@pytest.mark.parametrize(("owner", "name", "language"), STEPS, ids=[each[1] for each in STEPS])
def test_a_step_that_fails_costs_its_sentence_that_step(
    owner: object, name: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, failing(getattr(owner, name)))
    misread: list[None] = []
    made = TextPipeline(G2P(), lexicon=lambda: BOOK, misread=lambda: misread.append(None))
    # In paragraphs of their own: Markdown is read by the paragraph.
    assert speaks_all(made, "\n\n".join(SENTENCES), language, KOKORO)
    assert len(misread) == (2 if name == "chunks" else 1)  # which is given the whole text


def test_letters_are_the_last_way_and_then_the_request_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    made = TextPipeline(G2P())
    monkeypatch.setattr(G2P, "words", failing(G2P.words))
    monkeypatch.setattr(pipeline, "by_rule", failing(pipeline.by_rule))
    assert speaks_all(made, " ".join(SENTENCES), "en-us", KOKORO)
    monkeypatch.setattr(pipeline, "spelled", failing(pipeline.spelled))
    given = made.sentences(" ".join(SENTENCES), "en-us", KOKORO)
    assert "cat" in " ".join(unit.text for unit in next(given))
    with pytest.raises(ValueError) as failure:
        list(given)
    assert failure.value.__notes__ == ["at character 28 of the text"]


def test_rules_that_fail_at_every_sentence_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def fail(*_: object) -> None:
        nonlocal calls
        calls += 1
        raise ValueError

    monkeypatch.setattr(normalize, "plain", fail)
    text = "It rains. " * 2_000
    assert speaks_all(TextPipeline(LetterG2P()), text, "en-us", KOKORO)
    assert calls < 50
