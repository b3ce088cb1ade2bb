"""Pronunciation of sentences at which a language's own fails: by espeak-ng's rules, or letter by letter."""

from __future__ import annotations

from shm.espeak_languages import LANGUAGE_FILES
from text.espeak import espeak
from text.espeak.espeak_g2p import EspeakG2P
from text.espeak.ipa import misakis_alphabet
from text.words.word import PhonemeSource, Word


def by_rule(sentence: str, language: str) -> tuple[Word, ...]:
    """Words pronounced by espeak-ng in clauses, one for each of `sentence.split()`."""
    return EspeakG2P(language).words(sentence)


def spelled(sentence: str, language: str) -> tuple[Word, ...]:
    """Words of which each letter and digit is named, one for each of `sentence.split()`."""
    return tuple(_spelled(text, language) for text in sentence.split())


def _spelled(text: str, language: str) -> Word:
    names = espeak.phonemes_of([sign for sign in text if sign.isalnum()], LANGUAGE_FILES[language])
    said = " ".join(filter(None, (misakis_alphabet(name, language) for name in names)))
    return Word(text, said, PhonemeSource.LETTERS if said else PhonemeSource.NONE)
