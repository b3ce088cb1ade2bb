"""Cost profiles: an engine's stored cost figures, from which plans are made; they change rarely."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace

_TOLERANCE = 1.25
"""Factor of tolerance: a stored figure is kept while its predictions are off by less than this."""

_GRID = 2**0.25
"""Ratio between neighbouring values of a stored figure."""

_REFERENCES = (30, 100, 300)
"""Segment lengths, in tokens, at which two profiles' predictions are compared."""

_NEGLIGIBLE = 1e-4
"""Seconds below which a figure is stored as 0, because it decides nothing."""


@dataclass(frozen=True, slots=True)
class CostProfile:
    """Costs of one engine, model and provider on one machine, for a lone run at speed 1; in seconds unless said
    otherwise."""

    per_token: float
    """Work per token: on the whole segment, or on its prosody if the engine vocodes in windows."""
    audio_per_token: float
    fixed: float = 0.0
    """Work per segment, whatever its length; on the whole segment or on its prosody, like `per_token`."""
    audio_fixed: float = 0.0
    """Audio per segment, whatever its length: silence at its edges."""
    per_audio: float = 0.0
    """Vocoder work per second of audio that is made; 0 unless the engine vocodes in windows."""
    first_block: float = 0.0
    """Audio in a segment's first block; 0 if a segment is one block (`EngineInfo.first_block`)."""
    shortens_above: float = 0.0
    """Speed above which audio is made at this speed, and shortened (`EngineInfo.shortens_above`); 0: never."""

    def as_dict(self) -> dict[str, float]:
        return asdict(self)

    def slowed(self, factor: float) -> CostProfile:
        """The costs of an engine whose work takes `factor` times as long."""
        return replace(
            self, fixed=self.fixed * factor, per_token=self.per_token * factor, per_audio=self.per_audio * factor
        )

    def at_speed(self, speed: float) -> CostProfile:
        """The costs of a segment that is spoken at `speed`, as those of one at speed 1."""
        return replace(
            self,
            per_token=self.per_token if self.first_block else self.per_token / speed,
            audio_per_token=self.audio_per_token / speed,
            audio_fixed=self.audio_fixed / speed,
            per_audio=self.per_audio * self.made(speed),
            first_block=self.first_block / self.made(speed),
            shortens_above=0.0,
        )

    def made(self, speed: float) -> float:
        """Seconds of audio that are made for each one that is heard."""
        return max(1.0, speed / self.shortens_above) if self.shortens_above else 1.0

    def audio(self, tokens: int, speed: float) -> float:
        """Length of a segment's audio in seconds."""
        return (self.audio_fixed + self.audio_per_token * tokens) / speed

    def seconds(self, tokens: int, speed: float) -> float:
        """Seconds of work on a whole segment."""
        return self._before_audio(tokens, speed) + self.per_audio * self.made(speed) * self.audio(tokens, speed)

    def first_audio(self, tokens: int, speed: float) -> float:
        """Seconds of work until a segment's first block is made."""
        audio = self.made(speed) * self.audio(tokens, speed)
        return self._before_audio(tokens, speed) + self.per_audio * min(self.first_block or audio, audio)

    def prosody(self, tokens: int) -> float:
        """Seconds of work before a segment's first window can be made; 0 unless the engine vocodes in windows."""
        return self._before_audio(tokens, 1.0) if self.first_block else 0.0

    def real_time_factor(self, speed: float = 1.0) -> float:
        """Seconds of work per second of audio, for a segment of 100 tokens."""
        return self.seconds(100, speed) / self.audio(100, speed)

    def follow(self, measured: CostProfile) -> CostProfile:
        """The profile for the next plans: this one, unless `measured` predicts something that differs by a quarter.

        A new profile's figures are rounded onto a geometric grid. Without that, jitter in the measurements would change
        the cuts of a text, and caches, which find spoken segments by their cuts, would miss.
        """
        if self.first_block == measured.first_block and not any(
            _off(ours, theirs) for ours, theirs in zip(self._predictions(), measured._predictions(), strict=True)
        ):
            return self
        return replace(
            measured,
            **{
                field.name: _rounded(getattr(measured, field.name))
                for field in fields(measured)
                if field.name not in ("first_block", "shortens_above")
            },
        )

    def _before_audio(self, tokens: int, speed: float) -> float:
        # Nearly all the work on a whole segment is on its samples; prosody is work on tokens.
        return self.fixed + self.per_token * (tokens if self.first_block else tokens / speed)

    def _predictions(self) -> list[float]:
        return [
            figure(tokens, 1.0) for figure in (self.seconds, self.first_audio, self.audio) for tokens in _REFERENCES
        ]


def _off(ours: float, theirs: float) -> bool:
    if max(ours, theirs) < _NEGLIGIBLE:
        return False
    return not 1 / _TOLERANCE <= ours / max(theirs, _NEGLIGIBLE) <= _TOLERANCE


def _rounded(figure: float) -> float:
    if figure < _NEGLIGIBLE:
        return 0.0
    return float(f"{_GRID ** round(math.log(figure, _GRID)):.4g}")


GUESS = CostProfile(per_token=0.04, audio_per_token=0.065)
"""CostProfile of an engine that makes segments whole, before any measurement. docs/first-audio.md has the published
int8 file's figures on one core alongside these."""

WINDOWED_GUESS = CostProfile(per_token=0.0023, audio_per_token=0.065, per_audio=0.3, first_block=0.3)
"""CostProfile of an engine that vocodes in windows, before any measurement; prosody includes the work before the first
window. docs/first-audio.md has the measurement."""


def guess(first_block: float = 0.0, shortens_above: float = 0.0) -> CostProfile:
    """CostProfile of an engine that hasn't been measured.

    Args:
        first_block: seconds of audio in a segment's first block (`EngineInfo.first_block`).
        shortens_above: `EngineInfo.shortens_above`.
    """
    return replace(WINDOWED_GUESS, first_block=first_block, shortens_above=shortens_above) if first_block else GUESS
