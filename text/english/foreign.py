"""Words of other languages as English says them: the rules of the word's language, then the nearest English sounds.

The languages' rules are rows of `text/locales/en/origins.toml`. Their results are dictionaries' IPA, in which American
and British English are alike, except that only one of them says each `r`.

`python -m benchmarks.training.origin_training` makes the model from names, and prints how often it is right.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from text.espeak import espeak
from text.espeak.ipa import UnknownSymbols, from_ipa
from text.locales.tables import table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MODEL = Path(__file__).with_name("origin.npz")

ENGLISH = "en"

BITS = 14
"""Binary digits of a feature's hash; the weights have 2**14 rows."""

LONGEST = 40
"""Most letters of a word that has an origin."""


class Origin(NamedTuple):
    language: str
    """A row of `text/locales/en/origins.toml`, or `ENGLISH`."""
    probability: float


def rows(word: str) -> NDArray[np.int64]:
    """Rows of the weights for a word's runs of letters, of which some have an edge of the word."""
    import numpy as np  # not above: this module is imported before any English is spoken

    edged = f"^{unicodedata.normalize('NFC', word.lower())}$"
    runs = [edged[start : start + size] for size in (2, 3, 4) for start in range(len(edged) - size + 1)]
    return np.array([zlib.crc32(run.encode()) & (1 << BITS) - 1 for run in runs], np.int64)


@lru_cache(4096)
def origins(word: str) -> tuple[Origin, ...]:
    """The languages that a word may come from, the most probable first; none for a word of other than 2 to `LONGEST`
    characters.
    """
    if not 2 <= len(word) <= LONGEST:
        return ()
    import numpy as np

    languages, weights, scale = _model()
    scores = weights[rows(word)].sum(0, dtype=np.float64) * scale
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    return tuple(Origin(languages[place], float(shares[place])) for place in np.argsort(-shares, kind="stable"))


@cache
def _model() -> tuple[tuple[str, ...], NDArray[np.int8], float]:
    import numpy as np

    with np.load(MODEL) as file:
        return tuple(str(name) for name in file["languages"]), file["weights"], float(file["scale"])


_LIKELY = 0.3
"""Probability from which a capitalised word is read as another language's."""

_SURE = 0.97
"""The same for a word in lower case, which is rather a new English word than a foreign one."""

_CONTINENTAL = frozenset(("af", "in", "ar", "ja", "ko", "vi", "el", "ru", "he", "haw", "ka"))
"""Languages whose Latin spelling is a transliteration with the vowels of Spanish and the consonants of English."""

_WORD = re.compile(r"[^\W\d_]['’]?[^\W\d_]{1,38}")
_VOWEL = re.compile("[aeiouæɑɒɔəɛɜɪʊʌIAWOY]+")
_WRITTEN_VOWEL = "aeiouæɑɒɔəɛɜɪʊʌᵻ"
_SILENT_R = re.compile(rf"r(?![{_WRITTEN_VOWEL}]|[ˈˌ][{_WRITTEN_VOWEL}])")
_FLAPPED = re.compile(rf"(?<=[{_WRITTEN_VOWEL}r])t(?=[əɪi]|oʊ)|(?<=ː)t(?=[əɪi]|oʊ)")
_STRESSED_SCHWA = re.compile(rf"(ˈ[^{_WRITTEN_VOWEL}]*)ə(?![rʊ])")
_DIPHTHONGS = str.maketrans({"A": "eɪ", "I": "aɪ", "W": "aʊ", "O": "oʊ", "Y": "ɔɪ"})
_LONG = re.compile(r"[ɑɔɜ](?!ː|ɪ)|[iu](?=.)(?!ː)|(?<=ˈ)[iu]$")


_LETTERS = str.maketrans("øØłŁđĐðÐıħĦŋæÆœŒþÞ", "oOlLdDdDihHneEeEtT") | {ord("ß"): "ss", ord("ə"): "e"}


