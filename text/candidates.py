"""The ways in which a word may be said: as it is read now, by the languages it may come from, spelled."""

from __future__ import annotations

from typing import NamedTuple

from text.english.foreign import ENGLISH, by_rules_of, origins
from text.espeak.espeak_g2p import by_rule, spelled
from text.g2p import G2P
from text.locales.tables import table

_MOST = 6
_LEAST_PROBABILITY = 0.01


class WayToSay(NamedTuple):
    phonemes: str
    """Phonemes of misaki's alphabet."""
    how: str
    """Origin of the phonemes: the source as it is read now, a language, the voice's rules, or letters."""
    probability: float | None
    """Probability that the word is of that language; None for the other ways."""


def ways_to_say(word: str, language: str, g2p: G2P) -> list[WayToSay]:
    """Each pronunciation once, the one in use first.

    Args:
        word: a single word.
        language: a code of `LANGUAGE_FILES`; only English words have origins.
    """
    now = g2p.words(word, language)[0]
    found = [WayToSay(now.phonemes.strip(), f"now ({now.source.value})", None)]
    if language.startswith("en"):
        likely = [each for each in origins(word) if each.language != ENGLISH and each.probability >= _LEAST_PROBABILITY]
        rules = table("en", "origins")
        for origin, probability in likely[:_MOST]:
            found.append(WayToSay(by_rules_of(word, origin, language), rules[origin]["name"], probability))
    for how, way in (("rules", by_rule), ("letters", spelled)):
        found.append(WayToSay(way(word, language)[0].phonemes.strip(), how, None))
    return list({each.phonemes: each for each in reversed(found) if each.phonemes}.values())[::-1]
