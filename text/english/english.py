"""English grapheme to phoneme: misaki's lexicon and rules after a tokenizer and tagger of this project, or after
spaCy's tagger if it is installed.

They are in `text/locales/en/names/`: a word, its IPA, and the language or field that it is from, separated by tabs.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from shm.espeak.messages import LANGUAGE_FILES
from text.english import foreign
from text.english.dictionary_file import DictionaryFile, Said
from text.english.foreign import in_dialect, without_diacritics
from text.english.heteronyms import RULES
from text.english.pronouncing import Pronouncer
from text.english.tagger import Tagger, best_tagger
from text.english.tokenizer import MAX_LEXICAL, tokens
from text.espeak import espeak, misaki
from text.espeak.ipa import NEAREST
from text.locales import tables
from text.words.segment import PhonemeSource, Word

NAMES = Path(tables.__file__).parent / "en" / "names"


@cache
def names() -> dict[str, str]:
    """Dictionaries' IPA by word, as `in_dialect` takes it."""
    found: dict[str, str] = {}
    for file in sorted(NAMES.glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                word, ipa, _ = line.split("\t")
                found[word] = ipa
    return found


@cache
def _otherwise() -> dict[str, str]:
    """The names in lower case and without their diacritics, as many people write them."""
    plain = {without_diacritics(word): word for word in names() if not word.isascii()}
    capitals = {written.capitalize(): word for written, word in plain.items() if written}
    return {written.lower(): word for written, word in (plain | {word: word for word in names()}).items()} | capitals


@cache
def _endings() -> dict[str, str]:
    return {ending: ipa for section in tables.table("en", "endings").values() for ending, ipa in section.items()}


@cache
def endings() -> re.Pattern[str]:
    """A word in lower case with one of the endings of `endings.toml`, the longest that fits."""
    longest = "|".join(sorted(_endings(), key=len, reverse=True))
    return re.compile(rf"(?P<start>[a-z]*?(?P<vowel>[aeiouy])(?P<between>[^aeiouy]*?))(?P<ending>{longest})")


@cache
def _heteronyms() -> dict[str, tuple[str, str, str]]:
    """Words that misaki's dictionaries know in one pronunciation alone: IPA, a part of speech, and its IPA."""
    lines = (NAMES.parent / "heteronyms.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {word: (ipa, part, other) for word, ipa, part, other in (line.split("\t") for line in lines)}


class WithNames(Mapping[str, Said]):
    """A dictionary of misaki's with the names and `heteronyms.tsv` in it. A name in lower case or without its
    diacritics is found if the dictionary lacks the word."""

    def __init__(self, words: Mapping[str, Said], language: str) -> None:
        """Args:
        language: en-us or en-gb.
        """
        self._words = words
        self._language = language
        self._names, self._heteronyms, self._otherwise = names(), _heteronyms(), _otherwise()
        self._said: dict[str, Said] = {}

    def __getitem__(self, word: str) -> Said:
        found: Said | None = self.get(word)
        if found is None:
            raise KeyError(word)
        return found

    def get(self, word: str, default: Any = None) -> Any:
        if word in self._names or word in self._heteronyms:
            return self._name(word)
        if word.istitle() and word.lower() in self._heteronyms:
            return self._name(word.lower())
        if (found := self._words.get(word)) is not None:
            return found
        name = self._otherwise.get(word)
        return default if name is None else self._name(name)

    def __contains__(self, word: object) -> bool:
        return word in self._names or word in self._heteronyms or word in self._words or word in self._otherwise

    def __iter__(self) -> Iterator[str]:
        yield from self._words
        yield from (word for word in self._names if word not in self._words)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _name(self, word: str) -> Said:
        if word not in self._said:
            ipa, part, other = self._heteronyms.get(word) or (self._names[word], "", "")
            said = in_dialect(ipa, self._language)
            self._said[word] = {"DEFAULT": said, part: in_dialect(other, self._language)} if part else said
        return self._said[word]


_log = logging.getLogger(__name__)

_READINGS = {"DEFAULT": "", "NOUN": "noun", "VERB": "verb", "ADJ": "adjective", "VBD": "past", "FW": "another sense"}
_PARTS = {"NN": "noun", "VB": "verb", "JJ": "adjective", "RB": "adverb"}
_NOUN_OR_VERB = frozenset(("NOUN", "VERB", "ADJ"))


class English:
    def __init__(self, language: str, tagger: Tagger | None = None) -> None:
        """Index the lexicon; `python -m benchmarks.late_loading` measures it.

        Args:
            language: en-us or en-gb.
            tagger: gives the parts of speech; the best one that is installed by default.
        """
        lexicon = english_lexicon(british=language == "en-gb")
        lexicon.golds = WithNames(lexicon.golds, language)
        self._fallback = Fallback(language, lexicon)
        self._golds = lexicon.golds
        self._heteronyms = Heteronyms(lexicon.golds)
        self._tagger = tagger or best_tagger(self._heteronyms)
        self._pronouncer = Pronouncer(misaki.english(), lexicon, self._fallback)

    def words(self, sentence: str) -> tuple[Word, ...]:
        texts = sentence.split()
        short = [text if len(text) <= MAX_LEXICAL else "" for text in texts]
        spoken = self._short_words(short)
        return tuple(
            self._monster(text) if len(text) > MAX_LEXICAL else spoken[place] for place, text in enumerate(texts)
        )

    def readings(self, word: str) -> dict[str, str]:
        """Phonemes by part of speech, where the dictionary has several: by a part's name, or "" for the rest."""
        said = self._golds.get(word) or self._golds.get(word.lower())
        if not isinstance(said, dict):
            return {}
        found = {_READINGS[tag]: phonemes for tag, phonemes in said.items() if phonemes and tag in _READINGS}
        return found if len(set(found.values())) > 1 else {}

    def depends_on_sentence(self, word: str) -> bool:
        """True if the word may be pronounced in several ways, between which any word of its sentence may decide."""
        lower = word.lower()
        return lower in RULES or any(each in self._heteronyms for each in (lower, lower.removesuffix("s")))

    def parts_of_speech(self, sentence: str) -> list[str]:
        """Part of speech of each of `sentence.split()`, as `text.lexicon.PARTS` names it; empty for others."""
        texts = sentence.split()
        short = [text if len(text) <= MAX_LEXICAL else "" for text in texts]
        found, parts = list(tokens(short)), [""] * len(texts)
        for token, tag in zip(found, self._tagger.tags(short, found) if found else (), strict=True):
            parts[token.word] = parts[token.word] or _PARTS.get(tag[:2], "")
        return parts

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
                parts[token.word].append((token.phonemes, token.source))
        return [Word(text, *_joined(tuple(of_word))) for text, of_word in zip(texts, parts, strict=True)]

    def _monster(self, text: str) -> Word:
        """Pronounces text that is too long for the lexicon: espeak-ng reads it in pieces."""
        return Word(text, *self._fallback(text))


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


_SCRIPT_VOICES = {
    "CJK": "cmn",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CYRILLIC": "ru",
    "GREEK": "el",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "THAI": "th",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
}
"""espeak-ng's voice by the first word of a letter's Unicode name. Its English voice only spells letters of other
scripts.
"""

_NAMED_LETTER = re.compile(r" (?:LETTER|DIGIT) (?:[A-Z]+ )*([A-Z]+)$")


_ENGLISH_WORDS = frozenset(("naive", "naively", "cooperate", "cooperation", "cooperative", "reelect", "zoology"))
"""English words that some writers give a diaeresis."""

_UNSTRESSED = str.maketrans("", "", "ˈˌ")
_CLUSTER = re.compile("[^aeiouy][rl]$")
_HISSED = re.compile("[a-z]{2}is$|^[A-Z][a-z]+[ao]s$")
"""Words of Latin, Greek or Spanish form, whose s espeak-ng takes for a plural's."""
_VOWEL = re.compile("[aiueoɑɒɔəɛɜɪʊʌæAIWOYQᵊᵻ]ː?")
_REDUCED = str.maketrans("æɑ", "əə")
_CLOSED = {"a": "æ", "e": "ɛ", "i": "ɪ", "o": "ɒ", "u": "ʌ", "y": "ɪ"}
_OPEN = _CLOSED | {"o": "oʊ", "u": "uː"}
"""Stressed vowels by their letter, before several consonants and before one."""

_SOFT = {"c": "s", "g": "ʤ"}

_POSSESSIVE = re.compile(r"(?P<stem>.*[^\W\d_])(?P<ending>['’]s|['’])")


class Fallback:
    """Pronounces words that misaki's lexicon lacks: by espeak-ng, or by the names of their letters. It never raises."""

    def __init__(self, language: str, lexicon: Any) -> None:
        """Args:
        language: en-us or en-gb.
        lexicon: `misaki.en.Lexicon`, for the names of letters and digits.
        """
        self._lexicon = lexicon
        self._language = language
        self._alphabet = misaki.alphabet(language)

    def __call__(self, text: str) -> tuple[str, PhonemeSource]:
        pieces = [text[start : start + espeak.MAX_WORD] for start in range(0, len(text), espeak.MAX_WORD)]
        spoken = [(phonemes, source) for phonemes, source in map(self._piece, pieces) if phonemes]
        weakest = PhonemeSource.weakest({source for _, source in spoken})
        return " ".join(phonemes for phonemes, _ in spoken), weakest

    def _piece(self, text: str) -> tuple[str, PhonemeSource]:
        if (possessive := _POSSESSIVE.fullmatch(text)) and (stem := self._foreign(possessive["stem"])):
            return self._lexicon._s(stem) if len(possessive["ending"]) == 2 else stem, PhonemeSource.ESPEAK
        if not _has_long_ending(text) and (phonemes := self._foreign(text)):
            return phonemes, PhonemeSource.ESPEAK
        text = foreign.without_diacritics(text) or text
        if phonemes := self._by_ending(text) or self._by_espeak(text):
            return phonemes, PhonemeSource.ESPEAK
        if phonemes := " ".join(filter(None, map(self._letter, unicodedata.normalize("NFKD", text)))):
            return phonemes, PhonemeSource.LETTERS
        return "", PhonemeSource.NONE

    def _foreign(self, text: str) -> str:
        """Phonemes of a word that English has with or without its diacritics, or of another language's; else empty."""
        plain = foreign.without_diacritics(text)
        for known in (plain, plain.lower()) if plain else ():
            if known in self._lexicon.golds or (known in self._lexicon.silvers and known in _ENGLISH_WORDS):
                phonemes: str = self._lexicon.lookup(known, None, None, None)[0]
                return phonemes
        return foreign.said_as(text, self._language)

    def _by_ending(self, text: str) -> str:
        """Phonemes of a word whose ending says where its stress is (`endings.toml`); empty for other words."""
        match = endings().fullmatch(text.lower()) if text[1:].islower() and text.isascii() else None
        if match is None:
            return ""
        ending, written = match["ending"], match["start"]
        said, soft = in_dialect(_endings()[ending], self._language), ending[0] in "ei"
        # A letter after it keeps espeak-ng from a silent vowel or a syllable of consonants.
        joint = "t" if ending[0] not in "aeiou" else "a" if _CLUSTER.search(written) else ""
        start = self._by_espeak(written + joint).translate(_UNSTRESSED)
        start = start[:-1] if joint else start
        if soft and written[-1] in _SOFT and start:
            start = start[:-1] + _SOFT[written[-1]]
        vowels = list(_VOWEL.finditer(start))
        if "ˈ" not in said and vowels:
            last, letter = vowels.pop(), match["vowel"]
            plain = letter not in "ou" and last[0] not in ("əᵊᵻɪ" if letter == "e" else "əᵊᵻ")
            full = in_dialect((_OPEN if len(match["between"]) < 2 else _CLOSED)[letter], self._language)
            full = last[0] if plain else full
            start = f"{start[: last.start()]}ˈ{full}{start[last.end() :]}"
        if len(vowels) > 1:
            first, near = vowels[0].start(), vowels[-1].start()
            start = f"{start[:first]}ˌ{start[first:near]}{start[near].translate(_REDUCED)}{start[near + 1 :]}"
        return start + said

    def _by_espeak(self, text: str) -> str:
        """espeak-ng's phonemes, mapped to the alphabet; empty if no sound remains."""
        try:
            said = espeak.phonemes(text, _voice_of(text) or LANGUAGE_FILES[self._language])
        except espeak.EspeakUnavailable:
            return ""
        nearest = NEAREST[self._language]
        mapped = "".join(
            phone if phone in self._alphabet else nearest.get(phone, " " if phone == " " else "")
            for phone in unicodedata.normalize("NFD", misaki.from_espeak(said, self._language))
        )
        if _HISSED.search(text):
            mapped = re.sub("z ?$", "s", mapped)
        # espeak-ng writes the r of "Kara" in its vowel and again as a consonant.
        return " ".join(mapped.replace("ɹɹ", "ɹ").split()) if any(map(str.isalpha, mapped)) else ""

    def _letter(self, character: str) -> str:
        """Phonemes of a letter's or digit's name, from misaki's lexicon or (other scripts) from the Unicode name."""
        if named := _NAMED_LETTER.search(unicodedata.name(character, "")):
            name = named[1]
            phonemes, _ = self._lexicon.lookup(name if len(name) == 1 else name.lower(), None, None, None)
            if phonemes is None and name.isascii():
                phonemes, _ = self._lexicon.get_NNP(name)
            return phonemes or ""
        return ""


def _has_long_ending(text: str) -> bool:
    """True if a word ends in what no other language's names end in (Risperidone, Apixaban)."""
    match = endings().fullmatch(text.lower())
    return match is not None and len(match["ending"]) > 4


def _voice_of(text: str) -> str:
    """espeak-ng's voice for the first letter of another script; "" if there is none."""
    for character in text:
        if character.isalpha() and not character.isascii():
            script = unicodedata.name(character, "").partition(" ")[0]
            if script in _SCRIPT_VOICES:
                return _SCRIPT_VOICES[script]
    return ""
