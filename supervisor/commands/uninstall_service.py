"""`kokoro-live uninstall-service`: undo `install-service`."""

from __future__ import annotations

import click

from supervisor.startup.definition import service_name
from supervisor.startup.managers import manager
from supervisor.startup.steps import manager_option, name_option, run, shown


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
