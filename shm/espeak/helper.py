"""The work of espeak-ng's helper processes (`shm.expendable`). The library runs in them alone: some texts crash it.

No file of the library is written, and the library is loaded from its installed path, unless it is to speak (phonemizer
copies it into a temporary folder, which remains after SIGKILL).

It keeps its state in static variables, and `espeak_Terminate` doesn't reset all of it: the phase of the pitch
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
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType

import msgspec

from shm.audio import SAMPLE_BYTES
from shm.espeak.installation import DamagedInstallation, EspeakData, cure, library_path
from shm.espeak.messages import LIBRARY_RATE, SEEDS, EspeakRequest, EspeakResult, PhonemesRequest, decode_speech, encode

_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_RATE, _VOLUME, _PITCH, _PUNCTUATION, _CAPITALS = 1, 2, 3, 5, 6
_ALL, _LISTED, _SPELLED = 1, 2, 2
_FROM_CHARACTER = 1
_UTF8 = 1
_SSML = 0x10
_END_PAUSE = 0x1000
_IPA_WITH_TIES = 0x02 | 1 << 7 | 0x361 << 8
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


class EspeakFailure(Exception):
    """The library failed without crashing."""


class EspeakLibrary:
    """The loaded library. Use it from one thread; a private copy in a `with`, for one utterance."""

    def __init__(self, data: EspeakData, private: bool = False) -> None:
        """Load and initialise the library.

        Args:
            private: load a copy that has never spoken.

        Raises:
            DamagedInstallation: the library can't be loaded, or finds no data.
        """
        original = library_path()
        try:
            with _copy(original) if private else nullcontext(str(original)) as path:  # a mapping outlives the file
                self._library = ctypes.CDLL(path)
        except OSError as error:
            raise DamagedInstallation(f"espeak-ng's library {original} can't be loaded: {error}; {cure()}") from error
        self.words: list[tuple[int, int, int]] = []
        """Words of the spoken texts, in the order in which they sound, as in `EspeakResult.words`."""
        self._data = data
        self._voice = ""
        self._chunks: list[bytes] = []
        self._taken = 0
        """Number of samples received from the library so far."""
        self._text = 0
        self._text_start = 0
        """Number of samples before the present text."""
        self._callback = _Callback(self._take)
        rate = self._library.espeak_Initialize(_SYNCHRONOUS, 0, os.fsencode(data.path), _DONT_EXIT)
        if rate != LIBRARY_RATE:
            self.unload()
            raise DamagedInstallation(
                f"espeak-ng doesn't start (it says {rate}) with its data in {data.path}; move it to a shorter path if "
                f"that has over 150 characters, or {cure()}"
            )
        self._library.espeak_SetSynthCallback(self._callback)
        self._library.espeak_Info.restype = ctypes.c_char_p
        self._library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._library.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]

    def __enter__(self) -> EspeakLibrary:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.unload()

    def unload(self) -> None:
        """Unload the copy. No method may be called afterwards."""
        self._library.espeak_Terminate()
        _ctypes.dlclose(self._library._handle)

    @property
    def version(self) -> str:
        version: bytes = self._library.espeak_Info(None)
        return version.decode()

    def phonemes(self, text: str, voice: str) -> str:
        """IPA of the text, its clauses joined with spaces.

        Raises:
            DamagedInstallation: the voice's data is damaged, or there is none.
        """
        if voice != self._voice:
            self._data.check(voice)
            if self._library.espeak_SetVoiceByName(voice.encode()):
                raise DamagedInstallation(f"espeak-ng's data has no voice {voice}: {cure()}")
            self._voice = voice
        rest = ctypes.pointer(ctypes.c_char_p(text.encode()))
        found: list[str] = []
        while rest.contents.value is not None:
            if phonemes := self._library.espeak_TextToPhonemes(rest, _UTF8, _IPA_WITH_TIES):
                found.append(phonemes.decode())
        return " ".join(found)

    def speak(self, wanted: EspeakRequest) -> bytes:
        """Speak plain text or SSML, in which bracketed phonemes have no meaning; `stretched_speed` is ignored.

        Returns:
            Samples at `LIBRARY_RATE`, int16; `words` has the sample at which each word begins.

        Raises:
            EspeakFailure: the voice doesn't exist, or the library failed.
        """
        library = self._library
        self._announce(wanted)
        if library.espeak_SetVoiceByName(wanted.voice.encode()):
            raise EspeakFailure(f"espeak-ng has no voice {wanted.voice}")
        library.espeak_SetParameter(_RATE, wanted.words_per_minute, 0)
        library.espeak_SetParameter(_PITCH, wanted.pitch, 0)
        library.espeak_ng_SetRandSeed(ctypes.c_long(1 + wanted.seed % SEEDS))  # 0 would mean the clock
        for self._text, text in enumerate(wanted.texts):
            data = text.encode()
            last = self._text == len(wanted.texts) - 1
            flags = _UTF8 | wanted.ssml * _SSML | (_END_PAUSE if wanted.end_pause and last else 0)
            size = ctypes.c_size_t(len(data) + 1)
            self._text_start = self._taken
            if wanted.character:
                status = library.espeak_Char(ctypes.c_wchar(text))
            else:
                status = library.espeak_Synth(data, size, 0, _FROM_CHARACTER, 0, flags, None, None)
            if status:
                raise EspeakFailure(f"espeak-ng failed with status {status}")
        return b"".join(self._chunks)

    def _announce(self, wanted: EspeakRequest) -> None:
        """Set what is spoken besides words, and how loud."""
        library = self._library
        library.espeak_SetParameter(_VOLUME, wanted.volume, 0)
        if wanted.punctuation is not None:
            library.espeak_SetPunctuationList(ctypes.c_wchar_p(wanted.punctuation))
            library.espeak_SetParameter(_PUNCTUATION, _LISTED if wanted.punctuation else _ALL, 0)
        if wanted.capitals:
            library.espeak_SetParameter(_CAPITALS, _SPELLED, 0)

    def stretch(self, samples: bytes, speed: float) -> bytes:
        """Samples played at another speed and the same pitch, by sonic (pitch periods are repeated or left out)."""
        change = self._library.sonicChangeShortSpeed
        change.argtypes = [ctypes.c_void_p, ctypes.c_int, *[ctypes.c_float] * 4, *[ctypes.c_int] * 3]
        # sonic overwrites its input, and returns slightly more or less than the exact length.
        count = len(samples) // SAMPLE_BYTES
        buffer = ctypes.create_string_buffer(samples, SAMPLE_BYTES * (round(count / speed) + LIBRARY_RATE))
        length = change(buffer, count, speed, 1, 1, 1, 0, LIBRARY_RATE, 1)
        return buffer.raw[: SAMPLE_BYTES * length]

    def _take(self, samples: ctypes._Pointer[ctypes.c_short], count: int, events: ctypes._Pointer[_Event]) -> int:
        number = 0
        while events and (event := events[number]).type != _LIST_TERMINATED:
            if event.type == _WORD:
                # Where sonic has shortened the buffer, the event still has its place in the unshortened one.
                within = event.sample - (self._taken - self._text_start)
                place = event.text_position - 1
                self.words.append((self._text, place, self._taken + min(max(within, 0), max(count, 0))))
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


def pronouncing() -> Callable[[bytes], bytes]:
    """Make the function that turns a `PhonemesRequest` in JSON into the phonemes of each text, or the version, in JSON.

    The library stays loaded, and keeps its voice in static variables.

    Raises:
        DamagedInstallation: the library can't be loaded, or lacks its data.
    """
    _silence_library()
    library = EspeakLibrary(EspeakData())
    decode = msgspec.json.Decoder(PhonemesRequest).decode

    def answer(request: bytes) -> bytes:
        asked = decode(request)
        if not asked.texts:
            return msgspec.json.encode([library.version])
        return msgspec.json.encode([library.phonemes(text, asked.voice) for text in asked.texts])

    return answer


def speaking() -> Callable[[bytes], bytes]:
    """Make the function that turns an encoded `EspeakRequest` into an encoded `EspeakResult`, and a request without
    texts into espeak-ng's version.

    The function raises `DamagedInstallation` if the library can't be loaded or the voice's data is damaged, and
    `EspeakFailure` if the voice doesn't exist or the library fails.

    Raises:
        DamagedInstallation: data is damaged that every voice needs.
    """
    _silence_library()
    data = EspeakData()

    def answer(request: bytes) -> bytes:
        wanted = decode_speech(request)
        data.check(wanted.voice.partition("+")[0])
        with EspeakLibrary(data, private=True) as library:
            if not wanted.texts:
                return library.version.encode()
            samples = library.speak(wanted)
            own_length = len(samples) // SAMPLE_BYTES
            if wanted.stretched_speed < 1.0:
                samples = library.stretch(samples, wanted.stretched_speed)
            return encode(EspeakResult(samples, own_length, library.words))

    return answer


def _silence_library() -> None:
    """Drop what this process writes to standard error: the library's own complaints, a line for each sound that damaged
    data spoils. The caller logs the reason once."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
