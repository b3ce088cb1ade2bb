"""Dictionaries of misaki and tables of words, read in place: the same words, in a tenth of the memory."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from text.english.dictionary_file import DictionaryFile, UnknownLayout
from text.english.english import Heteronyms, english_lexicon
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
    def words(entry: object) -> list[str]:
        if isinstance(entry, dict):
            return [word for each in entry.items() for part in each for word in words(part)]
        if isinstance(entry, list):
            return [word for part in entry for word in words(part)]
        return [entry] if isinstance(entry, str) else []

    found = tables.table(file.parent.name, file.stem)
    empty = {"joint", "large", "nths", "numbered", "numbers", "of"}  # a language may have no word for these
    may_be_empty = file.stem in ("origins", "tex")  # some of their rows leave letters, sounds or signs out
    listed = [word for name, entry in found.items() if name not in empty for word in words(entry)]
    assert found and (may_be_empty or all(map(str.strip, listed)))


def test_every_locale_has_all_its_words() -> None:
    assert [len(locale_of(code).months) for code in tables.languages("locale")] == [12] * 5
    assert eastern_words("ja").japanese and not eastern_words("cmn").japanese


def test_a_language_without_a_table_has_no_words() -> None:
    assert tables.table("xx", "sentences") == {} and tables.words("xx", "never_last") == frozenset()
    assert locale_of("xx") is None
