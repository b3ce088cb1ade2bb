"""What plans are made from: an engine's costs as stored figures, which change seldom and on purpose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

_TOLERANCE = 1.25
"""A stored figure is kept while what it predicts is off by less than this factor."""

_GRID = 2**0.25
"""Between neighbouring values that a stored figure may have."""

_REFERENCES = (30, 100, 300)
"""Tokens: where two profiles' predictions are compared."""

_NEGLIGIBLE = 1e-4
"""Seconds. Below it a figure is 0: it decides nothing."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One engine, model and provider on one machine, alone. Figures are for speed 1; seconds unless said otherwise."""

    per_token: float
    """Work per token: of the whole segment, or of its prosody from an engine that vocodes in windows."""
    audio_per_token: float
    fixed: float = 0.0
    """Work per segment, whatever its length; counted like `per_token`."""
    audio_fixed: float = 0.0
    """Audio per segment, whatever its length: silence at its edges."""
    per_audio: float = 0.0
    """The vocoder's seconds of work per second of audio, from an engine that vocodes in windows."""
    first_block: float = 0.0
    """Audio in a segment's first block; 0: a segment is one block (`EngineInfo.first_block`)."""

    @classmethod
    def from_dict(cls, figures: Mapping[str, object]) -> Profile:
        """What `as_dict` gave.

        Raises:
            ValueError: those aren't a profile's figures. The message names the one that is wrong.
        """
        names = {field.name for field in fields(cls)}
        if unknown := sorted(figures.keys() - names):
            raise ValueError(f"a cost profile has no {unknown[0]!r}; it has {', '.join(sorted(names))}")
        checked: dict[str, float] = {}
        for name, value in figures.items():
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
                raise ValueError(f"a cost profile's {name} is seconds from 0 up, not {value!r}")
            checked[name] = float(value)
        for name in ("per_token", "audio_per_token"):
            if not checked.get(name):
                raise ValueError(f"a cost profile needs {name}, more than 0")
        return cls(**checked)

    def as_dict(self) -> dict[str, float]:
        """For storing."""
        return asdict(self)

    def audio(self, tokens: int, speed: float) -> float:
        """Seconds that a segment sounds."""
        return (self.audio_fixed + self.audio_per_token * tokens) / speed

    def seconds(self, tokens: int, speed: float) -> float:
        """Of work for a whole segment."""
        return self._prosody(tokens, speed) + self.per_audio * self.audio(tokens, speed)

    def first_audio(self, tokens: int, speed: float) -> float:
        """Of work until a segment's first block is there."""
        audio = self.audio(tokens, speed)
        return self._prosody(tokens, speed) + self.per_audio * min(self.first_block or audio, audio)

    def real_time_factor(self) -> float:
        """Seconds of work per second of audio, of a segment of ordinary length at speed 1."""
        return self.seconds(100, 1.0) / self.audio(100, 1.0)

    def follow(self, measured: Profile) -> Profile:
        """The profile to go on with: this one, unless `measured` predicts something that is off by a quarter.

        What takes its place is rounded onto a geometric grid: the same text must keep the same cuts, by which what
        was spoken is found again in caches, while measurements jitter.
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
                if field.name != "first_block"
            },
        )

    def _prosody(self, tokens: int, speed: float) -> float:
        # Nearly all the work of a whole segment is in its samples; prosody is work on tokens.
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


GUESS = Profile(per_token=0.04, audio_per_token=0.065)
"""Before anything was measured: the published int8 file on one core of the machine that docs/first-audio.md names."""

WINDOWED_GUESS = Profile(per_token=0.0045, audio_per_token=0.065, per_audio=0.6, first_block=0.3)
"""The same, vocoded in windows: prosody with what precedes the first window, and the vocoder."""


def guess(first_block: float = 0.0) -> Profile:
    """What is supposed of an engine that wasn't measured.

    Args:
        first_block: see `EngineInfo.first_block`.
    """
    return replace(WINDOWED_GUESS, first_block=first_block) if first_block else GUESS
