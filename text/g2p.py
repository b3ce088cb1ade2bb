"""Grapheme to phoneme for all languages: sentences in, words with phonemes of misaki's alphabet out.

Pronounced sentences are kept, up to a number of bytes.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from shm.espeak.messages import LANGUAGE_FILES
from text.east_asian import missing
from text.english.foreign import ENGLISH, by_rules_of, origins
from text.espeak import espeak
from text.espeak.espeak_g2p import by_rule, spelled
from text.espeak.ipa import adapted
from text.lexicon import NO_LEXICON, Entry, Lexicon
from text.lexicon_formats import PARTS
from text.locales.tables import table
from text.words.language import EAST_ASIAN, languages
from text.words.segment import PhonemeSource, Word

Key = tuple[str, str, str]
"""Cache key: sentence, language, version of the pronunciation rules."""

_ENTRY_OVERHEAD = 400
"""Overhead of an entry in bytes: the dictionary's slot, the ordering's link and the key's tuple (measured with
tracemalloc: 330 to 400).
"""


class PhonemeCache:
    """Least-recently-used cache of pronounced sentences. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        """Args:
        limit_bytes: limit of `bytes`; 0 keeps no entry.
        """
        self._limit = limit_bytes
        self._entries: OrderedDict[Key, tuple[tuple[Word, ...], int]] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0
        self.bytes = 0
        """Size of all entries in bytes: `sys.getsizeof` of each string, word and tuple, plus `_ENTRY_OVERHEAD`."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> tuple[Word, ...] | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self.misses += 1
                return None
            self.hits += 1
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Key, words: tuple[Word, ...]) -> None:
        """Store a sentence's words, unless their size alone exceeds the limit."""
        size = size_of(key, words)
        with self._lock:
            if former := self._entries.pop(key, None):
                self.bytes -= former[1]
            if size > self._limit:
                return
            while self.bytes + size > self._limit:
                _, (_, freed) = self._entries.popitem(last=False)
                self.bytes -= freed
            self._entries[key] = (words, size)
            self.bytes += size


def size_of(key: Key, words: tuple[Word, ...]) -> int:
    """Size of an entry in bytes; the language and version strings are shared between entries and not counted."""
    texts = [text for word in words for text in (word.text, word.phonemes)]
    return _ENTRY_OVERHEAD + sum(map(sys.getsizeof, (key[0], words, *words, *texts)))


_RULES = 11
"""Version of the pronunciation rules. Raise it whenever a change in this folder gives the same text other phonemes."""

BY_RULE = "rules"
"""Key of `G2P.fallbacks` for words of a language that espeak-ng alone pronounces: no lexicon could have had them."""

_ENGLISH = frozenset(("en-us", "en-gb"))
_WITH_LEXICON = _ENGLISH | EAST_ASIAN
_SOURCES = tuple(source for source in PhonemeSource if source is not PhonemeSource.NONE)


class _Language(Protocol):
    def words(self, sentence: str) -> tuple[Word, ...]: ...


class G2P:
    """Pronounces sentences; each language's data is loaded at its first use. Thread-safe."""

    def __init__(self, cache_bytes: int = 8 << 20, pronounced: Callable[[str, int], None] | None = None) -> None:
        """Load nothing yet.

        Args:
            cache_bytes: limit of `cache.bytes`; 0 disables the cache.
            pronounced: callback for words that `fallbacks` counts, with the same key; runs in the calling thread.
        """
        self.cache = PhonemeCache(cache_bytes)
        self.fallbacks: Counter[str] = Counter()
        """Words pronounced, by the `PhonemeSource` of their least reliable part, or by `BY_RULE`; cached words aren't
        counted again."""
        self._languages: dict[str, _Language] = {}
        self._lock = threading.RLock()
        self._version = ""
        """Value of `version`; empty until its first use."""
        self.pronounced = pronounced or (lambda _, __: None)

    @property
    def version(self) -> str:
        """Version of the pronunciation, which changes when the same text may get other phonemes. The first use loads
        espeak-ng.
        """
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

    def has(self, language: str) -> bool:
        """True if that language's data is loaded."""
        return language in self._languages

    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        """Pronounced words, one for each of `sentence.split()`, in order.

        No text raises an error: a word that can't be pronounced has no phonemes and `PhonemeSource.NONE`.

        Args:
            language: one of `shm.espeak.messages.LANGUAGE_FILES`.

        Raises:
            ValueError: no such language.
            LanguageUnavailable: the packages that read Japanese or Mandarin aren't installed.
        """
        key = (sentence, language, self.version)
        if (cached := self.cache.get(key)) is not None:
            return cached
        with self._lock:
            words = self._language(language).words(sentence)
            sources = [word.source for word in words]
            for source in _SOURCES:
                if count := sources.count(source):
                    name = source.value if language in _WITH_LEXICON else BY_RULE
                    self.fallbacks[name] += count
                    self.pronounced(name, count)
        self.cache.put(key, words)
        return words

    def depends_on_sentence(self, word: str, language: str) -> bool:
        """True if any word of an English word's sentence may decide how it is pronounced; errors as of `words`."""
        from text.english.english import English

        with self._lock:
            known = self._language(language)
            return isinstance(known, English) and known.depends_on_sentence(word)

    def parts_of_speech(self, sentence: str, language: str) -> Sequence[str]:
        """Part of speech of each of `sentence.split()`, as `text.lexicon.PARTS` names it; empty for others and outside
        English. Errors as of `words`."""
        from text.english.english import English

        with self._lock:
            known = self._language(language)
            return known.parts_of_speech(sentence) if isinstance(known, English) else [""] * len(sentence.split())

    def readings(self, word: str, language: str) -> dict[str, str]:
        """Phonemes by part of speech, as `English.readings`; none outside English. Errors as of `words`."""
        from text.english.english import English

        with self._lock:
            known = self._language(language)
            return known.readings(word) if isinstance(known, English) else {}

    def _language(self, code: str) -> _Language:
        if code not in LANGUAGE_FILES:
            raise ValueError(f"no pronunciation for language {code!r}; there is one for {', '.join(LANGUAGE_FILES)}")
        if code not in self._languages:
            self._languages[code] = _load(code)
        return self._languages[code]


