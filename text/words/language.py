"""Languages: that of a request, which it names or its voice speaks, and those of foreign words in its text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from shm.engine_info import KOKORO_LETTERS, VoiceInfo
from shm.messages import Voice
from text.locales.tables import words

DEFAULT = "en-us"

EAST_ASIAN = frozenset(("ja", "cmn"))
"""Languages without spaces between words: Japanese and Mandarin."""

_NAMES = {"en": "en-us", "en-uk": "en-gb", "fr": "fr-fr", "pt": "pt-br", "zh": "cmn"}
_CODES = {code: code for code in KOKORO_LETTERS.values()} | _NAMES | KOKORO_LETTERS


_MOST_SUBTAGS = 8


class UnknownLanguage(ValueError):
    """Error for a request that names a language without a voice. Its message lists the accepted codes."""

    def __init__(self, lang: str, codes: Iterable[str] = _CODES) -> None:
        super().__init__(
            f"unknown language {lang[:40]!r}; accepted are {', '.join(sorted(set(codes) - KOKORO_LETTERS.keys()))}, "
            f"these with a region or script (es-MX, zh-Hans), and Kokoro's letters {', '.join(sorted(KOKORO_LETTERS))}"
        )


def language_of(voice: Voice, voices: Iterable[VoiceInfo], named: str | None = None) -> str:
    """Language code as espeak-ng names it: that of `named` if given, else that of the blend's heaviest voice.

    Args:
        voice: names from `voices`.
        voices: the engine's.

    Raises:
        UnknownLanguage: `named` is given, and is neither one of ours nor a language of the voices.
    """
    if named is not None and named.strip():
        return language_code(named, voices)
    heaviest, _ = max(voice, key=lambda part: part[1], default=("", 0.0))
    return next((each.language for each in voices if each.name == heaviest), DEFAULT)


def language_code(named: str, voices: Iterable[VoiceInfo] = ()) -> str:
    """The code of a language that a request, a file or a setting names.

    Unknown regions and scripts are ignored, as in RFC 4647's lookup: `es-MX` is `es`, `en-AU` is `en`.

    Args:
        voices: an engine's, which may speak languages of their own.

    Raises:
        UnknownLanguage: neither we nor a voice know the language.
    """
    codes = {each.language: each.language for each in voices} | _CODES
    # No code has more subtags. The loop below looks at each, in a time that grows with the square of their number.
    tag = "-".join(named.strip().lower().replace("_", "-").split("-", _MOST_SUBTAGS)[:_MOST_SUBTAGS])
    while tag not in codes:
        tag, separator, _ = tag.rpartition("-")
        # Kokoro's one-letter codes count only alone: in a longer tag a letter has another meaning (`a-x`, `i-klingon`).
        if not separator or tag in KOKORO_LETTERS:
            raise UnknownLanguage(named, codes)
    return codes[tag]


_LOCALES = {"cmn": "zh-CN", "es": "es-ES", "hi": "hi-IN", "it": "it-IT", "ja": "ja-JP"}


def locale_of(language: str) -> str:
    """The tag with a region (BCP 47) of a language code.

    >>> [locale_of(language) for language in ("en-gb", "es", "sw")]
    ['en-GB', 'es-ES', 'sw']
    """
    name, dash, region = language.partition("-")
    return _LOCALES.get(language, name + dash + region.upper())


_LEAST_QUOTED = 3
_LEAST_SENTENCE = 4
"""Fewest words of a quotation, and of a whole sentence, that are judged by their function words."""

_LEAST_HITS = 2
"""Fewest function words of another language that a whole sentence must have; a quotation needs one."""

_LEAST_SHARE = 0.25
"""Smallest share of words that are another language's function words."""

_LEAST_SHARE_OF_TEXT = 0.15
_TIMES_OWN = 1.5
"""The same for a whole text; and how many times as many as of the expected language, whose words other ones share."""

_PAIRS = {"“": "”", "«": "»", "„": "“”", "‘": "’", "(": ")", "「": "」", '"': '"'}
_AROUND = "\"'“”‘’«»„()[]{}*_¿¡.,;:!?…—-"
_APOSTROPHES = str.maketrans("’ʼ", "''")


