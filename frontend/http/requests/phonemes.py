"""Check of the phonemes that a client sends in place of a text."""

from __future__ import annotations

from frontend.contract.errors import ApiError
from text.phoneme_script import unknown_phonemes
from text.words.segment import Notation


def check_phonemes(script: str, notation: Notation) -> None:
    """Check that an engine can speak the phonemes that a client sent; `phoneme_sentences` cuts them later.

    Raises:
        ApiError: 400: the engine speaks text, or doesn't know some of the symbols.
    """
    if notation.speaks != "phonemes":
        message = "`phonemes`: the engine that speaks takes text, and pronounces it itself. Send `input`."
        raise ApiError(400, message, param="phonemes", code="phonemes_unavailable")
    if unknown := unknown_phonemes(script, notation):
        listed = ", ".join(f"{symbol!r} (U+{ord(symbol):04X})" for symbol in unknown[:8])
        message = f"`phonemes`: the model doesn't know {listed}. POST /dev/phonemize shows a text's phonemes."
        raise ApiError(400, message, param="phonemes", code="unknown_phoneme")
