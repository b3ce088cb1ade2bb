"""espeak-ng's C library, loaded as one private copy per utterance.

The library keeps its state in static variables, and `espeak_Terminate` doesn't reset all of it: the phase of the pitch
flutter continues from utterance to utterance (measured on 1.52: the same text gave other samples each time). A segment
that a second worker continues at `from_sample` needs exactly the samples that the first one made. Each utterance
therefore gets a library that has never spoken, copied, loaded, used and unloaded, and a seed for its
breath noise, which would otherwise come from the clock. The copy also doesn't interfere with other users of the
original in this process (phonemizer, kokoro-onnx).

The C interface is in espeak-ng's `speak_lib.h` and in sonic's `sonic.h`, which the library exports too.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from shm.espeak_installation import DamagedInstallation, EspeakData, cure, data_path, library_path, quiet
from worker.engine import EngineError, EngineUnavailable
from worker.espeak.espeak_messages import LIBRARY_RATE, EspeakRequest, EspeakResult, decode_speech, encode

_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_RATE, _VOLUME, _PITCH, _PUNCTUATION, _CAPITALS = 1, 2, 3, 5, 6
_ALL, _LISTED, _SPELLED = 1, 2, 2
_FROM_CHARACTER = 1
_UTF8 = 1
_END_PAUSE = 0x1000
SEEDS = 2**31 - 2
"""Number of distinct noise seeds; larger seeds wrap round."""

_GO_ON = 0


class _Event(ctypes.Structure):
    """The C struct `espeak_EVENT`."""

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
    """Event at which the library begins a word."""

    text: int
    """Index of the text, from 0."""
    place: int
    """Index of the word's first character in that text, from 0. Words that are read from one written word ("2026")
    share a place, and some words that the library runs together ("of the") only have the first one's."""
    sample: int
    """Start of the word's sound, in samples at `LIBRARY_RATE` from the first text's beginning."""


