"""Synthesis by espeak-ng in a helper process, because some texts are segmentation faults in its library."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from worker.espeak_library import EspeakLibrary


class Speech(msgspec.Struct):
    """What to speak: see `EspeakLibrary.speak`."""

    texts: list[str]
    voice: str
    words_per_minute: int
    pitch: int
    end_pause: bool
    seed: int
    stretched_speed: float = 1.0
    """Speed at which the result is played by sonic; 1 leaves it as it is."""


class Spoken(msgspec.Struct):
    """What was spoken."""

    samples: bytes
    """int16, native byte order, mono, at `LIBRARY_RATE`."""
    own_length: int
    """Samples before they were stretched: `words` counts these."""
    words: list[tuple[int, int, int]]
    """For each `WordEvent` its text, place and sample."""


encode = msgspec.msgpack.Encoder().encode
decode_spoken = msgspec.msgpack.Decoder(Spoken).decode


def answering() -> Callable[[bytes], bytes]:
    """A function from an encoded `Speech` to an encoded `Spoken`, for `shm.expendable`.

    The function raises `EngineError`: there is no such voice, or the library failed.
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
