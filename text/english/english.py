"""English grapheme to phoneme: misaki's lexicon and rules after a tokenizer and tagger of this project, or after
spaCy's tagger if it is installed.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from text.english.dictionary_file import DictionaryFile, Said
from text.english.fallback import ESPEAK_RATING, LETTERS_RATING, NOTHING_RATING, Fallback
from text.english.pronouncing import Pronouncer
from text.english.tagger import Tagger, best_tagger
from text.english.tokenizer import MAX_LEXICAL, tokens
from text.espeak import misaki
from text.words.word import PhonemeSource, Word

_log = logging.getLogger(__name__)

_NOUN_OR_VERB = frozenset(("NOUN", "VERB", "ADJ"))

_SOURCES: dict[int | None, PhonemeSource] = {
    ESPEAK_RATING: PhonemeSource.ESPEAK,
    LETTERS_RATING: PhonemeSource.LETTERS,
    NOTHING_RATING: PhonemeSource.NONE,
}


class English:
    def __init__(self, language: str, tagger: Tagger | None = None) -> None:
        """Index the lexicon; `python -m benchmarks.late_loading` measures it.

        Args:
            language: en-us or en-gb.
            tagger: gives the parts of speech; the best one that is installed by default.
        """
        lexicon = english_lexicon(british=language == "en-gb")
        self._fallback = Fallback(language, lexicon)
        self._tagger = tagger or best_tagger(Heteronyms(lexicon.golds))
        self._pronouncer = Pronouncer(misaki.english(), lexicon, self._fallback)

    def words(self, sentence: str) -> tuple[Word, ...]:
        texts = sentence.split()
        short = [text if len(text) <= MAX_LEXICAL else "" for text in texts]
        spoken = self._short_words(short)
        return tuple(
            self._monster(text) if len(text) > MAX_LEXICAL else spoken[place] for place, text in enumerate(texts)
        )

    def _short_words(self, texts: list[str]) -> list[Word]:
        try:
            return self._by_misaki(texts)
        except Exception:
            # misaki raises on some words (such as numbers that num2words can't say); halving isolates that word.
            if len(texts) == 1:
                _log.warning("misaki can't pronounce a part of a text, so espeak-ng does")
                _log.debug("it is %r", texts[0], exc_info=True)
                return [self._monster(texts[0])]
            half = len(texts) // 2
            return self._short_words(texts[:half]) + self._short_words(texts[half:])

    def _by_misaki(self, texts: list[str]) -> list[Word]:
        found = list(tokens(texts))
        parts: list[list[tuple[str, PhonemeSource]]] = [[] for _ in texts]
        if found:
            for token in self._pronouncer.pronounced(found, self._tagger.tags(texts, found)):
                parts[token.word].append((token.phonemes, _SOURCES.get(token.rating, PhonemeSource.LEXICON)))
        return [Word(text, *_joined(tuple(of_word))) for text, of_word in zip(texts, parts, strict=True)]

    def _monster(self, text: str) -> Word:
        """Pronounces text that is too long for the lexicon: espeak-ng reads it in pieces."""
        phonemes, rating = self._fallback(text)
        return Word(text, phonemes, _SOURCES[rating])


def _ends_word(phoneme: str) -> bool:
    return phoneme.isalnum() or phoneme in ".,;:!?…"


@lru_cache(4096)
def _joined(parts: tuple[tuple[str, PhonemeSource], ...]) -> tuple[str, PhonemeSource]:
    """Phonemes of a word that consists of these parts, and their least reliable source."""
    phonemes = ""
    for part, _ in parts:
        # A space separates two spoken words of one written word; a punctuation mark stays with the word before it.
        apart = phonemes and part and _ends_word(phonemes[-1]) and (part[0].isalnum() or part[0] in "ˈˌ")
        phonemes += " " + part if apart else part
    sources = {source for part, source in parts if any(map(str.isalpha, part))}
    return phonemes.strip(), PhonemeSource.weakest(sources)


def english_lexicon(british: bool, data: Path | None = None) -> Any:
    """misaki's lexicon of American or British English, whose dictionaries stay in their files. Its words are Python
    dicts, as misaki makes them, if its files can't be read in place: they lie in an archive, or a release of misaki
    writes them otherwise.

    Args:
        data: folder of the dictionaries; default: misaki's own.
    """
    folder = data or misaki.english_data()
    try:
        golds, silvers = (
            DictionaryFile(folder / f"{'gb' if british else 'us'}_{name}.json") for name in ("gold", "silver")
        )
    except (OSError, ValueError) as error:
        _log.info("misaki's dictionaries are read into memory (70 MB): %s", error)
        return misaki.english_lexicon(british, None, None)
    return misaki.english_lexicon(british, golds, silvers)


class Heteronyms(Container[str]):
    """The words that are pronounced differently as nouns, verbs or adjectives."""

    def __init__(self, golds: Mapping[str, Said]) -> None:
        self._golds = golds

    def __contains__(self, word: object) -> bool:
        return isinstance(said := self._golds.get(str(word)), dict) and not _NOUN_OR_VERB.isdisjoint(said)
