"""misaki, the grapheme-to-phoneme library of Kokoro's makers, as far as it is used here: its English lexicon, its
alphabets, its map from espeak-ng's alphabet to its own, and its readers of Mandarin and Japanese.

At their top, misaki's modules import spaCy (seconds and hundreds of megabytes, `python -m benchmarks.late_loading`) and
phonemizer (which leaves temporary files), for classes that aren't used here. While the modules are executed, these
packages are absent: their names stand for nothing, and no other code of the process sees that.
"""

from __future__ import annotations

import builtins
import importlib.util
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_ABSENT = frozenset(("spacy", "phonemizer", "espeakng_loader"))
"""Packages that misaki's modules mention as they load. espeakng_loader raises where espeak-ng's data is missing, and
misaki's lexicon does without that data."""

ENGLISH = frozenset(("en-us", "en-gb"))

_lock = threading.Lock()


class _Absent:
    """Stands for whatever is imported from an absent package, and for what that gives when it is called."""

    def __getattr__(self, name: str) -> _Absent:
        return self

    def __call__(self, *args: object, **named: object) -> _Absent:
        return self


def _import(name: str, *args: Any, **named: Any) -> Any:
    return _Absent() if name.partition(".")[0] in _ABSENT else builtins.__import__(name, *args, **named)


def _module(name: str) -> Any:
    with _lock:
        return _loaded(name)


@cache
def _loaded(name: str) -> Any:
    spec = importlib.util.find_spec(f"misaki.{name}")
    if spec is None or spec.loader is None:
        raise ImportError(f"misaki has no module {name}")
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = vars(builtins) | {"__import__": _import}
    spec.loader.exec_module(module)
    return module


def english() -> Any:
    """`misaki.en`, without spaCy: its `G2P` can't be made."""
    return _module("en")


def english_data() -> Path:
    return Path(english().__file__).with_name("data")


def english_lexicon(british: bool, golds: Mapping[str, Any] | None, silvers: Mapping[str, Any] | None) -> Any:
    """`misaki.en.Lexicon` over two dictionaries; None: over misaki's own, which it reads into memory (70 MB)."""
    en = english()
    if golds is None or silvers is None:
        return en.Lexicon(british)
    lexicon = en.Lexicon.__new__(en.Lexicon)
    lexicon.british, lexicon.golds, lexicon.silvers = british, golds, silvers
    lexicon.cap_stresses = 0.5, 2
    return lexicon


def alphabet(language: str) -> frozenset[str]:
    """Phonemes of en-us or en-gb."""
    en = english()
    return frozenset(en.GB_VOCAB if language == "en-gb" else en.US_VOCAB | {"T"})


def from_espeak(ipa: str, language: str) -> str:
    """Phonemes of misaki's alphabet for espeak-ng's IPA (tied with ^), by misaki's own map for the language."""
    found: str = _map(language)(SimpleNamespace(text=ipa) if language in ENGLISH else ipa)[0]
    return found


@cache
def _map(language: str) -> Any:
    espeak = _module("espeak")
    mapping = espeak.EspeakFallback(british=language == "en-gb") if language in ENGLISH else espeak.EspeakG2P(language)
    mapping.backend = _Echo()
    return mapping


class _Echo:
    """A backend with phonemizer's interface, whose texts are phonemes already."""

    def phonemize(self, texts: list[str]) -> list[str]:
        return texts


def mandarin() -> Callable[[str], str]:
    """misaki's reader of Mandarin: a text's phonemes."""
    import platformdirs

    zh = importlib.import_module("misaki.zh")
    # jieba would otherwise log its loading on stderr, and leave its cache in the temporary folder.
    folder = Path(platformdirs.user_cache_dir("kokoro-live"))
    folder.mkdir(parents=True, exist_ok=True)
    zh.jieba.setLogLevel(logging.WARNING)
    zh.jieba.dt.tmp_dir = str(folder)
    zh.ZHG2P.py2ipa = staticmethod(cache(zh.ZHG2P.py2ipa))  # of some 1,500 syllables
    g2p = zh.ZHG2P()
    return lambda text: g2p(text)[0]


class _Kind(int):
    """Kind of a word's characters, unlike that of a word so far before that no listed word has both."""

    end = reach = 0

    def __ne__(self, other: object) -> bool:
        return int(self) != other or self.end > getattr(other, "reach", self.end)


def japanese() -> Callable[[str], str]:
    """misaki's reader of Japanese: a text's phonemes."""
    # Cutlet's readings are those that Kokoro v1.0 was trained with; `misaki.ja` would need pyopenjtalk as well.
    cutlet: Any = importlib.import_module("misaki.cutlet")
    longest: dict[str, int] = {}
    for listed in cutlet.JA_WORDS:
        longest[listed[:1]] = max(longest.get(listed[:1], 0), len(listed))

    class Reader(cutlet.Cutlet):  # type: ignore[misc]
        """Compares no more words with those of the list than may be one: else its time grows with their square."""

        def _romaji_tokens(self, words: Sequence[Any]) -> Any:
            end = 0
            for word in words:
                word.char_type = _Kind(word.char_type)
                word.char_type.reach = end + longest.get(word.surface[:1], 0)
                word.char_type.end = end = end + len(word.surface)
            return super()._romaji_tokens(words)

    g2p = Reader()
    return lambda text: g2p(text)[0]
