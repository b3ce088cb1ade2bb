"""What espeak-ng's helper processes do (`shm.expendable`). The library runs in them alone: some texts crash it."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from shm.audio import SAMPLE_BYTES
from shm.espeak.installation import EspeakData
from shm.espeak.library import EspeakLibrary
from shm.espeak.messages import EspeakResult, PhonemesRequest, decode_speech, encode


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