@lru_cache(4096)
def said_as(word: str, language: str) -> str:
    """Phonemes of a word that its letters show to be another language's; empty if it is rather English, or if its
    language's rules have no sound for it.

    Args:
        language: en-us or en-gb.
    """
    found = origin_of(word)
    return by_rules_of(word, found, language) if found else ""


def origin_of(word: str) -> str:
    """The language whose rules read the word; empty for English."""
    if len(word) == 2 and word.isascii() and not _VOWEL.search(word):
        return ""  # Tx
    if _WORD.fullmatch(word) is None or not (word[1:].islower() and word[:1].isalpha()) or word in _english_names():
        return ""
    likely = origins(word)[:12]
    factor = _MARKED if word.isascii() else _MARKED**2
    shares = {each.language: each.probability * (factor if _is_marked(word, each.language) else 1) for each in likely}
    english = shares.pop(ENGLISH, 0)
    if not shares:
        return ""
    best = max(shares, key=lambda language: shares[language])
    if not word.isascii():
        return best
    alike = [language for language in shares if best == language or {best, language} <= _CONTINENTAL]
    share = sum(shares[language] for language in alike) / (sum(shares.values()) + english)
    return best if share >= (_LIKELY if word[0].isupper() else _SURE) else ""


_VOWEL = re.compile("[AEIOUYaeiouy]")
_MARKED = 6
"""Factor of a language's probability for a word with one of its `marks`; squared if the word isn't ASCII."""


@cache
def _english_names() -> frozenset[str]:
    return frozenset(table("en", "origins")["en"]["names"].split())


@cache
def _marks() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(rules["marks"]) for name, rules in table("en", "origins").items() if "marks" in rules}


def _is_marked(word: str, language: str) -> bool:
    return language in _marks() and _marks()[language].search(word.lower()) is not None


def by_rules_of(word: str, origin: str, language: str) -> str:
    """Phonemes of a word by the rules of a language of `origins.toml`; empty if these have no sound for it."""
    rules = table("en", "origins")[origin]
    written = unicodedata.normalize("NFC", word.lower())
    try:
        ipa = _pinyin(written, rules) if "finals" in rules else _by_voice(written, origin, rules)
        return in_dialect(ipa, language) if ipa else ""
    except (espeak.EspeakUnavailable, UnknownSymbols):
        return ""


def in_dialect(ipa: str, language: str) -> str:
    """Phonemes of misaki's alphabet for a dictionary's IPA that stands for both American and British English.

    Args:
        ipa: with `r` wherever it is written, `ɒ` for the vowel of "lot", `ɑː` for that of "palm".
        language: en-us or en-gb.

    Raises:
        UnknownSymbols: as `from_ipa`.
    """
    ipa = _STRESSED_SCHWA.sub(r"\1ʌ", ipa)
    if language == "en-gb":
        return from_ipa(_SILENT_R.sub("", ipa).replace("æ", "a"), language)
    ipa = re.sub("([ɪʊ])ər|ɛər", lambda match: f"{match[1] or 'ɛ'}r", ipa)
    return from_ipa(_FLAPPED.sub("T", ipa), language)


class Rewrites(NamedTuple):
    """Expressions of a language with what takes the place of what they match, in order."""

    letters: tuple[tuple[re.Pattern[str], str], ...]
    sounds: tuple[tuple[re.Pattern[str], str], ...]


