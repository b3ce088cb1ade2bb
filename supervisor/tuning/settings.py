"""Whether `serve` uses what `kokoro-live tune` found."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """The use of tuning profiles."""

    tuned: bool = field(
        default=True,
        metadata={"help": "Take what `kokoro-live tune` found here for the settings that aren't given."},
    )
