"""espeak-ng's library and data as the package espeakng-loader installed them, and the search for damaged files.

The library reads its data without checking it: an empty `phontab` is a segmentation fault at the start, and half a
`phondata` is a voice without a sound. Each file's length is therefore compared with the installation's own list first.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import espeakng_loader

from kokoro_live.installation import Recorded, length, recorded, this_installation

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
        listed = {file for file, known in _listed(self.path).items() if length(file) != known.length}
        self._damaged = {file.relative_to(self.path).as_posix() for file in listed}
        self._damaged |= {name for name in _CORE if length(self.path / name) <= 0}
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
        file.relative_to(folder).as_posix() for file, known in _listed(folder).items() if not known.matches(file)
    )


def _listed(folder: Path) -> dict[Path, Recorded]:
    """The package's files in a folder, as they were installed; empty without a list."""
    try:
        found = distribution(PACKAGE)
    except PackageNotFoundError:
        return {}
    return {file: known for file, known in recorded(found).items() if file.is_relative_to(folder)}
