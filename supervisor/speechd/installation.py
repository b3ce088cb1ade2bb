"""The module's files in the user's folders, and the user's configuration of Speech Dispatcher."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kokoro_live import own_command
from shm.atomic import read_users_file, write_users_file
from supervisor.speechd.config import ModuleConfig

MODULE = "kokoro"
"""The module's name in Speech Dispatcher, `spd-say -o kokoro`; its program is `sd_kokoro`."""

SYSTEM_CONFIG = Path("/etc/speech-dispatcher/speechd.conf")

_BEGIN, _END = "# --- kokoro-live: begin ---", "# --- kokoro-live: end ---"
_OURS = re.compile(rf"{re.escape(_BEGIN)}\n.*?{re.escape(_END)}\n?", re.DOTALL)
_LISTS_MODULES = re.compile(r"^[ \t]*AddModule\b", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    program: Path
    config: Path
    dispatcher: Path
    """The user's configuration of Speech Dispatcher; where it exists, the system's isn't read."""
    data: Path
    """The user's data folder, from which Speech Dispatcher finds the programs; it must exist."""

    @classmethod
    def of(cls, environment: Mapping[str, str], home: Path) -> InstalledFiles:
        """Places of the user with these XDG variables."""
        data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
        own = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "speech-dispatcher"
        return cls(
            data.parent / "libexec" / "speech-dispatcher-modules" / f"sd_{MODULE}",
            own / "modules" / f"{MODULE}.conf",
            own / "speechd.conf",
            data,
        )


def install(places: InstalledFiles, config: ModuleConfig, *, as_default: bool) -> list[Path]:
    """Write the module's files, and name the module in the user's configuration where that is needed; the files.

    Args:
        as_default: clients that name no module get this one.

    Raises:
        OSError: a file can't be written.
    """
    places.data.mkdir(parents=True, exist_ok=True)
    command = shlex.join(own_command("-m", "supervisor.speechd", str(places.config)))
    write_users_file(places.program, f"#!/bin/sh\nexec {command}\n", executable=True)
    write_users_file(places.config, config.written())
    written = [places.program, places.config]
    present = _without_ours(read_users_file(places.dispatcher))
    ours = _dispatcher_lines(present, as_default)
    if ours:
        separator = "" if not present or present.endswith("\n") else "\n"
        write_users_file(places.dispatcher, f"{present}{separator}{_BEGIN}\n{ours}{_END}\n")
        written.append(places.dispatcher)
    elif read_users_file(places.dispatcher) != present:
        _write_or_remove(places.dispatcher, present)
    return written


def uninstall(places: InstalledFiles) -> list[Path]:
    """Remove the module's files and its lines in the user's configuration; the files that were changed.

    Raises:
        OSError: a file can't be removed.
    """
    changed: list[Path] = []
    for path in (places.program, places.config):
        if path.exists():
            path.unlink()
            changed.append(path)
    whole = read_users_file(places.dispatcher)
    rest = _without_ours(whole)
    if rest != whole:
        _write_or_remove(places.dispatcher, rest)
        changed.append(places.dispatcher)
    return changed


def _dispatcher_lines(present: str, as_default: bool) -> str:
    """Our lines for a configuration: a new one includes the system's, and one that lists its modules lists ours."""
    lines = ""
    is_new = not present.strip()
    lists = _LISTS_MODULES.search(read_users_file(SYSTEM_CONFIG) if is_new else present)
    if is_new and (as_default or lists) and SYSTEM_CONFIG.exists():
        lines += f'Include "{SYSTEM_CONFIG}"\n'
    if lists:
        lines += f'AddModule "{MODULE}" "sd_{MODULE}" "{MODULE}.conf"\n'
    return lines + (f"DefaultModule {MODULE}\n" if as_default else "")


def _without_ours(config: str) -> str:
    return _OURS.sub("", config)


def _write_or_remove(path: Path, content: str) -> None:
    """Write a file, or remove it if nothing is left of it; a link and its empty target are the user's own."""
    if content or path.is_symlink():
        write_users_file(path, content)
    else:
        path.unlink()
