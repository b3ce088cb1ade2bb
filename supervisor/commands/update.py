"""`kokoro-live update`: how this installation is updated, and how it gets an extra."""

from __future__ import annotations

from importlib.metadata import version

import click

from kokoro_live.installation import NAME, this_installation

_OWN_WORK = ("dev", "quality")
"""Extras of those who work on kokoro-live itself."""


@click.command()
def update() -> None:
    """Print how kokoro-live is updated here, and the command for each extra that isn't installed. Changes nothing."""
    here = this_installation()
    click.echo(f"kokoro-live {version(NAME)}, installed as: {here.kind} ({here.source or here.prefix})\n")
    click.echo(f"Update:\n  {here.update()}")
    if missing := [extra for extra in here.extras if extra not in _OWN_WORK and not here.has(extra)]:
        click.echo("\nExtras that aren't installed:")
        for extra in missing:
            click.echo(f"  {extra}: {here.add(extra)}")
