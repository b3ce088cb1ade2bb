"""`kokoro-live install-service`, `install-speechd` and their opposites: the server at login, a module for desktops."""

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
from supervisor.speechd.installation import MODULE, InstalledFiles
from supervisor.speechd.installation import install as install_module
from supervisor.speechd.installation import uninstall as uninstall_module
from supervisor.startup.manager import define, install, service_name
from supervisor.startup.manager import with_procfile as by_procfile
from supervisor.startup.managers import NO_BUS, lacks_bus, manager, manager_option, name_option, run, shown
from supervisor.startup.systemd import Systemd

ROOT = Path(__file__).parents[2]
"""The clone's folder, in a clone."""


@click.command(context_settings={"ignore_unknown_options": True})
@manager_option
@name_option
@click.option("--socket", "on_demand", is_flag=True, help="systemd listens, and starts the server when it is needed.")
@click.option("--with-procfile", is_flag=True, help="Have honcho start the server from the Procfile of this clone.")
@click.option("--print", "--dry-run", "only_print", is_flag=True, help="Print the files, and write nothing.")
@click.option("--now", is_flag=True, help="Start the service too, instead of printing how.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF serve...]")
def install_service(
    kind: str | None,
    name: str,
    on_demand: bool,
    with_procfile: bool,
    only_print: bool,
    now: bool,
    arguments: tuple[str, ...],
) -> None:
    """Start the server at login: as a launchd agent on macOS, as a systemd user unit on Linux.

    The server gets the options after `--`, and the KOKORO_LIVE_* variables that are set now. A repeated installation
    replaces the earlier one.
    """
    try:
        found = manager(kind)
        name = service_name(name)
        definition = define(name, list(arguments), os.environ)
        if with_procfile:
            if arguments or on_demand:
                raise ValueError("with --with-procfile settings are variables: no options after `--`, and no --socket")
            definition = by_procfile(definition, ROOT)
        files = found.files(definition, on_demand)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if only_print:
        for path, content in files.items():
            click.echo(f"# {path}\n{content.decode()}")
        return
    install(files, found.all_files(name))
    for path in files:
        click.echo(f"wrote {path}")
    if now:
        run(found.start(name))
    else:
        click.echo(f"Start it now with:\n{shown(found.start(name))}")
        if isinstance(found, Systemd) and lacks_bus(os.environ):
            click.echo(f"These fail from here: {NO_BUS}.", err=True)
    if isinstance(found, Systemd):
        click.echo(
            "It starts when you log in. To have it start with the machine: loginctl enable-linger "
            f"{os.environ.get('USER', '$USER')}"
        )


@click.command()
@manager_option
@name_option
@click.option("--now", is_flag=True, help="Stop the service too, instead of printing how.")
def uninstall_service(kind: str | None, name: str, now: bool) -> None:
    """No longer start the server at login. A running server continues until it is stopped."""
    try:
        found = manager(kind)
        name = service_name(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    present = [path for path in found.all_files(name) if path.is_symlink() or path.exists()]
    if not present:
        raise click.ClickException(f"{name} isn't installed: there is no {found.all_files(name)[0]}")
    if now:
        run(found.stop(name))
    for path in present:
        path.unlink(missing_ok=True)  # `systemctl disable` has removed its links already
        click.echo(f"removed {path}")
    if now:
        run(found.forget(name))
    else:
        click.echo(f"Stop the one that runs with:\n{shown(found.forget(name))}")


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
    for path in install_module(InstalledFiles.of(os.environ, Path.home()), config, as_default=as_default):
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
    changed = uninstall_module(places)
    if not changed:
        raise click.ClickException(f"it isn't installed: there is no {places.program}")
    for path in changed:
        click.echo(f"changed {path}" if path.exists() else f"removed {path}")
