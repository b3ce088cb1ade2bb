"""Synthesis by espeak-ng in a helper process, because some texts are segmentation faults in its library."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from worker.espeak.espeak_library import EspeakLibrary


class Speech(msgspec.Struct):
    """Request to speak: the arguments of `EspeakLibrary.speak`."""

    texts: list[str]
    voice: str
    words_per_minute: int
    pitch: int
    end_pause: bool
    seed: int
    stretched_speed: float = 1.0
    """Speed at which sonic plays the result; 1 leaves it unchanged."""


class Spoken(msgspec.Struct):
    """Result of a request to speak."""

    samples: bytes
    """Samples as int16, native byte order, mono, at `LIBRARY_RATE`."""
    own_length: int
    """Number of samples before stretching; the samples of `words` are counted on this scale."""
    words: list[tuple[int, int, int]]
    """Text, place and sample of each `WordEvent`."""


encode = msgspec.msgpack.Encoder().encode
decode_spoken = msgspec.msgpack.Decoder(Spoken).decode


def answering() -> Callable[[bytes], bytes]:
    """Make the function for `shm.expendable` that turns an encoded `Speech` into an encoded `Spoken`.

    The function raises `EngineError` if the voice doesn't exist or the library fails.
    """
    decode = msgspec.msgpack.Decoder(Speech).decode

    def answer(request: bytes) -> bytes:
        wanted = decode(request)
        with EspeakLibrary() as library:
            samples = library.speak(
                wanted.texts,
                voice=wanted.voice,
                words_per_minute=wanted.words_per_minute,
                pitch=wanted.pitch,
                end_pause=wanted.end_pause,
                seed=wanted.seed,
            )
            own_length = len(samples)
            if wanted.stretched_speed < 1.0:
                samples = library.stretch(samples, wanted.stretched_speed)
            words = [(word.text, word.place, word.sample) for word in library.words]
            return encode(Spoken(samples.tobytes(), own_length, words))

    return answer
