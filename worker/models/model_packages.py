"""Published models in registry packages: a model is split into parts, one `part.bin` in each package.

A package's code is never imported: its folder is located and the part is read as data. The sha256 of the joined parts
decides whether they are the published file, so a package needs no more trust than a download.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from kokoro_live.installation import this_installation
from worker.models.model_files import KnownFile
from worker.models.part_file import PartFile

PART = "part.bin"

_CHUNK = 1 << 20
"""Number of bytes copied at a time: the model is never in memory as a whole."""


class BadPackages(Exception):
    """The installed packages don't hold the published file. The message names the package and tells the user how to fix
    it."""


@dataclass(frozen=True, slots=True)
class Packaged:
    """Parts of one published file: all of them are present, and their sizes add up to the file's."""

    parts: tuple[Path, ...]
    """Paths of the parts, in the order in which they follow each other in the file."""
    origin: str
    """Names and version of the packages, in one phrase for people."""


def installed(file: KnownFile) -> bool:
    """True if at least one of the file's packages is installed."""
    return any(_folder(package) for package in file.packages)


def find_packaged(file: KnownFile) -> Packaged | None:
    """Parts of the file in the installed packages; None if none of the packages is installed.

    Raises:
        BadPackages: only some packages are installed, a part is missing, or the parts don't add up to the file's size.
    """
    if not installed(file):
        return None
    cure = _cure(file)
    parts = []
    for package in file.packages:
        folder = _folder(package)
        if folder is None:
            raise BadPackages(f"{file.name} can't be assembled, because the package {package} isn't installed; {cure}")
        if not (folder / PART).is_file():
            raise BadPackages(f"{file.name} can't be assembled, because {folder / PART} is missing; {cure}")
        parts.append(folder / PART)
    size = sum(part.stat().st_size for part in parts)
    if size != file.size:
        raise BadPackages(
            f"{file.name} can't be assembled, because the parts in {_named(file.packages)} have {size:,} bytes"
            f" instead of {file.size:,}; {cure}"
        )
    return Packaged(tuple(parts), f"{_named(file.packages)} {_version(file.packages[0])}".rstrip())


def assemble(file: KnownFile, packaged: Packaged, part: PartFile) -> str:
    """Write the published file into `part` from the packages' parts; on failure `part` is left empty. Returns the
    file's sha256.

    Raises:
        BadPackages: the parts can't be read, or together they have another sha256.
        FetchError: the disk is full.
    """
    part.empty()
    try:
        part.require_room(file.size)
        digest = hashlib.sha256()
        for chunk in _chunks(packaged):
            digest.update(chunk)
            part.write(chunk)
        if not file.is_of(digest.hexdigest()):
            raise BadPackages(
                f"{file.name} can't be assembled, because the parts in {packaged.origin} have sha256"
                f" {digest.hexdigest()} together, expected {file.sha256}; {_cure(file)}"
            )
    except BaseException:
        part.empty()
        raise
    return digest.hexdigest()


def _cure(file: KnownFile) -> str:
    return f"install again: {this_installation().install(*file.packages, again=True)}"


def _chunks(packaged: Packaged) -> Iterator[bytes]:
    for path in packaged.parts:
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        except OSError as error:
            raise BadPackages(f"{path} can't be read: {error.strerror}") from error


def _folder(package: str) -> Path | None:
    try:
        spec = find_spec(package.replace("-", "_"))
    except (ImportError, ValueError):
        return None
    locations = list(spec.submodule_search_locations or ()) if spec else []
    return Path(locations[0]) if locations else None


def _named(packages: tuple[str, ...]) -> str:
    return packages[0] if len(packages) == 1 else f"{packages[0]} to {packages[-1]}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
