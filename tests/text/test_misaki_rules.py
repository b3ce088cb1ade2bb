"""misaki's rules for tokens that stand alone, against misaki's own loop over the whole sentence."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from text.english import english, misaki_rules
from text.english.tagger import LightTagger
from text.english.tokenizer import tokens
from text.espeak.misaki_import import misaki_en

_ODD = (
    "The twenty-one-year-old A-level student didn't want 3-D, B2B or 4,000.5 at $5, £3.20, or 20%: did you?",
    "I used to go to “Amster-dam” (in an ice-age), to a TO-do: rock 'n' roll—to I/O, e.g. kwyjibo's well-being…",
    "He'll ask: in? By the by, am I to? The 1990s' O'Neill, MacDonald's iPhone-like NASA-ISRO thing. $ 5 to ",
)


@pytest.fixture(scope="module")
def rules() -> misaki_rules.MisakiRules:
    return english.English("en-us", LightTagger())._misaki


def _sentences() -> list[str]:
    with Path(__file__).with_name("homographs.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [*_ODD, *(row["sentence"] for row in rows[::3])]


def test_tokens_that_stand_alone_sound_as_in_misakis_loop(rules: misaki_rules.MisakiRules) -> None:
    tagger = LightTagger()
    for sentence in _sentences():
        words = sentence.split()
        found = list(tokens(words))
        tags = tagger.tags(words, found)
        by_misaki, _ = rules._loop.run(found, tags, misaki_en().TokenContext())
        assert rules.pronounced(found, tags) == by_misaki, sentence


def test_a_common_word_is_looked_up_once(rules: misaki_rules.MisakiRules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag and a context decide the look-up; the context is no more than misaki's own."""
    found = list(tokens(["the", "apple", "and", "the", "pear", "and", "the", "apple"]))
    tags = ["DT", "NN", "CC", "DT", "NN", "CC", "DT", "NN"]
    first = rules.pronounced(found, tags)
    asked: list[str] = []
    monkeypatch.setattr(rules, "_lexicon", lambda token, context: asked.append(token.text) or ("", 4))
    assert rules.pronounced(found, tags) == first
    assert not asked
    assert [spoken.phonemes for spoken in first if spoken.word in (0, 3)] == ["ði", "ðə"]
