"""The setting that makes `serve` apply the tuning profile of `kokoro-live tune`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """The use of tuning profiles."""

    tuned: bool = field(
        default=True,
        metadata={"help": "Apply the profile of `kokoro-live tune`, unless --threads or --concurrency is given."},
    )
