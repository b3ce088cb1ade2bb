"""Grapheme to phoneme for all languages: sentences in, words with phonemes of misaki's alphabet out."""

from __future__ import annotations

import importlib.metadata
import threading
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from shm.espeak_languages import LANGUAGE_FILES
from text.espeak import espeak
from text.words.language import EAST_ASIAN
from text.words.phoneme_cache import PhonemeCache
from text.words.word import PhonemeSource, Word

_RULES = 4
"""Version of the pronunciation rules. Raise it whenever a change in this folder gives the same text other phonemes."""

BY_RULE = "rules"
"""Key of `G2P.fallbacks` for words of a language that espeak-ng alone pronounces: no lexicon could have had them."""

_ENGLISH = frozenset(("en-us", "en-gb"))


class _Language(Protocol):
    def words(self, sentence: str) -> tuple[Word, ...]: ...


class G2P:
    """Pronounces sentences; each language's data is loaded at its first use. Thread-safe."""

    def __init__(self, cache_bytes: int = 8 << 20, pronounced: Callable[[str], None] | None = None) -> None:
        """Load nothing yet.

        Args:
            cache_bytes: limit of `cache.bytes`; 0 disables the cache.
            pronounced: callback for each word that `fallbacks` counts, with the same key; runs in the calling thread.
        """
        self.cache = PhonemeCache(cache_bytes)
        self.fallbacks: Counter[str] = Counter()
        """Words pronounced, by the `PhonemeSource` of their least reliable part, or by `BY_RULE`; cached words aren't
        counted again."""
        self._languages: dict[str, _Language] = {}
        self._lock = threading.RLock()
        self._version = ""
        """Value of `version`; empty until its first use."""
        self._pronounced = pronounced or (lambda _: None)

    @property
    def version(self) -> str:
        """Version of the pronunciation, which changes when the same text may get other phonemes. The first use loads
        espeak-ng.
        """
        # Another thread may be importing misaki with a stand-in for spaCy; until that ends, spaCy can't be looked up.
        with self._lock:
            self._version = self._version or _version()
            return self._version

    def load(self, language: str) -> None:
        """Load a language's data now, so that its first sentence doesn't wait for it.

        Raises:
            ValueError: no such language.
        """
        with self._lock:
            self._language(language)

    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        """Pronounced words, one for each of `sentence.split()`, in order.

        No text raises an error: a word that can't be pronounced has no phonemes and `PhonemeSource.NONE`.

        Args:
            language: one of `shm.espeak_languages.LANGUAGE_FILES`.

        Raises:
            ValueError: no such language.
            LanguageUnavailable: the packages that read Japanese or Mandarin aren't installed.
        """
        key = (sentence, language, self.version)
        if (cached := self.cache.get(key)) is not None:
            return cached
        with self._lock:
            words = self._language(language).words(sentence)
            for word in words:
                if word.source is not PhonemeSource.NONE:
                    has_lexicon = language in _ENGLISH | EAST_ASIAN
                    source = word.source.value if has_lexicon else BY_RULE
                    self.fallbacks[source] += 1
                    self._pronounced(source)
        self.cache.put(key, words)
        return words

    def _language(self, code: str) -> _Language:
        if code not in LANGUAGE_FILES:
            raise ValueError(f"no pronunciation for language {code!r}; there is one for {', '.join(LANGUAGE_FILES)}")
        if code not in self._languages:
            self._languages[code] = _load(code)
        return self._languages[code]


def _version() -> str:
    from text.english.taggers import tagger_name

    try:
        espeak_version = espeak.version()
    except espeak.EspeakUnavailable:
        espeak_version = "none"
    return f"{_RULES}/misaki-{importlib.metadata.version('misaki')}/espeak-ng-{espeak_version}/{tagger_name()}"


def _load(code: str) -> _Language:
    if code in _ENGLISH:
        from text.english.english import English

        return English(code)
    if code in EAST_ASIAN:
        from text.east_asian.east_asian import EastAsian

        return EastAsian(code)
    from text.espeak.espeak_g2p import EspeakG2P

    return EspeakG2P(code)