class EspeakLibrary:
    """A loaded copy of the library. Use it in a `with`, for one utterance, from one thread."""

    def __init__(self) -> None:
        """Load and initialise a copy of the library.

        Raises:
            EngineUnavailable: the library can't be loaded, or finds no data.
        """
        original = library_path()
        try:
            data = data_path()
            with _copy(original) as path:  # the mapping outlives the file
                self._library = ctypes.CDLL(path)
        except DamagedInstallation as error:
            raise EngineUnavailable(str(error)) from error
        except OSError as error:
            raise EngineUnavailable(
                f"espeak-ng's library can't be loaded from a copy of {original}: {error}; {cure()}"
            ) from error
        self.words: list[WordEvent] = []
        """Word events of the spoken texts, in the order in which they sound."""
        self._chunks: list[bytes] = []
        self._taken = 0
        """Number of samples received from the library so far."""
        self._text = 0
        self._text_start = 0
        """Number of samples before the present text."""
        self._callback = _Callback(self._take)
        rate = self._library.espeak_Initialize(_SYNCHRONOUS, 0, os.fsencode(data), _DONT_EXIT)
        if rate != LIBRARY_RATE:
            self.close()
            raise EngineUnavailable(
                f"espeak-ng doesn't start (it says {rate}) with its data in {data}; move it to a shorter path if that "
                f"has over 150 characters, or {cure()}"
            )
        self._library.espeak_SetSynthCallback(self._callback)

    def __enter__(self) -> EspeakLibrary:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Unload the copy. No method may be called afterwards."""
        self._library.espeak_Terminate()
        _ctypes.dlclose(self._library._handle)

    @property
    def version(self) -> str:
        """Version of espeak-ng, from the library."""
        self._library.espeak_Info.restype = ctypes.c_char_p
        version: bytes = self._library.espeak_Info(None)
        return version.decode()

    def speak(self, wanted: EspeakRequest) -> NDArray[np.int16]:
        """Speak plain text, in which neither SSML nor bracketed phonemes have a meaning; `stretched_speed` is ignored.

        Returns:
            Samples at `LIBRARY_RATE`, shape [n]; `words` has the sample at which each word begins.

        Raises:
            EngineError: the voice doesn't exist, or the library failed.
        """
        library = self._library
        self._announce(wanted)
        if library.espeak_SetVoiceByName(wanted.voice.encode()):
            raise EngineError(f"espeak-ng has no voice {wanted.voice}")
        library.espeak_SetParameter(_RATE, wanted.words_per_minute, 0)
        library.espeak_SetParameter(_PITCH, wanted.pitch, 0)
        library.espeak_ng_SetRandSeed(ctypes.c_long(1 + wanted.seed % SEEDS))  # 0 would mean the clock
        for self._text, text in enumerate(wanted.texts):
            data = text.encode()
            flags = _UTF8 | (_END_PAUSE if wanted.end_pause and self._text == len(wanted.texts) - 1 else 0)
            size = ctypes.c_size_t(len(data) + 1)
            self._text_start = self._taken
            if wanted.character:
                status = library.espeak_Char(ctypes.c_wchar(text))
            else:
                status = library.espeak_Synth(data, size, 0, _FROM_CHARACTER, 0, flags, None, None)
            if status:
                raise EngineError(f"espeak-ng failed with status {status}")
        return np.frombuffer(b"".join(self._chunks), dtype=np.int16)

    def _announce(self, wanted: EspeakRequest) -> None:
        """Set what is spoken besides words, and how loud."""
        library = self._library
        library.espeak_SetParameter(_VOLUME, wanted.volume, 0)
        if wanted.punctuation is not None:
            library.espeak_SetPunctuationList(ctypes.c_wchar_p(wanted.punctuation))
            library.espeak_SetParameter(_PUNCTUATION, _LISTED if wanted.punctuation else _ALL, 0)
        if wanted.capitals:
            library.espeak_SetParameter(_CAPITALS, _SPELLED, 0)

    def stretch(self, samples: NDArray[np.int16], speed: float) -> NDArray[np.int16]:
        """Samples played at another speed and the same pitch, by sonic (pitch periods are repeated or left out)."""
        change = self._library.sonicChangeShortSpeed
        change.argtypes = [ctypes.c_void_p, ctypes.c_int, *[ctypes.c_float] * 4, *[ctypes.c_int] * 3]
        # sonic overwrites its input, and returns slightly more or less than the exact length.
        buffer = np.zeros(round(len(samples) / speed) + LIBRARY_RATE, dtype=np.int16)
        buffer[: len(samples)] = samples
        length = change(buffer.ctypes.data, len(samples), speed, 1, 1, 1, 0, LIBRARY_RATE, 1)
        return buffer[:length]

    def _take(self, samples: ctypes._Pointer[ctypes.c_short], count: int, events: ctypes._Pointer[_Event]) -> int:
        number = 0
        while events and (event := events[number]).type != _LIST_TERMINATED:
            if event.type == _WORD:
                # Where sonic has shortened the buffer, the event still has its place in the unshortened one.
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
    """Path of a copy: unnamed memory on Linux, so that a killed worker leaves no file; elsewhere a temporary file."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create(original.name), "wb") as file:
            file.write(original.read_bytes())
            file.flush()
            # The loader treats equal paths as equal libraries, and descriptor numbers are reused: each thread has its
            # own path.
            yield f"/proc/self/task/{threading.get_native_id()}/fd/{file.fileno()}"
    else:
        with tempfile.TemporaryDirectory(prefix="kokoro-live-") as folder:
            yield shutil.copy(original, folder)


def answering() -> Callable[[bytes], bytes]:
    """Make the function for `shm.expendable` that turns an encoded `EspeakRequest` into an encoded `EspeakResult`, and
    one without texts into espeak-ng's version.

    The function raises `EngineUnavailable` or `DamagedInstallation` if the library can't be loaded or the voice's data
    is damaged, and `EngineError` if the voice doesn't exist or the library fails.

    Raises:
        DamagedInstallation: data is damaged that every voice needs.
    """
    quiet()
    data = EspeakData()

    def answer(request: bytes) -> bytes:
        wanted = decode_speech(request)
        data.check(wanted.voice.partition("+")[0])
        with EspeakLibrary() as library:
            if not wanted.texts:
                return library.version.encode()
            samples = library.speak(wanted)
            own_length = len(samples)
            if wanted.stretched_speed < 1.0:
                samples = library.stretch(samples, wanted.stretched_speed)
            words = [(word.text, word.place, word.sample) for word in library.words]
            return encode(EspeakResult(samples.tobytes(), own_length, words))

    return answer
