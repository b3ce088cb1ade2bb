"""All settings of a server, composed of the folders' own dataclasses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import click

from frontend.settings.front import FrontSettings, JobSettings
from player.settings import PlayerSettings
from shm.setting import Group, setting
from supervisor.settings.command import SettingsCommand
from supervisor.settings.options import settings_of, settings_options
from supervisor.settings.supervisor import SupervisorSettings
from text.settings import TextSettings
from worker.settings import WorkerSettings


@dataclass(frozen=True, slots=True)
class TuningSettings:
    tuned: bool = setting(
        Group.MACHINE,
        "Apply the profile of `kokoro-live tune`, unless --threads or --concurrency is given.",
        True,
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of `kokoro-live serve`.

    Raises:
        ValueError: a dialect that nobody speaks; the message names the setting.
    """

    supervisor: SupervisorSettings = field(default_factory=SupervisorSettings)
    tuning: TuningSettings = field(default_factory=TuningSettings)
    front: FrontSettings = field(default_factory=FrontSettings)
    text: TextSettings = field(default_factory=TextSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    player: PlayerSettings = field(default_factory=PlayerSettings)
    jobs: JobSettings = field(default_factory=JobSettings)

    def __post_init__(self) -> None:
        if wanted := set(self.front.dialects) - {"all"}:
            # Not above: the dialects import the front's HTTP, and most command lines name none.
            from frontend.dialects.all import ALL

            names = [dialect.name for dialect in ALL if dialect.optional]
            if unknown := sorted(wanted - set(names)):
                raise ValueError(f"dialects: there is no {unknown[0]!r}; there are {', '.join(['all', *names])}")

    @classmethod
    def of(cls, values: dict[str, Any]) -> Settings:
        """Settings from one flat mapping, as the command line has it.

        Raises:
            ValueError: a value that makes no sense; the message names it.
        """
        settings = cls(
            **{
                part.name: kind(**{f.name: values[f.name] for f in settings_of(kind) if f.name in values})
                for part, kind in zip(fields(cls), KINDS, strict=True)
            }
        )
        if settings.worker.engine != "auto":
            from worker.select import asked_rows  # commands without an engine load neither it nor msgspec

            asked_rows(settings.worker)
        return settings

    @classmethod
    def given(cls, context: click.Context) -> Settings:
        """The settings of a parsed command line.

        Raises:
            click.UsageError: a value makes no sense.
        """
        try:
            return cls.of(context.params)
        except ValueError as error:
            raise click.UsageError(str(error)) from error


KINDS: tuple[type[Any], ...] = (
    SupervisorSettings,
    TuningSettings,
    FrontSettings,
    TextSettings,
    WorkerSettings,
    PlayerSettings,
    JobSettings,
)
"""The dataclasses from which the command line makes options; no two have a field of the same name."""

SETTINGS = frozenset(each.name for kind in KINDS for each in settings_of(kind))


def parse_settings(arguments: Sequence[str]) -> click.Context:
    """The context of `kokoro-live serve ARGUMENTS`, with flags, variables and the config file read now.

    Raises:
        click.ClickException: `serve` would reject them.
    """
    command = settings_options(*KINDS)(SettingsCommand("serve"))
    command.params.reverse()
    return command.make_context("kokoro-live serve", list(arguments))
