"""espeak-ng's library and data as the package espeakng-loader installed them, and the search for damaged files.

The library reads its data without checking it: an empty `phontab` is a segmentation fault at the start, and half a
`phondata` is a voice without a sound. Each file's length is therefore compared with the installation's own list first.
"""

from __future__ import annotations

import csv
import hashlib
import os
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import espeakng_loader

from kokoro_live.installation import this_installation

PACKAGE = "espeakng-loader"

_CORE = ("phontab", "phonindex", "phondata", "intonations")
"""Files of the data without which the library has no voice at all."""


class DamagedInstallation(Exception):
    """Files of espeak-ng are missing or damaged. The message names them, and the cure."""


def cure() -> str:
    """The advice for a damaged installation, with the command that carries it out."""
    return f"install {PACKAGE} again: {this_installation().install(PACKAGE, again=True)}"


def library_path() -> Path:
    """The library's file, which may be missing."""
    return Path(espeakng_loader.get_library_path())


def data_path() -> Path:
    """The data's folder.

    Raises:
        DamagedInstallation: there is none.
    """
    try:
        return Path(espeakng_loader.get_data_path())
    except RuntimeError as error:  # espeakng_loader's own, for a missing folder
        raise DamagedInstallation(f"espeak-ng has no data ({error}): {cure()}") from error


class EspeakData:
    """The data, and its damaged files: those that aren't as long as the installation's list says."""

    def __init__(self) -> None:
        """
        Raises:
            DamagedInstallation: a file is damaged that every voice needs.
        """
        self.path = data_path()
        listed = {file for file, (size, _) in _listed(self.path).items() if _size(file) != size}
        self._damaged = {file.relative_to(self.path).as_posix() for file in listed}
        self._damaged |= {name for name in _CORE if _size(self.path / name) <= 0}
        self._refuse(_CORE)

    def check(self, voice: str) -> None:
        """Check the files of one voice, by its file's name.

        Raises:
            DamagedInstallation: one is damaged.
        """
        own = {f"{voice.partition('-')[0]}_dict", voice}
        self._refuse([name for name in self._damaged if name.rpartition("/")[2].lower() in own])

    def _refuse(self, needed: Sequence[str]) -> None:
        if bad := sorted(self._damaged.intersection(needed)):
            raise DamagedInstallation(f"espeak-ng's data in {self.path} is damaged ({', '.join(bad)}): {cure()}")


def damaged_files() -> list[str]:
    """Every file of the package whose content isn't the installed one, by name. Reads all 20 MB.

    Raises:
        DamagedInstallation: there is no data.
    """
    folder = data_path().parent
    return sorted(
        file.relative_to(folder).as_posix()
        for file, (size, digest) in _listed(folder).items()
        if _size(file) != size or _digest(file) != digest
    )


def _listed(folder: Path) -> dict[Path, tuple[int, str]]:
    """Length and SHA-256 (as the list has it) of each installed file in a folder; empty without such a list."""
    try:
        found = distribution(PACKAGE)
    except PackageNotFoundError:
        return {}
    root = Path(str(found.locate_file("")))
    rows = csv.reader((found.read_text("RECORD") or "").splitlines())
    files = {root / name: (int(size), digest.removeprefix("sha256=")) for name, digest, size in rows if size}
    return {file: known for file, known in files.items() if file.is_relative_to(folder)}


def _size(file: Path) -> int:
    """Length of a file that this user can read; -1 for any other."""
    return file.stat().st_size if file.is_file() and os.access(file, os.R_OK) else -1


def _digest(file: Path) -> str:
    return urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
