"""espeak-ng's C library, one private copy of it for each utterance.

The library keeps its state in static variables, and not all of it is reset by `espeak_Terminate`: the phase of the
pitch flutter runs on from utterance to utterance (measured on 1.52: the same text gave other samples each time). A
segment that a second worker continues at `from_sample` needs the very samples that the first one made, so each
utterance gets a library that has never spoken, copied, loaded, used and unloaded in about 3 ms, and a seed for its
breath noise, which it would take from the clock. The copy also keeps out of the way of others in this process who
have the original loaded (phonemizer, kokoro-onnx).

The C interface: espeak-ng's `speak_lib.h` and sonic's `sonic.h`, which the library exports too.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import espeakng_loader
import numpy as np
from numpy.typing import NDArray

from worker.engine import EngineError, EngineUnavailable

LIBRARY_RATE = 22_050
"""Samples per second that espeak-ng 1.52 makes."""

_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_RATE, _PITCH = 1, 3
_FROM_CHARACTER = 1
_UTF8 = 1
_END_PAUSE = 0x1000
SEEDS = 2**31 - 2
"""Seeds of its noise that differ; another one stands for one of these."""

_GO_ON = 0


class _Event(ctypes.Structure):
    """`espeak_EVENT`."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_LIST_TERMINATED, _WORD = 0, 1

_Samples = ctypes.POINTER(ctypes.c_short)
_Events = ctypes.POINTER(_Event)
_Callback = ctypes.CFUNCTYPE(ctypes.c_int, _Samples, ctypes.c_int, _Events)


@dataclass(frozen=True, slots=True)
class WordEvent:
    """The library has come to a word."""

    text: int
    """Which of the texts, from 0."""
    place: int
    """Of its first character in that text, from 0. What it reads as several words ("2026") has the same place for each,
    and some words that it runs together ("of the") have only the first's."""
    sample: int
    """Where it begins to sound, at `LIBRARY_RATE`, from the first text's beginning."""


class EspeakLibrary:
    """A loaded copy. Use it in a `with`, for one utterance, from one thread."""

    def __init__(self) -> None:
        """Load and initialise.

        Raises:
            EngineUnavailable: it can't be loaded, or finds no data.
        """
        original = Path(espeakng_loader.get_library_path())
        try:
            with _copy(original) as path:  # what is mapped outlives its file
                self._library = ctypes.CDLL(path)
        except OSError as error:
            raise EngineUnavailable(
                f"espeak-ng's library can't be loaded from a copy of {original}: {error}. Reinstall espeakng-loader"
            ) from error
        self.words: list[WordEvent] = []
        """Of what was spoken, in the order in which they sound."""
        self._chunks: list[bytes] = []
        self._taken = 0
        """Samples."""
        self._text = 0
        self._text_start = 0
        """Samples before the present text."""
        self._callback = _Callback(self._take)
        rate = self._library.espeak_Initialize(
            _SYNCHRONOUS, 0, os.fsencode(espeakng_loader.get_data_path()), _DONT_EXIT
        )
        if rate != LIBRARY_RATE:
            self.close()
            raise EngineUnavailable(
                f"espeak-ng doesn't start (it says {rate}) with its data in {espeakng_loader.get_data_path()}: "
                "reinstall espeakng-loader (in a shorter path, if that has over 150 characters)"
            )
        self._library.espeak_SetSynthCallback(self._callback)

    def __enter__(self) -> EspeakLibrary:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Unload the copy. Nothing may be called afterwards."""
        self._library.espeak_Terminate()
        _ctypes.dlclose(self._library._handle)

    @property
    def version(self) -> str:
        self._library.espeak_Info.restype = ctypes.c_char_p
        version: bytes = self._library.espeak_Info(None)
        return version.decode()

    def speak(
        self,
        texts: Sequence[str],
        *,
        voice: str,
        words_per_minute: int,
        pitch: int,
        end_pause: bool,
        seed: int,
    ) -> NDArray[np.int16]:
        """Plain text: neither SSML nor phonemes in brackets mean anything.

        Args:
            texts: spoken one after the other without a pause in between. Without NUL and other control characters,
                some of which are commands to espeak-ng, and without what crashes it: see `worker.espeak_text`.
            voice: a language's file name and a variant, as in `en-us+f2`.
            words_per_minute: 80 to 449 is the synthesiser's own; it shortens its audio with sonic from 450 on.
            pitch: 0 to 99; 50 is the voice's own.
            end_pause: end the last with the pause that the last punctuation mark calls for.
            seed: of the noise.

        Returns:
            Samples at `LIBRARY_RATE`, shape [n]; `words` says where in them each word begins.

        Raises:
            EngineError: there is no such voice, or the library failed.
        """
        library = self._library
        if library.espeak_SetVoiceByName(voice.encode()):
            raise EngineError(f"espeak-ng has no voice {voice}")
        library.espeak_SetParameter(_RATE, words_per_minute, 0)
        library.espeak_SetParameter(_PITCH, pitch, 0)
        library.espeak_ng_SetRandSeed(ctypes.c_long(1 + seed % SEEDS))  # 0 would mean the clock
        for self._text, text in enumerate(texts):
            data = text.encode()
            flags = _UTF8 | (_END_PAUSE if end_pause and self._text == len(texts) - 1 else 0)
            size = ctypes.c_size_t(len(data) + 1)
            self._text_start = self._taken
            status = library.espeak_Synth(data, size, 0, _FROM_CHARACTER, 0, flags, None, None)
            if status:
                raise EngineError(f"espeak-ng failed with status {status}")
        return np.frombuffer(b"".join(self._chunks), dtype=np.int16)

    def stretch(self, samples: NDArray[np.int16], speed: float) -> NDArray[np.int16]:
        """Play at another speed, at the same pitch, by sonic (pitch periods are repeated or left out)."""
        change = self._library.sonicChangeShortSpeed
        change.argtypes = [ctypes.c_void_p, ctypes.c_int, *[ctypes.c_float] * 4, *[ctypes.c_int] * 3]
        # It writes over what it reads, and gives a little more or less than the exact length.
        buffer = np.zeros(round(len(samples) / speed) + LIBRARY_RATE, dtype=np.int16)
        buffer[: len(samples)] = samples
        length = change(buffer.ctypes.data, len(samples), speed, 1, 1, 1, 0, LIBRARY_RATE, 1)
        return buffer[:length]

    def _take(self, samples: ctypes._Pointer[ctypes.c_short], count: int, events: ctypes._Pointer[_Event]) -> int:
        number = 0
        while events and (event := events[number]).type != _LIST_TERMINATED:
            if event.type == _WORD:
                # Where sonic has shortened the buffer, the place within it is still that of before.
                within = event.sample - (self._taken - self._text_start)
                place = event.text_position - 1
                self.words.append(WordEvent(self._text, place, self._taken + min(max(within, 0), max(count, 0))))
            number += 1
        if samples and count > 0:
            self._chunks.append(ctypes.string_at(samples, count * 2))
            self._taken += count
        return _GO_ON


@contextmanager
def _copy(original: Path) -> Iterator[str]:
    """A copy's path: of memory without a name on Linux, so that a killed worker leaves no file; elsewhere a file's."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create(original.name, os.MFD_CLOEXEC), "wb") as file:
            file.write(original.read_bytes())
            file.flush()
            # The loader takes equal paths for equal libraries, and descriptors' numbers come again: a path per thread.
            yield f"/proc/self/task/{threading.get_native_id()}/fd/{file.fileno()}"
    else:
        with tempfile.TemporaryDirectory(prefix="kokoro-live-") as folder:
            yield shutil.copy(original, folder)
