"""`kokoro-live uninstall`: what the program has left in the user's folders, and its removal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from kokoro_live.installation import this_installation
from supervisor.commands.leavings import Leaving, find_leavings


@click.command()
@click.option("--yes", is_flag=True, help="Remove it without a question.")
@click.option("--keep", multiple=True, metavar="WHAT", help="Keep what the list calls WHAT. Repeatable.")
def uninstall(yes: bool, keep: tuple[str, ...]) -> None:
    """List what kokoro-live has written outside its own installation, with sizes, and remove it if asked.

    The program itself is removed by the command that is printed last.
    """
    found = find_leavings(os.environ, Path.home())
    if unknown := set(keep) - {each.what for each in found}:
        raise click.UsageError(f"--keep {min(unknown)}: there is {', '.join(each.what for each in found) or 'nothing'}")
    for each in found:
        click.echo(f"{each.what}, {_megabytes(each.size())}{' (kept)' if each.what in keep else ''}")
        for path in each.paths:
            click.echo(f"  {click.format_filename(path)}")
    if not found:
        click.echo("kokoro-live has left nothing in your folders.")
    wanted = [each for each in found if each.what not in keep]
    asked = bool(wanted) and not yes and sys.stdin.isatty()
    if wanted and (yes or (asked and click.confirm("Remove it?"))):
        _remove(wanted)
    elif wanted:
        click.echo("\nNothing was removed: `kokoro-live uninstall --yes` removes it.")
    click.echo(f"\nThe program itself is removed by:\n  {this_installation().uninstall()}")


def _remove(found: list[Leaving]) -> None:
    failed = []
    for each in found:
        try:
            each.remove()
        except OSError as error:
            failed.append(f"{error.filename}: {error.strerror}")
        else:
            click.echo(f"removed: {each.what}")
    if failed:
        raise click.ClickException(f"these can't be removed: {'; '.join(failed)}")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 50_000 else f"{size:,} bytes"
