"""Japanese and Mandarin by misaki's own modules, if what they need is installed (extras `ja` and `zh`)."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable
from pathlib import Path

from frontend.text.espeak_g2p import EspeakG2P
from frontend.text.punctuation import MARKS
from frontend.text.word import Source, Word

_log = logging.getLogger(__name__)

_NAMES = {"ja": "Japanese", "cmn": "Mandarin"}
_INSTALL = {"ja": "the extra `ja`, then run `python -m unidic download`", "cmn": "the extra `zh`"}

_LATIN = re.compile(r"([A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’-]*)")
"""misaki's Mandarin gives such letters back as they are, as if they were phonemes."""

_MAX_PIECE = 400
"""Characters that are given to misaki at once."""


class EastAsian:
    """Pronounces what stands between spaces as one word, since these languages put none between theirs."""

    def __init__(self, language: str) -> None:
        """Args:
        language: ja or cmn.
        """
        self._espeak = EspeakG2P(language)
        self._misaki: Callable[[str], str] | None = None
        try:
            self._misaki = _mandarin() if language == "cmn" else _japanese()
        except Exception as error:  # ImportError, or whatever a dictionary that wasn't downloaded leads to
            _log.warning(
                "%s is pronounced by espeak-ng, which is poor at it (%s: %s): install %s",
                _NAMES[language],
                type(error).__name__,
                error,
                _INSTALL[language],
            )

    def words(self, sentence: str) -> tuple[Word, ...]:
        return tuple(self._word(text) for text in sentence.split())

    def _word(self, text: str) -> Word:
        if self._misaki is None:
            return self._espeak.words(text)[0]
        phonemes = ""
        sources = set()
        for run in filter(None, _LATIN.split(text)):
            for start in range(0, len(run), _MAX_PIECE):
                part = self._part(run[start : start + _MAX_PIECE], self._misaki)
                sources.add(part.source)
                phonemes += f" {part.phonemes} " if part.source is Source.ESPEAK else part.phonemes
        weakest = next((source for source in (Source.ESPEAK, Source.LEXICON) if source in sources), Source.NONE)
        return Word(text, " ".join(phonemes.split()), weakest)

    def _part(self, text: str, misaki: Callable[[str], str]) -> Word:
        if not _LATIN.match(text):
            try:
                phonemes = misaki(text)
                if any(map(str.isalpha, phonemes)):
                    return Word(text, phonemes, Source.LEXICON)
            except Exception:
                _log.warning("misaki can't pronounce a part of a text, so espeak-ng does")
                _log.debug("it is %r", text[:80], exc_info=True)
        return self._espeak.words(text)[0]


def _mandarin() -> Callable[[str], str]:
    import platformdirs

    zh = importlib.import_module("misaki.zh")
    # jieba would say on stderr that it loads, and leave its cache in the temporary folder.
    cache = Path(platformdirs.user_cache_dir("kokoro-live"))
    cache.mkdir(parents=True, exist_ok=True)
    zh.jieba.setLogLevel(logging.WARNING)
    zh.jieba.dt.tmp_dir = str(cache)
    g2p = zh.ZHG2P()

    def phonemes(text: str) -> str:
        return "".join(MARKS.get(phoneme, phoneme) for phoneme in g2p(text)[0])

    return phonemes


def _japanese() -> Callable[[str], str]:
    g2p = importlib.import_module("misaki.ja").JAG2P()

    def phonemes(text: str) -> str:
        found: str = g2p(text)[0]
        return found.replace(g2p.unk, "")

    return phonemes
