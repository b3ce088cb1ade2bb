"""espeak-ng's text-to-phoneme half, called in this process: text in, IPA out.

phonemizer, which misaki would use, copies the library into a temporary folder for each of its instances; after
SIGKILL that folder stays. Here the library is loaded from where it was installed and nothing is written anywhere.
It keeps its state (the voice) in static variables, so one lock guards it. The C interface: espeak-ng's `speak_lib.h`.
"""

from __future__ import annotations

import ctypes
import logging
import os
import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import Any

from frontend.text.punctuation import kind

_log = logging.getLogger(__name__)

MAX_WORD = 40
"""Characters. espeak-ng drops what a word has over about 160 bytes of UTF-8, and no character takes over four."""

VOICES = {
    "en-us": "en-us",
    "en-gb": "en",
    "es": "es",
    "fr-fr": "fr",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "pt-br": "pt-br",
    "cmn": "cmn",
}
"""espeak-ng's voice file by language code; it finds some of the codes themselves by name only (`en-gb`, `fr-fr`)."""

TIE = "^"
"""Joins the characters of one phoneme, as misaki's tables expect it."""

_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_UTF8 = 1
_IPA_WITH_TIES = 0x02 | 1 << 7 | 0x361 << 8

# "(fr)" and the like, where espeak-ng changed its voice within a text; the phonemes themselves have no parentheses.
_LANGUAGE_FLAG = re.compile(r"\([^()]*\)")
# Rows of hyphens, and hyphens at a word's edge, crash version 1.52 (measured: "-----" before Devanagari); the brackets
# have no sound.
_UNSENDABLE = re.compile(r"[{}\[\]_]+|-{2,}|(?<![^\W_])-|-(?![^\W_])")
_REPEATED = re.compile(r"([^\w\s])\1+")

_MAX_CALL = 100
"""Characters at once: its buffers for a clause overflow on some texts of 160 and more (found by random texts)."""

_lock = threading.Lock()


class EspeakUnavailable(Exception):
    """The library can't be loaded, or doesn't find its data."""


class _Library:
    def __init__(self) -> None:
        import espeakng_loader

        path, data = espeakng_loader.get_library_path(), espeakng_loader.get_data_path()
        try:
            self._c: Any = ctypes.CDLL(path)
        except OSError as error:
            raise EspeakUnavailable(f"{path} can't be loaded: {error}. Reinstall espeakng-loader") from error
        if self._c.espeak_Initialize(_SYNCHRONOUS, 0, os.fsencode(data), _DONT_EXIT) <= 0:
            raise EspeakUnavailable(
                f"espeak-ng doesn't find its data in {data}: reinstall espeakng-loader (in a shorter path, "
                "if that has over 150 characters)"
            )
        self._c.espeak_Info.restype = ctypes.c_char_p
        self._c.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._c.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]
        self._voice = ""

    @property
    def version(self) -> str:
        version: bytes = self._c.espeak_Info(None)
        return version.decode()

    def clauses(self, text: str, voice: str) -> list[str]:
        if voice != self._voice:
            if self._c.espeak_SetVoiceByName(voice.encode()):
                raise EspeakUnavailable(f"espeak-ng's data has no voice {voice}: reinstall espeakng-loader")
            self._voice = voice
        rest = ctypes.pointer(ctypes.c_char_p(text.encode()))
        found: list[str] = []
        while rest.contents.value is not None:
            if phonemes := self._c.espeak_TextToPhonemes(rest, _UTF8, _IPA_WITH_TIES):
                found.append(phonemes.decode())
        return found


_loaded: _Library | EspeakUnavailable | None = None


def _library() -> _Library:
    """Loads on first use; what failed once is not tried again."""
    global _loaded
    if _loaded is None:
        try:
            _loaded = _Library()
        except EspeakUnavailable as error:
            _log.error("no pronunciation by espeak-ng: %s", error)
            _loaded = error
    if isinstance(_loaded, EspeakUnavailable):
        raise _loaded
    return _loaded


def version() -> str:
    """espeak-ng's version.

    Raises:
        EspeakUnavailable: it can't be loaded.
    """
    with _lock:
        return _library().version


def phonemes(text: str, voice: str) -> str:
    """Words of IPA with spaces between them, stress marked, characters of one phoneme tied with `TIE`.

    Empty if espeak-ng has no sound for the text. Punctuation ends clauses and is gone.

    Args:
        text: any; words over `MAX_WORD` may lose their ends.
        voice: one of `VOICES`' values, or another of espeak-ng's voice files.

    Raises:
        EspeakUnavailable: it can't be loaded, or has no such voice.
    """
    with _lock:
        clauses = [clause for piece in _pieces(_sendable(text)) for clause in _library().clauses(piece, voice)]
    joined = _LANGUAGE_FLAG.sub("", " ".join(clauses).replace("\u0361", TIE))
    return " ".join(joined.replace("_", "").split())


def _sendable(text: str) -> str:
    """Only what has a sound or shapes one.

    Other characters crash it (the name of a braille pattern in Arabic), end the text (NUL) or begin commands.
    """
    heard = "".join(" " if kind(character) == "x" else character for character in unicodedata.normalize("NFKC", text))
    return _REPEATED.sub(r"\1", _UNSENDABLE.sub(" ", heard))


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of at most `_MAX_CALL` characters, without words over `MAX_WORD`."""
    piece: list[str] = []
    length = 0
    for word in text.split():
        for start in range(0, len(word), MAX_WORD):
            part = word[start : start + MAX_WORD]
            if length + len(part) + 1 > _MAX_CALL:
                yield " ".join(piece)
                piece, length = [], 0
            piece.append(part)
            length += len(part) + 1
    if piece:
        yield " ".join(piece)


class Backend:
    """Takes the place of phonemizer's class of the same use in `misaki.espeak`."""

    def __init__(self, language: str, **_unused: object) -> None:
        """misaki asks for stress, ties and no language flags, which is what `phonemes` always gives."""
        self._voice = VOICES[language]

    def phonemize(self, texts: list[str]) -> list[str]:
        return [phonemes(text, self._voice) for text in texts]
