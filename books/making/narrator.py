"""The voice of a book whose settings name none."""

from __future__ import annotations

from collections.abc import Sequence

from text.words.language import UnknownLanguage, language_of
from text.words.voice_spec import default_voice


def narrator(voices: Sequence[str], language: str) -> str:
    """The engine's first voice that speaks the book's language; empty, for the default voice, if that one speaks it or
    none does.

    An English book of any region has the default voice: it is the best one, and the region picks the pronunciation.

    Args:
        language: as the book or the settings name it; empty if neither does.
    """
    try:
        wanted = language_of((), language or None).partition("-")[0]
    except UnknownLanguage:
        return ""  # the server says what is wrong with it
    usual = default_voice(voices)
    native = next((name for name in (usual, *voices) if _spoken(name) == wanted), usual)
    return "" if native == usual or not language else native


def _spoken(voice: str) -> str:
    return language_of(((voice, 1.0),)).partition("-")[0]
