"""misaki's English lexicon with its dictionaries read in place (`text.english.dictionary_file`)."""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from text.english.dictionary_file import DictionaryFile, Said
from text.espeak.misaki_import import misaki_en

_log = logging.getLogger(__name__)

_NOUN_OR_VERB = frozenset(("NOUN", "VERB", "ADJ"))


def misaki_lexicon(british: bool, data: Path | None = None) -> Any:
    """`misaki.en.Lexicon` of American or British English. Its words are Python dicts, as misaki makes them, if its
    files can't be read in place: they lie in an archive, or a release of misaki writes them otherwise.

    Args:
        data: folder of the dictionaries; default: misaki's own.
    """
    en = misaki_en()
    folder = data or Path(en.__file__).with_name("data")
    try:
        golds, silvers = (
            DictionaryFile(folder / f"{'gb' if british else 'us'}_{name}.json") for name in ("gold", "silver")
        )
    except (OSError, ValueError) as error:
        _log.info("misaki's dictionaries are read into memory (70 MB): %s", error)
        return en.Lexicon(british)
    return _in_place(en, british, golds, silvers)


def _in_place(en: Any, british: bool, golds: DictionaryFile, silvers: DictionaryFile) -> Any:
    class InPlace(en.Lexicon):  # type: ignore[misc]
        def __init__(self) -> None:
            self.british = british
            self.cap_stresses = (0.5, 2)
            self.golds = golds
            self.silvers = silvers

    return InPlace()


class Heteronyms(Container[str]):
    """The words that are pronounced differently as nouns, verbs or adjectives."""

    def __init__(self, golds: Mapping[str, Said]) -> None:
        self._golds = golds

    def __contains__(self, word: object) -> bool:
        return isinstance(said := self._golds.get(str(word)), dict) and not _NOUN_OR_VERB.isdisjoint(said)
