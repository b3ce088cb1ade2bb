"""Sentences of units from phonemes that a client sends in place of a text, without grapheme to phoneme."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from text.units.segmentation import passages, pronounceable, units_of
from text.words.segment import Cut, Notation, PhonemeSource, Sentence, Word

_PARAGRAPH = re.compile(r"\n\s*\n")
_END = r"[.!?…]++[”)\"]*+(?=\s)"
_SENTENCE = re.compile(rf"\S(?:{_END}|.*?(?:(?<![.!?…]){_END}|$))", re.DOTALL)


def unknown_phonemes(script: str, notation: Notation) -> str:
    """Symbols that the model doesn't know, each once, in order of appearance; white space separates words and is
    allowed.
    """
    return "".join(
        symbol for symbol in dict.fromkeys(script) if symbol not in notation.vocabulary and not symbol.isspace()
    )


def phoneme_sentences(script: str, notation: Notation) -> Iterator[Sentence]:
    """Sentences of a phoneme script, each symbol in one of them; no sentence if no symbol sounds. Takes linear time.

    A sentence ends at . ! ? or … before white space, a paragraph at a blank line. Silent text between two sentences
    belongs to the earlier one.

    Args:
        script: phonemes of the model's own alphabet, of any length; symbols that the model doesn't know are left out.
    """
    words: list[Word] = []
    ready: Cut | None = None
    dropped: Counter[str] = Counter()
    for tokens, cut in _parts(script, notation.max_tokens):
        more = [Word(token, token, PhonemeSource.USER) for token in tokens]
        sounds = any(pronounceable(word, notation) for word in more)
        if ready and sounds:
            yield units_of(words, notation, dropped, end=ready)
            words, ready = [], None
        words += more
        if ready or sounds:
            ready = cut
    if ready:
        yield units_of(words, notation, dropped, end=ready)


def _parts(script: str, limit: int) -> Iterator[tuple[list[str], Cut]]:
    """Words of each sentence, with the kind of cut at their end; a sentence over the limit comes in several parts."""
    for paragraph in _PARAGRAPH.split(script):
        found = [" ".join(match[0].split()) for match in _SENTENCE.finditer(paragraph)]
        for place, sentence in enumerate(found, 1):
            for passage in passages(sentence, 2 * limit):
                last = place == len(found) and passage.cut is Cut.SENTENCE
                yield passage.text.split(), Cut.PARAGRAPH if last else passage.cut
