"""How long a script will sound, and how long an engine will take for it, from how it was with those before it."""

from __future__ import annotations

from shm.audio import SAMPLE_RATE

_FIRST_SOUND = 0.07
"""Seconds of audio per token at speed 1: 27.7 s for 400 tokens of Kokoro; espeak-ng's text is near it."""

_FIRST_WORK = 0.05
"""Seconds of work per token: Kokoro in fp32 on one thread of a slow processor."""

_WEIGHT = 0.1
"""Of the newest segment in the running means, at least: the first one replaces the guess, the second counts half."""


class Estimate:
    """Running means for one engine."""

    def __init__(self) -> None:
        self._sound = _FIRST_SOUND
        self._work = _FIRST_WORK
        self._seen = 0

    def observe(self, tokens: int, speed: float, samples: int, seconds: float) -> None:
        """A segment of `tokens` had `samples` samples, which took `seconds` to make."""
        self._seen += 1
        weight = max(1 / self._seen, _WEIGHT)
        sound = samples / SAMPLE_RATE * speed / max(tokens, 1)
        self._sound += weight * (sound - self._sound)
        self._work += weight * (seconds * speed / max(tokens, 1) - self._work)

    def samples(self, tokens: int, speed: float) -> int:
        """The expected length of a script."""
        return int(tokens * self._sound / speed * SAMPLE_RATE)

    def seconds(self, tokens: int, speed: float) -> float:
        """The expected time to make it."""
        return tokens * self._work / speed
