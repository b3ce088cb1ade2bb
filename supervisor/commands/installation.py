"""`kokoro-live update`, `reload`, `uninstall`: a newer version, other settings, what is left in the user's files."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import platformdirs
import psutil

from kokoro_live.installation import NAME, changed_since, this_installation
from shm.folders import state_folder
from supervisor.commands.client_command import AskingCommand, address_options, server_url
from supervisor.connect.changes import SpeechModule
from supervisor.connect.clients import connected
from supervisor.connect.files import FileEdit, backup_of
from supervisor.processes.metrics import places
from supervisor.settings.options import default_config_file
from supervisor.speechd.installation import InstalledFiles
from supervisor.speechd.installation import uninstall as uninstall_speechd
from supervisor.startup.manager import Manager
from supervisor.startup.managers import manager, run

_OWN_WORK = ("dev", "quality")
"""Extras of those who work on kokoro-live itself."""


@click.command(cls=AskingCommand)
@address_options
@click.pass_context
def update(context: click.Context, /, **_settings: Any) -> None:
    """Print how kokoro-live is updated here, and the command for each extra that isn't installed.

    If the program's files have changed since a server of yours was started, that server tries the installed version,
    and has it take its place without cutting an answer.
    """
    here = this_installation()
    click.echo(f"kokoro-live {version(NAME)}, installed as: {here.kind} ({here.source or here.prefix})\n")
    click.echo(f"Update:\n{_shell_lines(here.update())}")
    if missing := [extra for extra in here.extras if extra not in _OWN_WORK and not here.has(extra)]:
        click.echo("\nExtras that aren't installed:")
        for extra in missing:
            click.echo(f"  {extra}:\n{_shell_lines(here.add(extra))}")
    url = server_url(context)
    if pid := signal_server(url, signal.SIGUSR2, lambda server: changed_since(server.create_time())):
        click.echo(f"\nThe server on {url} (pid {pid}) tries the installed version; its log says how that ends.")


_WORDS = re.compile(r"(?:'[^']*'|\S)+")


def _shell_lines(command: str) -> str:
    """A command in lines of 80 columns that a shell takes as one, its remark in brackets apart; no word is cut."""
    command, bracket, remark = command.partition("   (")
    lines = ["   "]
    for word in _WORDS.findall(command):
        if len(lines[-1]) + len(word) > 76 and lines[-1].strip():
            lines.append("       ")
        lines[-1] += f" {word}"
    return " \\\n".join(lines) + (f"\n    ({remark}" if bracket else "")


@dataclass(frozen=True, slots=True)
class Leaving:
    """Files of one kind, which are kept or removed together."""

    what: str
    paths: tuple[Path, ...]
    """Files and folders that exist."""
    remove: Callable[[], None]
    """
    Raises:
        OSError: something can't be removed.
    """

    def size(self) -> int:
        files = [file for path in self.paths for file in ([path] if not path.is_dir() else path.rglob("*"))]
        return sum(file.lstat().st_size for file in files if not file.is_dir())


def find_leavings(environment: Mapping[str, str], home: Path) -> list[Leaving]:
    """All files that kokoro-live wrote into its usual places for this user.

    Folders that a setting names elsewhere are the user's own, and so is the cache of a package installer.
    """
    cache, state = platformdirs.user_cache_path(NAME, appauthor=False), state_folder()
    config, models = default_config_file(), platformdirs.user_data_path(NAME, appauthor=False) / "models"
    runtime = [path for place in places() if place.name == NAME for path in _within(place)]
    files = {
        "config": [config, backup_of(config)],
        "models": [models],
        "jobs": [state / "jobs"],
        "library": [state / "library"],
        "books": [cache / "books"],
        "figures": _within(state),
        "cache": [*_within(cache), *runtime],
        "logs": manager(None).logs(),
    }
    found = [*_services(), *_connections(environment, home)]
    # On macOS one folder has config, models and state: each entry is what none before it has named.
    named: set[Path] = set()
    for what, paths in files.items():
        if there := tuple(path for path in paths if path.exists() and path not in named):
            named.update(there)
            found.append(Leaving(what, there, partial(_remove, there)))
    return found


def _within(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        with contextlib.suppress(OSError):  # not empty: something else is kept there
            if path.parent.name == NAME:
                path.parent.rmdir()


def _services() -> Iterator[Leaving]:
    found = manager(None)
    for installed in found.installed():
        paths = tuple(path for path in found.all_files(installed.name) if path.is_symlink() or path.exists())
        yield Leaving(f"service {installed.name}", paths, partial(_remove_service, found, installed.name, paths))


def _remove_service(found: Manager, name: str, paths: Sequence[Path]) -> None:
    for steps in (found.stop, found.forget):
        try:
            run(steps(name))
        except click.ClickException as error:
            click.echo(f"{name} may still run: {error.message}", err=True)
        for path in paths:
            path.unlink(missing_ok=True)


def _connections(environment: Mapping[str, str], home: Path) -> Iterator[Leaving]:
    """Settings that `connect` gave other programs; Home Assistant's are our own."""
    for client, change in connected(environment, home):
        if isinstance(change, SpeechModule):
            paths = tuple(path for path in (change.files.program, change.files.config) if path.exists())
            yield Leaving("Speech Dispatcher's module", paths, partial(_undone, change.files))
        elif change.path != default_config_file():
            yield Leaving(f"connection of {client.name}", (change.backup,), partial(_undone, change))


def _undone(made: FileEdit | InstalledFiles) -> None:
    if isinstance(made, FileEdit):
        made.undo()
    else:
        uninstall_speechd(made)


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
        _remove_all(wanted)
    elif wanted:
        click.echo("\nNothing was removed: `kokoro-live uninstall --yes` removes it.")
    click.echo(f"\nThe program itself is removed by:\n  {this_installation().uninstall()}")


def _remove_all(found: list[Leaving]) -> None:
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


@click.command(cls=AskingCommand)
@address_options
@click.pass_context
def reload(context: click.Context, /, **_settings: Any) -> None:
    """Have the running server read its settings again, and try a worker that keeps dying at once.

    Open streams finish. Only a server of this user's, on this machine, can be told. Exits with 3 if there is none.
    """
    url = server_url(context)
    if pid := signal_server(url, signal.SIGHUP):
        click.echo(f"The server on {url} (pid {pid}) reads its settings again.")
        return
    click.echo(f"Error: no server of yours listens on port {urlsplit(url).port} here.", err=True)
    sys.exit(3)  # as `status` does


def signal_server(url: str, number: int, wanted: Callable[[psutil.Process], bool] = lambda server: True) -> int | None:
    """Send a signal to this user's server on this machine that listens on the URL's port, if it is `wanted`.

    Returns:
        Its process id; None if there is no such server.
    """
    from supervisor.commands.checks.machine import listens, supervisors

    for process in supervisors():
        with contextlib.suppress(psutil.Error):
            if listens(process, urlsplit(url).port) and wanted(process):
                process.send_signal(number)
                return int(process.pid)
    return None
