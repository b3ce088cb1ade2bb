"""The manner in which a client wants its texts spoken: the parameters of Speech Dispatcher's SET."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

_NUMBERS = {"rate", "pitch", "pitch_range", "volume"}
_CHOICES = {
    "punctuation_mode": ("none", "some", "most", "all"),
    "spelling_mode": ("off", "on"),
    "cap_let_recogn": ("none", "spell", "icon"),
}
_NAMES = {"voice": "voice_type", "synthesis_voice": "voice", "language": "language"}

MIN_SPEED, MAX_SPEED = 0.25, 4.0
_WORDS_PER_MINUTE = 175
_SLOWEST, _FASTEST = 80, 900
"""Words per minute that espeak-ng speaks."""


@dataclass(frozen=True, slots=True)
class Manner:
    """Values as Speech Dispatcher sends them; its numbers go from -100 to 100."""

    rate: int = 0
    pitch: int = 0
    pitch_range: int = 0
    """Taken and without effect: neither Kokoro nor a resampler has it."""
    volume: int = 100
    voice_type: str = "male1"
    voice: str = ""
    """A voice's name; empty if the client chose none."""
    language: str = ""
    punctuation_mode: str = "none"
    spelling_mode: str = "off"
    cap_let_recogn: str = "none"

    def with_value(self, name: str, value: str) -> Manner:
        """The manner with one more parameter.

        Raises:
            ValueError: there is no such parameter, or no such value.
        """
        value = "" if value == "NULL" else value
        changed: dict[str, Any]
        if name in _NUMBERS:
            if not -100 <= int(value) <= 100:
                raise ValueError(value)
            changed = {name: int(value)}
        elif name in _CHOICES:
            if value not in _CHOICES[name]:
                raise ValueError(value)
            changed = {name: value}
        elif name in _NAMES:
            changed = {_NAMES[name]: value.strip() if name != "voice" else value.strip().lower()}
        else:
            raise ValueError(name)
        return replace(self, **changed)

    @property
    def pace(self) -> float:
        """Speed of the speech as a factor: doubled by 50 steps of the rate, so 0.25 to 4."""
        return math.exp2(self.rate / 50)

    @property
    def pitch_factor(self) -> float:
        """Factor on all frequencies, which is that on the sample rate: half an octave down or up at the most."""
        return math.exp2(self.pitch / 200)

    @property
    def speed(self) -> float:
        """The server's `speed`: the pace without what the changed sample rate adds to it."""
        return min(max(self.pace / self.pitch_factor, MIN_SPEED), MAX_SPEED)

    @property
    def loudness(self) -> float:
        return (self.volume + 100) / 200

    @property
    def words_per_minute(self) -> int:
        return min(max(round(_WORDS_PER_MINUTE * self.pace), _SLOWEST), _FASTEST)

    @property
    def espeak_pitch(self) -> int:
        """espeak-ng's pitch, 0 to 99."""
        return min(max(50 + self.pitch // 2, 0), 99)
