"""What `install-service` and `uninstall-service` share: the manager's commands, shown or run, and two options."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence

import click

from supervisor.startup.manager import Step

manager_option = click.option(
    "--manager",
    "kind",
    type=click.Choice(["launchd", "systemd"]),
    help="Whose files to write.  [default: launchd on macOS, systemd on Linux]",
)

name_option = click.option(
    "--name", default="", help="For a second server on this machine: `--name kitchen` makes kokoro-live-kitchen of it."
)


def shown(steps: Sequence[Step]) -> str:
    """For a shell."""
    return "\n".join(f"  {shlex.join(step.words)}{' || true' if step.may_fail else ''}" for step in steps)


def run(steps: Sequence[Step]) -> None:
    """Run them in order.

    Raises:
        click.ClickException: one that may not fail has failed, with what it said.
    """
    for step in steps:
        click.echo(f"$ {shlex.join(step.words)}")
        try:
            done = subprocess.run(step.words, capture_output=True, text=True)
        except OSError as error:
            raise click.ClickException(f"{step.words[0]} can't be run: {error.strerror}") from error
        if done.returncode and not step.may_fail:
            raise click.ClickException(f"{step.words[0]} failed with {done.returncode}: {done.stderr.strip()}")