_SPELLED_LANGUAGES = ("en-us", "es", "fr-fr", "it", "pt-br")
"""Languages that are recognised by their function words: common words without much meaning. Languages share some; a
word of the sentence's own doesn't count.
"""

_SPELLED_ENGLISH = {
    "es": re.compile(r"w|sh|th|ck|ght|oo|ee(?!r)|[^aeiou]ing$", re.IGNORECASE),
    "it": re.compile(r"w|y|sh|th|ck|ght|oo|ee|[^aeiou]ing$|x$", re.IGNORECASE),
    "pt-br": re.compile(r"w|sh|th|ck|ght|oo[^rp]|ee[^rmnd]|[^aeiou]ing$", re.IGNORECASE),
    "fr-fr": re.compile(r"ight|ough|wh[aeiy]|[^aeiou]ck|sh(?:ip|ed|es)$", re.IGNORECASE),
}
"""Letters that the language's own words don't have, in words that are then taken for English."""

_ENGLISH_JOINTS = frozenset(("of", "the", "and", "for", "on", "with"))
"""Words between those of an English name, in small letters."""
_VOWELS = frozenset("aeiou")

_LATIN = re.compile("[A-Za-zÀ-ɏ]")
_ASCII_WORD = re.compile(r"[A-Za-z]{3,}(?:['’]s)?")
_NAMED = frozenset(("es", "it", "pt-br"))
_LATIN_LANGUAGES = frozenset(_SPELLED_LANGUAGES) | {"en-gb"}


def languages(texts: Sequence[str], language: str) -> list[str]:
    """Language of each word of a sentence; `language` unless the word is obviously of another.

    A word in a script that the language doesn't use is "ja" or "cmn", or "en-us" for other scripts, which English G2P
    reads by their own espeak-ng voices. Japanese and Mandarin keep all words: their G2P reads Latin words as English.

    Args:
        texts: the sentence's words with their punctuation.
        language: a code of `shm.espeak.messages.LANGUAGE_FILES`.
    """
    found = [language] * len(texts)
    if language in EAST_ASIAN:
        return found
    if language in _LATIN_LANGUAGES:
        quotations = list(_quotations(texts))
        inside = {place for start, end in quotations for place in range(start, end)}
        outside = [place for place in range(len(texts)) if place not in inside]
        if len(outside) >= _LEAST_SENTENCE:
            other = _of_function_words([texts[place] for place in outside], language, _LEAST_HITS)
            for place in outside if other else ():
                found[place] = other
        for start, end in quotations:
            if end - start >= _LEAST_QUOTED and (other := _of_function_words(texts[start:end], language, 1)):
                found[start:end] = [other] * (end - start)
    kana = any("\u3040" <= character <= "\u30ff" for text in texts for character in text)
    spelled = _SPELLED_ENGLISH.get(language)
    for place, text in enumerate(texts):
        if text.isascii():
            bare = text.strip(_AROUND)
            if language == "hi":
                found[place] = "en-us" if _ASCII_WORD.fullmatch(bare) else found[place]
            elif found[place] == language and spelled and _ASCII_WORD.fullmatch(bare) and not bare.isupper():
                found[place] = "en-us" if spelled.search(bare) else language
        elif script := _foreign_script(text, language):
            found[place] = _of_script(script, kana)
    return _with_names(texts, found, language) if language in _NAMED else found


def _with_names(texts: Sequence[str], found: list[str], language: str) -> list[str]:
    """The languages of words, of which those of an English name are English.

    A name is a run of words with capitals, one of them spelled as English (Black Mirror), or with an English joint
    inside (House of Cards); without a joint, words that end in a vowel stay.
    """
    bare = [text.strip(_AROUND) for text in texts]
    if "en-us" not in found and _ENGLISH_JOINTS.isdisjoint(bare):
        return found
    own, start = _function_words()[language], 0
    for place, text in enumerate((*texts, "")):
        word = bare[place] if text else ""
        first = not place and found[0] == language and bare[1:2] not in (["of"], ["and"])
        named = word in _ENGLISH_JOINTS or (
            len(word) > 1 and word.istitle() and word.isascii() and word.lower() not in own and not first
        )
        if named and text[-1] not in ".,;:!?":
            continue
        run = [near for near in range(start, place + named) if bare[near] not in _ENGLISH_JOINTS]
        start = place + 1
        joints = len(run) > 1 and run[-1] - run[0] >= len(run)
        if joints or any(found[near] == "en-us" for near in run):
            for near in range(run[0], run[-1] + 1):
                if joints or bare[near][-1] not in _VOWELS:
                    found[near] = "en-us"
    return found


