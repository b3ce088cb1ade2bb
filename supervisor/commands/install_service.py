"""`kokoro-live install-service`: have the server start at login."""

from __future__ import annotations

import os

import click

from supervisor.startup.definition import define, service_name
from supervisor.startup.manager import install
from supervisor.startup.managers import manager
from supervisor.startup.steps import NO_BUS, lacks_bus, manager_option, name_option, run, shown
from supervisor.startup.systemd import Systemd


@click.command(context_settings={"ignore_unknown_options": True})
@manager_option
@name_option
@click.option("--socket", "on_demand", is_flag=True, help="systemd listens, and starts the server when it is needed.")
@click.option("--print", "only_print", is_flag=True, help="Print the files, and write nothing.")
@click.option("--now", is_flag=True, help="Start the service too, instead of printing how.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF serve...]")
def install_service(
    kind: str | None, name: str, on_demand: bool, only_print: bool, now: bool, arguments: tuple[str, ...]
) -> None:
    """Start the server at login: as a launchd agent on macOS, as a systemd user unit on Linux.

    The server gets the options after `--`, and the KOKORO_LIVE_* variables that are set now. A repeated installation
    replaces the earlier one.
    """
    try:
        found = manager(kind)
        name = service_name(name)
        files = found.files(define(name, list(arguments), os.environ), on_demand)
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
