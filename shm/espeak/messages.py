"""Requests to espeak-ng's helper processes and their results, and the languages that it speaks by its own names."""

from __future__ import annotations

import msgspec

from shm.decoding import msgpack_decoder

LIBRARY_RATE = 22_050
"""Sampling rate of espeak-ng 1.52, in samples per second."""

SEEDS = 2**31 - 2
"""Number of distinct noise seeds; larger seeds wrap round."""

SPEAKING = "shm.espeak.helper:speaking"
"""The target for `shm.expendable` that turns an encoded `EspeakRequest` into an encoded `EspeakResult`."""

PRONOUNCING = "shm.espeak.helper:pronouncing"
"""The target that turns an encoded `PhonemesRequest` into a list of phonemes in JSON."""

LANGUAGE_FILES = {
    "en-us": "en-us",
    "en-gb": "en",
    "es": "es",
    "fr-fr": "fr",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "pt-br": "pt-br",
    "cmn": "cmn",
}
"""espeak-ng's voice file by language code. It finds `en-gb` and `fr-fr` by voice name only, not by file, and `en-gb`
not with a variant (`en-gb+f2`)."""


class PhonemesRequest(msgspec.Struct):
    """Texts to pronounce, or no texts to ask for espeak-ng's version."""

    voice: str
    """A language's file name."""
    texts: list[str]


class EspeakRequest(msgspec.Struct):
    texts: list[str]
    """Texts to speak one after another without a pause in between. They must not contain control characters, some of
    which are commands to espeak-ng, nor anything that crashes it (`shm.espeak.pieces`)."""
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
    ssml: bool = False
    """True if the texts are SSML."""
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
    """Index of the text, place and sample of each word.

    The place is the index of the word's first character in that text. Words that are read from one written word
    ("2026") share a place, and some words that the library runs together ("of the") only have the first one's. The
    sample is where the word's sound starts, counted from the first text's beginning."""


encode = msgspec.msgpack.Encoder().encode
decode_speech = msgpack_decoder(EspeakRequest)
decode_spoken = msgpack_decoder(EspeakResult)
