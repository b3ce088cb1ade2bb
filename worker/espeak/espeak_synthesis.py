"""Synthesis by espeak-ng in a helper process, because some texts are segmentation faults in its library."""

from __future__ import annotations

from collections.abc import Callable

from worker.espeak.espeak_library import EspeakLibrary
from worker.espeak.espeak_messages import EspeakResult, decode_speech, encode


def answering() -> Callable[[bytes], bytes]:
    """Make the function for `shm.expendable` that turns an encoded `EspeakRequest` into an encoded `EspeakResult`.

    The function raises `EngineError` if the voice doesn't exist or the library fails.
    """

    def answer(request: bytes) -> bytes:
        wanted = decode_speech(request)
        with EspeakLibrary() as library:
            samples = library.speak(wanted)
            own_length = len(samples)
            if wanted.stretched_speed < 1.0:
                samples = library.stretch(samples, wanted.stretched_speed)
            words = [(word.text, word.place, word.sample) for word in library.words]
            return encode(EspeakResult(samples.tobytes(), own_length, words))

    return answer