def _version() -> str:
    from text.english.tagger import tagger_name

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
        from text.east_asian import EastAsian

        return EastAsian(code)
    from text.espeak.espeak_g2p import EspeakG2P

    return EspeakG2P(code)


class MixedG2P:
    """Pronounces sentences with `G2P`, obviously foreign words in their own language (`languages`)."""

    def __init__(self, g2p: G2P) -> None:
        self._g2p = g2p

    def depends_on_sentence(self, word: str, language: str) -> bool:
        return self._g2p.depends_on_sentence(word, language)

    def parts_of_speech(self, sentence: str, language: str) -> Sequence[str]:
        return self._g2p.parts_of_speech(sentence, language)

    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        """Pronounced words, one for each of `sentence.split()`, in order; errors as of `G2P.words`."""
        texts = sentence.split()
        spoken_in = languages(texts, language)
        found = self._g2p.words(sentence, language)
        if all(code == language for code in spoken_in):
            return found
        words = list(found)
        for code, run in groupby(range(len(texts)), key=lambda place: spoken_in[place]):
            places = list(run)
            if code == language:
                continue
            if code in EAST_ASIAN and missing(code):
                code = "en-us"  # reads ideographs and kana with espeak-ng's voices of their languages
            foreign = self._g2p.words(" ".join(texts[place] for place in places), code)
            for place, word in zip(places, foreign, strict=True):
                if word.source is not PhonemeSource.NONE:
                    words[place] = replace(word, phonemes=adapted(word.phonemes, language))
        return tuple(words)


_MOST = 6
_LEAST_PROBABILITY = 0.01
_LEAST_OF_KNOWN = 0.1
"""The same for a word that the lexicon has."""
_FOREIGN = 3
"""Most origins in a voice of another language than English."""


class WayToSay(NamedTuple):
    phonemes: str
    """Phonemes of misaki's alphabet."""
    how: str
    """Origin of the phonemes: the source as it is read now, a language, the voice's rules, or letters."""
    probability: float | None = None
    """Probability that the word is of that language; None for the other ways."""
    origin: str | None = None
    """Code of that language."""
    part: str | None = None
    """Part of speech as which alone it is said so."""
    entry: Entry | None = None
    """The user's entry that says so."""


def ways_to_say(word: str, language: str, g2p: G2P, lexicon: Lexicon = NO_LEXICON) -> list[WayToSay]:
    """The user's entries, then each other pronunciation once, the one in use first.

    Args:
        word: a single word.
        language: a code of `LANGUAGE_FILES`. Outside English the sounds of other languages become the nearest ones,
            and origins have no probability, since the model knows English texts.
        lexicon: the user's, which precedes all others.
    """
    now = g2p.words(word, language)[0]
    source = now.source.value
    kept: list[WayToSay] = []
    for entry, match in lexicon.of_word(word, language):
        said = match.phonemes or " ".join(each.phonemes for each in g2p.words(match.respelling or "", language))
        how = f"as {entry.part} (your lexicon)" if entry.part else "now (your lexicon)"
        kept.append(WayToSay(said.strip(), how, part=entry.part, entry=entry))
    replaced = any(way.part is None for way in kept)
    found = [WayToSay(now.phonemes.strip(), f"{'otherwise' if replaced else 'now'} ({source})")]
    for part, phonemes in g2p.readings(word, language).items():
        found.append(WayToSay(phonemes, f"as {part}" if part else "otherwise", part=part if part in PARTS else None))
    english = language.startswith("en")
    latin = re.fullmatch("[A-Za-zÀ-ɏḀ-ỿ'’-]+", word)
    if latin and not english:
        english_way = adapted(g2p.words(word, "en-us")[0].phonemes.strip(), language)
        found.append(WayToSay(english_way, "English", origin=ENGLISH))
    if latin:
        least = _LEAST_OF_KNOWN if now.source is PhonemeSource.LEXICON else _LEAST_PROBABILITY
        likely = [each for each in origins(word) if each.language != ENGLISH and each.probability >= least]
        rules = table("en", "origins")
        for origin, probability in likely[: _MOST if english else _FOREIGN]:
            said = by_rules_of(word, origin, language if english else "en-us")
            name, known = rules[origin]["name"], probability if english else None
            found.append(WayToSay(said if english else adapted(said, language), name, known, origin))
    for how, way in (("rules", by_rule), ("letters", spelled)):
        found.append(WayToSay(way(word, language)[0].phonemes.strip(), how))
    ways = {way.phonemes: way for way in kept}
    for each in found:
        if each.phonemes:
            ways.setdefault(each.phonemes, each)
    return kept + [way for way in ways.values() if way.entry is None]
