"""All settings of a server, composed of the folders' own dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from frontend.settings.front import FrontSettings
from frontend.settings.jobs import JobSettings
from player.settings import PlayerSettings
from supervisor.settings.supervisor import SupervisorSettings
from text.normalization.settings import Normalization
from text.settings import TextSettings
from worker.settings import WorkerSettings

# The setting that makes `serve` apply the tuning profile of `kokoro-live tune`.


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """The use of tuning profiles."""

    tuned: bool = field(
        default=True,
        metadata={"help": "Apply the profile of `kokoro-live tune`, unless --threads or --concurrency is given."},
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of `kokoro-live serve`."""

    supervisor: SupervisorSettings = field(default_factory=SupervisorSettings)
    tuning: TuningSettings = field(default_factory=TuningSettings)
    front: FrontSettings = field(default_factory=FrontSettings)
    text: TextSettings = field(default_factory=TextSettings)
    normalization: Normalization = field(default_factory=Normalization)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    player: PlayerSettings = field(default_factory=PlayerSettings)
    jobs: JobSettings = field(default_factory=JobSettings)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Settings:
        """Settings from one flat mapping, as the command line has it.

        Raises:
            ValueError: a value that makes no sense; the message names it.
        """
        return cls(
            **{
                part.name: kind(**{f.name: values[f.name] for f in fields(kind) if f.name in values})
                for part, kind in zip(fields(cls), KINDS, strict=True)
            }
        )


KINDS: tuple[type[Any], ...] = (
    SupervisorSettings,
    TuningSettings,
    FrontSettings,
    TextSettings,
    Normalization,
    WorkerSettings,
    PlayerSettings,
    JobSettings,
)
"""The dataclasses from which the command line makes options; no two have a field of the same name."""

SETTINGS = frozenset(each.name for kind in KINDS for each in fields(kind))
"""Names of all settings."""
