"""Grapheme to phoneme for Japanese and Mandarin with misaki's own readers, which need the extras `ja` and `zh`."""

from __future__ import annotations

import importlib.util
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from kokoro_live.installation import this_installation
from text.english.english import English
from text.errors import TextError
from text.espeak import misaki
from text.espeak.espeak_g2p import EspeakG2P
from text.locales.tables import table
from text.normalization.eastern.needs import Signs
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


_LATIN = re.compile(r"([A-Za-z\u00c0-\u024f](?:[A-Za-z\u00c0-\u024f'’-]*[A-Za-z\u00c0-\u024f])?)")
"""Runs of Latin letters; misaki's Mandarin reader returns them unchanged, as if they were phonemes."""

_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")
"""A letter that isn't Latin."""


_Said = str | Callable[[re.Match[str]], str]


@cache
def _readings(language: str) -> tuple[Signs, tuple[tuple[re.Pattern[str], _Said, list[int]], ...]]:
    rows = table(language, "readings")
    words: Iterable[tuple[str, _Said]] = rows["words"].items()
    counted = [_counters(rows["counters"], rows["digits"])] if "counters" in rows else []
    signs, listed = Signs(), ((re.compile(pattern), said) for pattern, said in (*words, *counted))
    return signs, tuple((pattern, said, signs.needed(pattern)) for pattern, said in listed)


def _counters(rows: Mapping[str, str], digits: Mapping[str, str]) -> tuple[str, _Said]:
    """Pattern of numbers' last digits with their counters, which change each other's sound: サンボン, ロッピキ."""
    sounds = [[sound for sound in row.split() if sound[0] not in digits] for row in rows.values()]
    own = [{sound[0]: sound[1:] for sound in row.split() if sound[0] in digits} for row in rows.values()]

    def said(match: re.Match[str]) -> str:
        last, row = match["last"], (match.lastindex or 0) - 3
        (plain, *changed), number = sounds[row], own[row].get(last, digits[last])
        before = "".join(digits[ten] for ten in match["tens"])
        if last[-1] in "千万何" and len(changed) < 2:
            return match[0]
        if last[-1] in "千万何" or last == "三":
            return before + number + (changed[1] if len(changed) > 1 else plain)
        if changed and last[-1] in ("一六八十百" if changed[0][0] in "カキケコパピプペポ" else "一八十"):
            return f"{before}{number[:-1]}ッ{changed[0]}"
        return before + number + plain

    number = (
        "(?P<tens>(?:[二三四五六七八九]?十(?=[一二三四五六七八九])|[二三四五六七八九](?=十))?)"
        "(?P<last>[三六八]百|三千|[一二三四五六七八九十百千万何])"
    )
    return f"{number}(?:{'|'.join(f'({counter})' for counter in rows)})", said


def by_neighbours(text: str, language: str) -> str:
    """Text in which words of several readings are written by the sound that their neighbours give them."""
    signs, readings = _readings(language)
    lacking = signs.lacking(frozenset(text))
    for pattern, said, ways in readings:
        for way in ways:
            if not way & lacking:
                text = pattern.sub(said, text)
                lacking = signs.lacking(frozenset(text))
                break
    return text


_SIGNS = frozenset("→↗↓↘ ").union(MARKS.values())
"""Characters of misaki's alphabet that are no letters; its readers give some signs of the text back as well."""


@cache
def _phoneme(sign: str) -> str:
    marked = MARKS.get(sign, sign)
    return marked if marked.isalpha() or marked in _SIGNS else ""


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
            return misaki.mandarin() if self._language == "cmn" else misaki.japanese()
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
            found = map(_phoneme, self._misaki(by_neighbours(text, self._language)))
            phonemes = "".join(found).replace(" ː", "ː")  # a long vowel that misaki cuts in two
            if any(map(str.isalpha, phonemes)):
                return Word(text, phonemes, PhonemeSource.LEXICON)
        except Exception:
            _log.warning("misaki can't pronounce a part of a text, so espeak-ng does")
            _log.debug("it is %r", text[:80], exc_info=True)
        return self._espeak.words(text)[0]
