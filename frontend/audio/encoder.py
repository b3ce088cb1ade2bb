"""The interface of an encoder: a stream's samples become the bytes of one audio format."""

from __future__ import annotations

from typing import Protocol

from shm.audio import Pcm


class Encoder(Protocol):
    """One stream's encoder, used by one thread at a time: `encode` any number of times, `finish` once, `close`."""

    @property
    def given_out(self) -> float:
        """Seconds of audio whose bytes were returned so far; a codec looks ahead, so it lags what was encoded."""
        ...

    def encode(self, pcm: Pcm) -> bytes:
        """The bytes that are ready once these samples have come; may be empty. `pcm` isn't kept."""
        ...

    def finish(self) -> bytes:
        """The rest, now that no sample follows."""
        ...

    def close(self) -> None:
        """Give back what the encoder holds; nothing more comes of it. Idempotent."""
        ...
