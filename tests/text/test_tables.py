"""The tables of words: each file is read as what the rules expect of it."""

from pathlib import Path

import pytest

from text.locales import tables
from text.normalization.eastern.eastern import eastern_words
from text.normalization.western.words import locale_of

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
