"""How long a script will sound, from how long those before it did."""

from __future__ import annotations

from shm.audio import SAMPLE_RATE

_FIRST_GUESS = 0.07
"""Seconds of audio per token at speed 1: 27.7 s for 400 tokens of Kokoro; espeak-ng's text is near it."""

_WEIGHT = 0.1
"""Of the newest segment in the running mean."""


class LengthEstimate:
    """A running mean of audio seconds per token at speed 1, for one engine."""

    def __init__(self) -> None:
        self.seconds_per_token = _FIRST_GUESS

    def observe(self, tokens: int, speed: float, samples: int) -> None:
        """A segment of `tokens` had `samples` samples."""
        seen = samples / SAMPLE_RATE * speed / max(tokens, 1)
        self.seconds_per_token += _WEIGHT * (seen - self.seconds_per_token)

    def samples(self, tokens: int, speed: float) -> int:
        """The expected length of a script."""
        return int(tokens * self.seconds_per_token / speed * SAMPLE_RATE)
