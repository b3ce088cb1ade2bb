"""The command line of `serve`, parsed without running it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from supervisor.settings.composition import KINDS
from supervisor.settings.options import settings_options


def parse_settings(arguments: Sequence[str]) -> click.Context:
    """The context of `kokoro-live serve ARGUMENTS`, with flags, variables and the config file read now.

    Raises:
        click.ClickException: `serve` would reject them.
    """
    command = click.Command("serve", params=settings_parameters())
    return command.make_context("serve", list(arguments))


def settings_parameters() -> list[click.Parameter]:
    """An option for each setting, and `--config`."""
    return settings_options(*KINDS)(click.Command("serve")).params[::-1]
