"""`kokoro-live install-speechd` and `uninstall-speechd`: have Speech Dispatcher speak with the server, or no longer."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import click

from client.answers import START
from client.blocking import BlockingClient
from supervisor.commands.client_command import AskingCommand, address_options, server_url
from supervisor.speechd.config import ModuleConfig
from supervisor.speechd.installation import MODULE, InstalledFiles, install, uninstall


@click.command(cls=AskingCommand)
@address_options
@click.option(
    "--voice", default="", help="The voice of clients that choose none.  [default: by their voice type, male1]"
)
@click.option(
    "--instant-words",
    type=click.IntRange(0, 100),
    default=3,
    show_default=True,
    help="Texts of at most so many words sound at once; with 0 the server makes them when they come.",
)
@click.option(
    "--instant-characters/--no-instant-characters",
    default=True,
    show_default=True,
    help="Characters and keys sound at once.",
)
@click.option(
    "--default/--no-default", "as_default", default=True, help="Make kokoro-live the module of clients that name none."
)
@click.pass_context
def install_speechd(
    context: click.Context,
    /,
    voice: str,
    instant_words: int,
    instant_characters: bool,
    as_default: bool,
    **_settings: Any,
) -> None:
    """Let Speech Dispatcher, and with it Orca and spd-say, speak with the server.

    Only files of this user are written. While the server doesn't run, espeak-ng speaks. A repeated installation
    replaces the earlier one; `kokoro-live uninstall-speechd` removes it.
    """
    url = server_url(context)
    config = ModuleConfig(url, voice, instant_words, instant_characters)
    try:
        written = install(InstalledFiles.of(os.environ, Path.home()), config, as_default=as_default)
    except OSError as error:
        raise click.ClickException(f"{error.filename} can't be written: {error.strerror}") from error
    for path in written:
        click.echo(f"wrote {path}")
    if shutil.which("speech-dispatcher") is None:
        click.echo("Speech Dispatcher isn't installed here: its package is called speech-dispatcher.", err=True)
    if not BlockingClient(url).is_kokoro_live:
        click.echo(f"No server answers at {url} yet, so espeak-ng speaks: {START}, or give --url.", err=True)
    click.echo("Speech Dispatcher knows it after its next start: killall speech-dispatcher")
    click.echo(f"Try it: spd-say -o {MODULE} 'This is the voice of the server.'")
    if instant_words:
        click.echo(
            f"espeak-ng says up to {instant_words} words, until their sounds are made; --instant-words 0 changes that."
        )


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
