"""A command that takes all settings, and what it was given."""

import click
from click.testing import CliRunner, Result

from supervisor.settings.composition import KINDS, Settings
from supervisor.settings.options import settings_options


def ask(arguments: list[str], variables: dict[str, str] | None = None) -> tuple[Result, Settings | None]:
    """Run a command with all settings' options; what it was given."""
    got: list[Settings] = []

    @click.command()
    @settings_options(*KINDS)
    def command(**values: object) -> None:
        got.append(Settings.of(values))

    result = CliRunner().invoke(command, arguments, env=variables or {})
    return result, got[0] if got else None
