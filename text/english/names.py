"""Names, brands, foreign and technical words that misaki's dictionaries lack or say otherwise than English speakers do.

They are in `text/locales/en/names/`: a word, its IPA, and the language or field that it is from, separated by tabs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from text.english.dictionary_file import Said
from text.english.foreign import in_dialect, without_diacritics
from text.locales import tables

_FOLDER = Path(tables.__file__).parent / "en" / "names"


@cache
def names() -> dict[str, str]:
    """Dictionaries' IPA by word, as `in_dialect` takes it."""
    found: dict[str, str] = {}
    for file in sorted(_FOLDER.glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                word, ipa, _ = line.split("\t")
                found[word] = ipa
    return found


@cache
def _otherwise() -> dict[str, str]:
    """The names in lower case and without their diacritics, as many people write them."""
    plain = {without_diacritics(word): word for word in names() if not word.isascii()}
    capitals = {written.capitalize(): word for written, word in plain.items() if written}
    return {written.lower(): word for written, word in (plain | {word: word for word in names()}).items()} | capitals


class WithNames(Mapping[str, Said]):
    """A dictionary of misaki's with the names in it. A name in lower case or without its diacritics is found
    if the dictionary lacks the word."""

    def __init__(self, words: Mapping[str, Said], language: str) -> None:
        """Args:
        language: en-us or en-gb.
        """
        self._words = words
        self._language = language
        self._said: dict[str, str] = {}

    def __getitem__(self, word: str) -> Said:
        found: Said | None = self.get(word)
        if found is None:
            raise KeyError(word)
        return found

    def get(self, word: str, default: Any = None) -> Any:
        if word in names():
            return self._name(word)
        if (found := self._words.get(word)) is not None:
            return found
        name = _otherwise().get(word)
        return default if name is None else self._name(name)

    def __contains__(self, word: object) -> bool:
        return word in names() or word in self._words or word in _otherwise()

    def __iter__(self) -> Iterator[str]:
        yield from self._words
        yield from (word for word in names() if word not in self._words)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _name(self, word: str) -> str:
        if word not in self._said:
            self._said[word] = in_dialect(names()[word], self._language)
        return self._said[word]
