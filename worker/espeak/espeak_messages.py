"""Messages to and from espeak-ng's helper process. They need no numpy, so that small programs can ask too."""

from __future__ import annotations

import msgspec

LIBRARY_RATE = 22_050
"""Sampling rate of espeak-ng 1.52, in samples per second."""

SPEAKING = "worker.espeak.espeak_library:answering"
"""The target for `shm.expendable` that turns an encoded `EspeakRequest` into an encoded `EspeakResult`."""


class EspeakRequest(msgspec.Struct):
    """Request to speak."""

    texts: list[str]
    """Texts to speak one after another without a pause in between. They must not contain control characters, some of
    which are commands to espeak-ng, nor anything that crashes it: `worker.espeak.espeak_text`."""
    voice: str
    """A language's file name and a variant, such as `en-us+f2`."""
    words_per_minute: int
    """80 to 449 is the synthesiser's own range; from 450 on it shortens its audio with sonic."""
    pitch: int
    """0 to 99; 50 is the voice's own."""
    end_pause: bool
    """True to end the last text with the pause that its last punctuation mark demands."""
    seed: int
    """Seed of the breath noise."""
    stretched_speed: float = 1.0
    """Speed at which sonic plays the result; 1 leaves it unchanged."""
    volume: int = 100
    """Loudness in percent; 100 is the library's own."""
    punctuation: str | None = None
    """Punctuation marks that are spoken by name; "" names all of them, None none."""
    capitals: bool = False
    """True if capitals are announced."""
    character: bool = False
    """True if `texts` is one character, to be spoken by its name."""


class EspeakResult(msgspec.Struct):
    """Result of a request to speak."""

    samples: bytes
    """Samples as int16, native byte order, mono, at `LIBRARY_RATE`."""
    own_length: int
    """Number of samples before stretching; the samples of `words` are counted on this scale."""
    words: list[tuple[int, int, int]]
    """Text, place and sample of each `WordEvent`."""


encode = msgspec.msgpack.Encoder().encode
decode_speech = msgspec.msgpack.Decoder(EspeakRequest).decode
decode_spoken = msgspec.msgpack.Decoder(EspeakResult).decode
