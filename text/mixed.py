"""Pronunciation of mixed text: foreign words, quotations and sentences in their own language, said with the sounds of
the request's language.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from text.east_asian.east_asian import missing
from text.g2p import G2P
from text.words.accent import adapted
from text.words.foreign_words import languages
from text.words.language import EAST_ASIAN
from text.words.word import PhonemeSource, Word


class MixedG2P:
    """Pronounces sentences with `G2P`, obviously foreign words in their own language (`languages`)."""

    def __init__(self, g2p: G2P) -> None:
        self._g2p = g2p

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