@cache
def rewrites() -> dict[str, Rewrites]:
    """Rewrites of all languages that espeak-ng reads, by their names in `origins.toml`."""
    tables = table("en", "origins")

    def compiled(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
        return tuple((re.compile(pattern), replacement) for pattern, replacement in pairs)

    return {
        origin: Rewrites(
            compiled(rules.get("letters", ())),
            compiled((*tables["all"].get(rules["voice"], ()), *rules.get("sounds", ()), *tables["all"]["sounds"])),
        )
        for origin, rules in tables.items()
        if "voice" in rules
    }


def _by_voice(word: str, origin: str, rules: dict[str, Any]) -> str:
    for pattern, letters in rewrites()[origin].letters:
        word = pattern.sub(letters, word)
    ipa = unicodedata.normalize("NFD", espeak.phonemes(word, rules["voice"])).replace("c\u0327", "ç")
    ipa = ipa.replace(espeak.TIE, "").replace(" ", "")
    if stress := rules.get("stress"):
        ipa = _stressed(ipa, stress)
    for pattern, sounds in rewrites()[origin].sounds:
        ipa = pattern.sub(sounds, ipa)
    return _lengthened(ipa)


def _lengthened(ipa: str) -> str:
    return _LONG.sub(r"\g<0>ː", ipa.translate(_DIPHTHONGS))


def _stressed(ipa: str, syllable: str) -> str:
    """The IPA with its stress on its first syllable or on the last but one."""
    ipa = ipa.replace("ˈ", "").replace("ˌ", "")
    vowels = [match.start() for match in re.finditer(r"[aeiouyæøœɐɑɔəɛɨɪɵʉʊʏɯ]", ipa)]
    if not vowels:
        return ipa
    at = vowels[0] if syllable == "first" or len(vowels) == 1 else vowels[-2]
    return f"{ipa[:at]}ˈ{ipa[at:]}"


def _pinyin(word: str, rules: dict[str, Any]) -> str:
    """A word of pinyin; empty if its letters are none."""
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c) or c == "\u0308")
    syllables = _syllables(unicodedata.normalize("NFC", plain))
    said = [initial + final for initial, final in syllables]
    if not said:
        return ""
    # The last syllable is stressed, as in Beijing and Shanghai.
    start, end = said[:-1], said[-1]
    at = vowel.start() if (vowel := _VOWEL.search(end)) else 0
    return _lengthened("".join([*start, end[:at], "ˈ", end[at:]]))


def _syllables(word: str) -> list[tuple[str, str]]:
    """Initial and final sounds of each syllable of pinyin; none if the word is no pinyin."""
    pattern = syllable_expression()
    found: list[tuple[str, str]] = []
    place = 0
    initials, finals = table("en", "origins")["zh"]["initials"], table("en", "origins")["zh"]["finals"]
    while place < len(word):
        match = pattern.match(word, place)
        if match is None:
            return []
        initial, final = match["initial"], match["final"]
        sound = finals[final]
        if initial in ("zh", "ch", "sh", "r", "z", "c", "s") and final == "i":
            sound = "ɜr" if initial in ("zh", "ch", "sh", "r") else "ə"
        if initial in ("y", "w"):
            sound = {"yi": "i", "yin": "ɪn", "ying": "ɪŋ", "yu": "u", "wu": "u", "yan": "ɛn", "ye": "ɛ"}.get(
                initial + final, sound
            )
        silent = initial == "w" and final == "u"
        found.append(("" if silent else initials.get(initial, ""), sound))
        place = match.end()
    return found


@cache
def syllable_expression() -> re.Pattern[str]:
    rules = table("en", "origins")["zh"]
    longest = sorted(rules["finals"], key=len, reverse=True)
    initials = sorted(rules["initials"], key=len, reverse=True)
    # A consonant between vowels begins the next syllable: Xi-nan rather than Xin-an.
    return re.compile(rf"(?P<initial>{'|'.join(initials)}|)(?P<final>{'|'.join(longest)})(?=$|['’]|[^aeiouü])['’]?")


def without_diacritics(text: str) -> str:
    """ASCII spelling of a Latin word with diacritics; empty for ASCII words and for words of other scripts."""
    if text.isascii():
        return ""
    plain = "".join(
        character
        for character in unicodedata.normalize("NFD", text.translate(_LETTERS))
        if not unicodedata.combining(character)
    )
    return plain if plain.isascii() and any(map(str.isalpha, plain)) else ""
