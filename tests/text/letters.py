"""A G2P that says letters as themselves, and the notations of the two engines."""

import json
import re
from pathlib import Path

import kokoro_onnx

from text.words.segment import Notation, PhonemeSource, Word

VOCABULARY = frozenset(json.loads((Path(kokoro_onnx.__file__).parent / "config.json").read_text())["vocab"])
KOKORO = Notation("phonemes", VOCABULARY, 510)
ESPEAK = Notation("text", frozenset(), 1000)


class LetterG2P:
    """Says ASCII letters and digits as themselves, knows Kokoro's punctuation, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        self.asked.append((sentence, language))
        return tuple(self._word(token) for token in sentence.split())

    @staticmethod
    def _word(token: str) -> Word:
        spoken = re.sub("[^a-z.,;:!?…—()]", "", token.lower().translate(str.maketrans("0123456789", "abcdefghij")))
        # IPA's g has a code point of its own, and Kokoro knows no other.
        spoken = spoken.replace("g", "\u0261")
        return Word(token, spoken, PhonemeSource.LEXICON if re.search("[a-zɡ]", spoken) else PhonemeSource.NONE)
