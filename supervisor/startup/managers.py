"""The choice of this machine's service manager."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from supervisor.startup.launchd import Launchd
from supervisor.startup.manager import Manager, Step
from supervisor.startup.systemd import Systemd


def manager(kind: str | None) -> Manager:
    """The manager `launchd` or `systemd`; None chooses this machine's.

    Raises:
        ValueError: this machine has neither.
    """
    if kind is None:
        kind = {"darwin": "launchd", "linux": "systemd"}.get(sys.platform)
    if kind == "launchd":
        return Launchd(Path.home(), os.getuid())
    if kind == "systemd":
        config = os.environ.get("XDG_CONFIG_HOME")
        return Systemd(Path(config) if config else Path.home() / ".config")
    raise ValueError("this machine has neither launchd nor systemd: see to it that `kokoro-live serve` is started")


manager_option = click.option(
    "--manager",
    "kind",
    type=click.Choice(["launchd", "systemd"]),
    help="The service manager to write files for.  [default: launchd on macOS, systemd on Linux]",
)

name_option = click.option(
    "--name", default="", help="For a second server on this machine: `--name kitchen` makes kokoro-live-kitchen of it."
)


NO_BUS = (
    "systemctl --user reaches no session of this user, as under su or sudo, or in a container. Log in as the user "
    "(over ssh, or with `machinectl shell USER@`), or have a session without a login: "
    "`sudo loginctl enable-linger USER`, then `export XDG_RUNTIME_DIR=/run/user/$(id -u)`"
)
"""The remedy if there is no user bus."""

_BUS_FAILURES = "connect to bus", "XDG_RUNTIME_DIR"


def lacks_bus(environment: Mapping[str, str]) -> bool:
    """True if systemd's user manager can't be reached from this process."""
    runtime = environment.get("XDG_RUNTIME_DIR")
    if runtime and any((Path(runtime) / socket).exists() for socket in ("bus", "systemd/private")):
        return False
    return "DBUS_SESSION_BUS_ADDRESS" not in environment


def shown(steps: Sequence[Step]) -> str:
    """The commands as lines for a shell."""
    return "\n".join(f"  {shlex.join(step.words)}{' || true' if step.may_fail else ''}" for step in steps)


def run(steps: Sequence[Step]) -> None:
    """Run the commands in order.

    Raises:
        click.ClickException: a command that may not fail has failed. The message has its last words, or the cure.
    """
    for step in steps:
        click.echo(f"$ {shlex.join(step.words)}")
        try:
            done = subprocess.run(step.words, capture_output=True, text=True)
        except OSError as error:
            raise click.ClickException(f"{step.words[0]} can't be run: {error.strerror}") from error
        if done.returncode and not step.may_fail:
            if any(failure in done.stderr for failure in _BUS_FAILURES):
                raise click.ClickException(f"{NO_BUS}. Then run the command again.")
            raise click.ClickException(f"{step.words[0]} failed with {done.returncode}: {done.stderr.strip()}")
