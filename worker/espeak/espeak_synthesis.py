"""Synthesis by espeak-ng in a helper process, because some texts are segmentation faults in its library."""

from __future__ import annotations

from collections.abc import Callable

from shm.espeak_installation import EspeakData, quiet
from worker.espeak.espeak_library import EspeakLibrary
from worker.espeak.espeak_messages import EspeakResult, decode_speech, encode


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
