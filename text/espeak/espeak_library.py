"""Binding of espeak-ng's C library, text to phonemes. It runs in a helper process only, because some texts crash it.

The library is loaded from its installed path, and no file is written (phonemizer copies it into a temporary folder,
which remains after SIGKILL). The library keeps its voice in static variables. The C interface is `speak_lib.h`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import msgspec

from shm.espeak_installation import DamagedInstallation, EspeakData, cure, library_path, quiet

_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_UTF8 = 1
_IPA_WITH_TIES = 0x02 | 1 << 7 | 0x361 << 8


class Request(msgspec.Struct):
    """Request to the helper process: texts to pronounce, or no texts to ask for espeak-ng's version."""

    voice: str
    texts: list[str]


def answering() -> Callable[[bytes], bytes]:
    """Request handler of the helper process: takes a `Request` in JSON, returns the phonemes of each text, or the
    version, in JSON.

    Raises:
        DamagedInstallation: the library can't be loaded, or lacks its data.
    """
    quiet()
    library = _Library()
    decode = msgspec.json.Decoder(Request).decode

    def answer(request: bytes) -> bytes:
        asked = decode(request)
        if not asked.texts:
            return msgspec.json.encode([library.version])
        return msgspec.json.encode([library.phonemes(text, asked.voice) for text in asked.texts])

    return answer


class _Library:
    def __init__(self) -> None:
        try:
            self._c: Any = ctypes.CDLL(str(library_path()))
        except OSError as error:
            raise DamagedInstallation(f"{library_path()} can't be loaded: {error}; {cure()}") from error
        self._data = EspeakData()
        if self._c.espeak_Initialize(_SYNCHRONOUS, 0, os.fsencode(self._data.path), _DONT_EXIT) <= 0:
            raise DamagedInstallation(
                f"espeak-ng doesn't find its data in {self._data.path}; move it to a shorter path if that has over "
                f"150 characters, or {cure()}"
            )
        self._c.espeak_Info.restype = ctypes.c_char_p
        self._c.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._c.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]
        self._voice = ""

    @property
    def version(self) -> str:
        version: bytes = self._c.espeak_Info(None)
        return version.decode()

    def phonemes(self, text: str, voice: str) -> str:
        """IPA of the text, its clauses joined with spaces."""
        if voice != self._voice:
            self._data.check(voice)
            if self._c.espeak_SetVoiceByName(voice.encode()):
                raise DamagedInstallation(f"espeak-ng's data has no voice {voice}: {cure()}")
            self._voice = voice
        rest = ctypes.pointer(ctypes.c_char_p(text.encode()))
        found: list[str] = []
        while rest.contents.value is not None:
            if phonemes := self._c.espeak_TextToPhonemes(rest, _UTF8, _IPA_WITH_TIES):
                found.append(phonemes.decode())
        return " ".join(found)
