"""`kokoro-live uninstall-speechd`: undo `install-speechd`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from supervisor.speechd.installation import InstalledFiles, uninstall


@click.command()
def uninstall_speechd() -> None:
    """Remove what `install-speechd` wrote. The other lines of Speech Dispatcher's configuration stay."""
    places = InstalledFiles.of(os.environ, Path.home())
    try:
        changed = uninstall(places)
    except OSError as error:
        raise click.ClickException(f"{error.filename} can't be removed: {error.strerror}") from error
    if not changed:
        raise click.ClickException(f"it isn't installed: there is no {places.program}")
    for path in changed:
        click.echo(f"changed {path}" if path.exists() else f"removed {path}")
