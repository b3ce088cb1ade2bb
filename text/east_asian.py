"""Grapheme to phoneme for Japanese and Mandarin with misaki's own readers, which need the extras `ja` and `zh`."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from kokoro_live.installation import this_installation
from text.english.english import English
from text.errors import TextError
from text.espeak.espeak_g2p import EspeakG2P
from text.locales.tables import table
from text.words.punctuation import MARKS
from text.words.segment import PhonemeSource, Word

_log = logging.getLogger(__name__)

_NAMES = {"ja": "Japanese", "cmn": "Mandarin Chinese"}
_EXTRAS = {"ja": "ja", "cmn": "zh"}
_PACKAGES = {
    "ja": ("fugashi", "unidic_lite", "jaconv", "mojimoji"),
    "cmn": ("cn2an", "jieba", "ordered_set", "pypinyin", "pypinyin_dict"),
}


class LanguageUnavailable(TextError):
    """Error 400: the packages that read a language aren't installed. Its message has the command that installs them."""

    def __init__(self, language: str, reason: str) -> None:
        name, extra = _NAMES[language], _EXTRAS[language]
        super().__init__(
            f"{name} can't be read here yet ({reason}). Install its packages with "
            f"`{this_installation().add(extra)}`, and start again.",
            param="lang",
            code="language_unavailable",
        )


def missing(language: str) -> str:
    """Missing packages for ja or cmn, joined with commas; "" if all are installed."""
    return ", ".join(name for name in _PACKAGES[language] if importlib.util.find_spec(name) is None)


_LATIN = re.compile(r"([A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’-]*)")
"""Runs of Latin letters; misaki's Mandarin reader returns them unchanged, as if they were phonemes."""

_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")
"""A letter that isn't Latin."""


@cache
def _readings(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), said) for pattern, said in table(language, "readings")["words"].items())


def by_neighbours(text: str, language: str) -> str:
    """Text in which words of several readings are written by the sound that their neighbours give them."""
    for pattern, said in _readings(language):
        text = pattern.sub(said, text)
    return text


_MAX_PIECE = 400
"""Most characters in one call to misaki."""


class EastAsian:
    """Pronounces each run of text between two spaces as one word, since both languages write no spaces between words.

    Latin words are pronounced as English: English phonemes are in the same alphabet, which all voices know. They need
    no extra.
    """

    def __init__(self, language: str) -> None:
        """Args:
        language: ja or cmn.
        """
        self._language = language
        self._espeak = EspeakG2P(language)
        self._english: English | None = None
        self._misaki: Callable[[str], str] | None = None

    def words(self, sentence: str) -> tuple[Word, ...]:
        """
        Raises:
            LanguageUnavailable: the sentence has other than Latin letters, and the language's extra isn't installed, or
                its dictionary doesn't load.
        """
        if self._misaki is None and (missing(self._language) and not _OTHER_LETTER.search(sentence)):
            return self._latin(sentence)
        return tuple(self._word(text) for text in sentence.split())

    def _latin(self, text: str) -> tuple[Word, ...]:
        if self._english is None:
            self._english = English("en-us")
        return self._english.words(text)

    def _load(self) -> Callable[[str], str]:
        if names := missing(self._language):
            raise LanguageUnavailable(self._language, f"missing: {names}")
        try:
            return _mandarin() if self._language == "cmn" else _japanese()
        except Exception as error:
            _log.warning("%s doesn't load: %s: %s", _NAMES[self._language], type(error).__name__, error)
            raise LanguageUnavailable(self._language, f"{type(error).__name__}: {error}") from error

    def _word(self, text: str) -> Word:
        if self._misaki is None:
            self._misaki = self._load()
        phonemes = ""
        sources = set()
        for run in filter(None, _LATIN.split(text)):
            for start in range(0, len(run), _MAX_PIECE):
                part = self._part(run[start : start + _MAX_PIECE])
                sources.add(part.source)
                latin = _LATIN.match(run) is not None
                phonemes += f" {part.phonemes} " if latin or part.source is PhonemeSource.ESPEAK else part.phonemes
        return Word(text, " ".join(phonemes.split()), PhonemeSource.weakest(sources))

    def _part(self, text: str) -> Word:
        if _LATIN.match(text):
            return self._latin(text)[0]
        try:
            assert self._misaki is not None
            phonemes = self._misaki(by_neighbours(text, self._language))
            if any(map(str.isalpha, phonemes)):
                return Word(text, phonemes, PhonemeSource.LEXICON)
        except Exception:
            _log.warning("misaki can't pronounce a part of a text, so espeak-ng does")
            _log.debug("it is %r", text[:80], exc_info=True)
        return self._espeak.words(text)[0]


def _mandarin() -> Callable[[str], str]:
    import platformdirs

    zh = importlib.import_module("misaki.zh")
    # jieba would otherwise log its loading on stderr, and leave its cache in the temporary folder.
    cache = Path(platformdirs.user_cache_dir("kokoro-live"))
    cache.mkdir(parents=True, exist_ok=True)
    zh.jieba.setLogLevel(logging.WARNING)
    zh.jieba.dt.tmp_dir = str(cache)
    g2p = zh.ZHG2P()

    def phonemes(text: str) -> str:
        return "".join(MARKS.get(phoneme, phoneme) for phoneme in g2p(text)[0])

    return phonemes


def _japanese() -> Callable[[str], str]:
    # Cutlet's readings are those that Kokoro v1.0 was trained with; `misaki.ja` would need pyopenjtalk as well.
    g2p = importlib.import_module("misaki.cutlet").Cutlet()

    def phonemes(text: str) -> str:
        found: str = g2p(text)[0]
        return "".join(MARKS.get(phoneme, phoneme) for phoneme in found)

    return phonemes