def language_of_most(paragraphs: Sequence[str], language: str) -> str:
    """Language in which over half of a text is obviously written; `language` where none is.

    Args:
        paragraphs: of the text, or of its beginning.
        language: as of `languages`. Beside one that isn't written in Latin letters, what is counts as English, unless
            it is obviously in another language.
    """
    characters: Counter[str] = Counter()
    latin: list[str] = []
    home = language if language in _LATIN_LANGUAGES else DEFAULT
    for paragraph in paragraphs:
        kana = any("\u3040" <= character <= "\u30ff" for character in paragraph)
        for text in paragraph.split():
            if script := _foreign_script(text, DEFAULT):
                found = _of_script(script, kana)
                characters[language if found == DEFAULT else found] += len(text)
            elif _LATIN.search(text):
                latin.append(text)
    bare, known = _bare(latin), _function_words()
    hits = {name: sum(word in known[name] for word in bare) for name in known}
    best = max(hits, key=lambda name: hits[name])
    least = max(_LEAST_HITS, _LEAST_SHARE_OF_TEXT * len(bare), _TIMES_OWN * hits[_spelled(home)])
    characters[best if hits[best] >= least else home] += sum(map(len, latin))
    most = max(characters, key=lambda name: characters[name])
    return most if 2 * characters[most] > characters.total() else language


def _quotations(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Spans of words between two quotation marks or parentheses."""
    start, closers = -1, ""
    for place, text in enumerate(texts):
        if start < 0 and text[0] in _PAIRS:
            start, closers = place, _PAIRS[text[0]]
        if start >= 0 and text.rstrip(".,;:!?…")[place == start :][-1:] in set(closers):
            yield start, place + 1
            start = -1


@cache
def _function_words() -> dict[str, frozenset[str]]:
    return {language: words(language.partition("-")[0], "function_words") for language in _SPELLED_LANGUAGES}


def _of_function_words(texts: Sequence[str], language: str, least: int) -> str:
    """Other language that most of these words' function words belong to, at least so many; "" if there is none."""
    own_name, bare = _spelled(language), _bare(texts)
    own = _function_words()[own_name]
    ours = sum(word in own for word in bare)
    if len(bare) <= 3 * ours:
        return ""  # no other language can have more than twice as many
    counts = {
        name: sum(word in known and word not in own for word in bare)
        for name, known in _function_words().items()
        if name != own_name
    }
    best = max(counts, key=lambda name: counts[name])
    enough = counts[best] >= least and counts[best] >= _LEAST_SHARE * len(bare)
    return best if enough and counts[best] > 2 * ours else ""


def _spelled(language: str) -> str:
    return DEFAULT if language == "en-gb" else language


def _bare(texts: Sequence[str]) -> list[str]:
    """The words without the signs around them, as function words are listed; "" for names."""
    stripped = [text.strip(_AROUND) for text in texts]
    return [
        text if text == "I" else text.lower().translate(_APOSTROPHES) if place == 0 or text[:1].islower() else ""
        for place, text in enumerate(stripped)
    ]


def _foreign_script(text: str, language: str) -> str:
    """Unicode name of the script of a word's first letter that the language doesn't write with; "" if all fit."""
    home = "DEVANAGARI" if language == "hi" else "LATIN"
    for character in text:
        if (
            character.isalpha()
            and not character.isascii()
            and (script := _script(character)) not in (home, "LATIN", "")
        ):
            return script
    return ""


@lru_cache(1024)
def _script(character: str) -> str:
    name = unicodedata.name(character, "").partition(" ")[0]
    return "" if name in ("FEMININE", "MASCULINE", "MODIFIER", "MICRO") else name


def _of_script(script: str, kana: bool) -> str:
    if script in ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"):
        return "ja"
    if script == "CJK":
        return "ja" if kana else "cmn"
    return "hi" if script == "DEVANAGARI" else "en-us"
