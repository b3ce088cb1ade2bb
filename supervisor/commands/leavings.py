"""Files that kokoro-live writes outside its own installation."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import platformdirs

from kokoro_live.installation import NAME
from shm.folders import state_folder
from supervisor.processes.metrics import places
from supervisor.settings.options import default_config_file
from supervisor.speechd.installation import InstalledFiles
from supervisor.speechd.installation import uninstall as uninstall_speechd
from supervisor.startup.manager import Manager
from supervisor.startup.managers import manager
from supervisor.startup.steps import run


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
        """Bytes in the files."""
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
        "config": [config],
        "models": [models],
        "jobs": [state / "jobs"],
        "books": [cache / "books"],
        "figures": _within(state),
        "cache": [*_within(cache), *runtime],
        "logs": manager(None).logs(),
    }
    found = [*_services(), *_speech_dispatcher(environment, home)]
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


def _speech_dispatcher(environment: Mapping[str, str], home: Path) -> Iterator[Leaving]:
    installed = InstalledFiles.of(environment, home)
    if paths := tuple(path for path in (installed.program, installed.config) if path.exists()):
        yield Leaving("Speech Dispatcher's module", paths, lambda: _uninstalled(installed))


def _uninstalled(installed: InstalledFiles) -> None:
    uninstall_speechd(installed)
