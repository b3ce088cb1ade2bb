"""`kokoro-live install-service` and `uninstall-service`: have the server start at login, or no longer."""

from __future__ import annotations

import os
from pathlib import Path

import click

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
    try:
        install(files, found.all_files(name))
    except OSError as error:
        raise click.ClickException(f"{error.filename} can't be written: {error.strerror}") from error
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
