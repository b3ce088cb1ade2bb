"""The published model files: where each comes from, on the web or in registry packages, and whether a file is one."""

from __future__ import annotations

import hashlib
import logging
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import msgspec
import platformdirs

from kokoro_live.installation import this_installation
from shm import kept
from shm.atomic import write_shared
from shm.decoding import json_decoder
from worker.engine import EngineUnavailable

log = logging.getLogger(__name__)


class _Known(msgspec.Struct, frozen=True):
    size: int
    modified_ns: int
    inode: int
    sha256: str


_decode = kept.CHECKSUMS.decoder(dict[str, _Known | int])


def default_cache() -> Path:
    """The file of the known checksums, in the user's cache folder."""
    return platformdirs.user_cache_path("kokoro-live", appauthor=False) / "checksums.json"


def sha256_of(path: Path) -> str:
    """Lower-case hexadecimal sha256 of a file, which is read as a stream."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cached_sha256_of(path: Path, cache: Path | None = None) -> str:
    """sha256 of a file, which is read again only if its size, modification time or inode has changed.

    An unreadable or unwritable cache costs time and nothing else.
    """
    cache = cache or default_cache()
    path = path.resolve()
    stat = path.stat()
    known = _load(cache)
    entry = known.get(str(path))
    if entry and (entry.size, entry.modified_ns, entry.inode) == (stat.st_size, stat.st_mtime_ns, stat.st_ino):
        return entry.sha256
    sha256 = sha256_of(path)
    remember_sha256_of(path, sha256, cache)
    return sha256


def remember_sha256_of(path: Path, sha256: str, cache: Path | None = None) -> None:
    """Keep the sha256 of a file that this process has just written or read."""
    cache = cache or default_cache()
    path = path.resolve()
    try:
        stat = path.stat()
        found = _Known(stat.st_size, stat.st_mtime_ns, stat.st_ino, sha256)
        write_shared(cache, kept.CHECKSUMS.encode(_load(cache) | {str(path): found}))
    except OSError as error:
        log.warning("the checksums can't be kept in %s, so files are hashed at each start: %s", cache, error)


def _load(cache: Path) -> dict[str, _Known]:
    try:
        found = _decode(cache.read_bytes())
        return {path: known for path, known in found.items() if isinstance(known, _Known)}
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        log.warning("the checksums in %s can't be used, so files are hashed again: %s", cache, error)
        return {}


def sha256_of_arrays(path: Path) -> str:
    """sha256 over an npz archive's arrays in the order of their names: "name dtype shape", then the bytes.

    The archive's own hash says less, because each zip writer makes another file of the same arrays.

    Raises:
        ValueError: the file is no archive of arrays, or it is damaged.
    """
    import numpy as np  # the supervisor, which hashes models only, does without

    if not zipfile.is_zipfile(path):
        raise ValueError("not a zip archive")
    digest = hashlib.sha256()
    try:
        with np.load(path, allow_pickle=False) as archive:
            for name in sorted(archive.files):
                array = archive[name]
                digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
                digest.update(np.ascontiguousarray(array).data)
    except (AttributeError, EOFError, KeyError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error)) from error
    return digest.hexdigest()


class KnownFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published file: a row of the table, and of a manifest."""

    name: Annotated[str, msgspec.Meta(pattern=r"^\w[\w.+-]*$")]
    size: Annotated[int, msgspec.Meta(ge=1)]
    """Size in bytes."""
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    precision: str
    what: str
    """Description in a few words, for a list that people read."""
    url: str
    also_sha256: tuple[str, ...] = ()
    """Checksums of other published files with the same name, which are as good as this one."""
    arrays_sha256: str = ""
    """Checksum of the arrays of an archive of voices: an archive with equal arrays is as good, whatever wrote it."""
    packages: tuple[Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")], ...] = ()
    """Registry packages whose `part.bin` files, one after another, form this file."""

    def is_of(self, sha256: str) -> bool:
        """True if `sha256` is the hash of this file, or of an equally good one of its name."""
        return sha256 == self.sha256 or sha256 in self.also_sha256


class FilePresence(StrEnum):
    """State of a published file in a model directory."""

    PRESENT = "present"
    CORRUPT = "corrupt"
    PARTIAL = "partial"
    """A download was interrupted; fetching resumes it."""
    MISSING = "missing"


class CorruptModel(EngineUnavailable):
    """A file with a published file's name isn't that file."""


class BadManifest(EngineUnavailable):
    """The manifest can't be used."""


class BadPackages(Exception):
    """The installed packages don't hold the published file. The message names the package and tells the user how to fix
    it."""


DEFAULT = ("kokoro-v1.0.int8.onnx",)
"""Files that are needed to speak with Kokoro. The int8 model sounds as good as the model of 325 MB
(docs/quality.md); the voices are in this package."""


def part_of(path: Path) -> Path:
    """Path at which `path` grows until it is complete and checked."""
    return path.with_name(path.name + ".part")


def check(path: Path, file: KnownFile) -> None:
    """Check that `path` holds the content that was published as `file`; the whole file is read.

    Raises:
        CorruptModel: the content differs, or the file can't be read. The message has both hashes and both sizes.
    """
    try:
        actual, size = sha256_of(path), path.stat().st_size
    except OSError as error:
        raise CorruptModel(f"{path} can't be read: {error.strerror}.") from error
    if file.is_of(actual):
        return
    problem = f"{path} has sha256 {actual} ({size:,} bytes), expected sha256 {file.sha256} ({file.size:,} bytes)"
    if file.arrays_sha256:
        try:
            arrays = sha256_of_arrays(path)
        except ValueError as error:
            raise CorruptModel(f"{problem}, and isn't an archive of voices ({error}).") from error
        if arrays == file.arrays_sha256:
            return
        problem += f"; its arrays have {arrays}, expected {file.arrays_sha256}"
    raise CorruptModel(f"{problem}: damaged, or another file of that name.")


def state_of(directory: Path, file: KnownFile) -> FilePresence:
    """State of `file` in `directory`; the whole file is read."""
    path = directory / file.name
    if not path.exists():
        return FilePresence.PARTIAL if part_of(path).exists() else FilePresence.MISSING
    try:
        check(path, file)
    except CorruptModel:
        return FilePresence.CORRUPT
    return FilePresence.PRESENT


def known_files(manifest: Path | None = None, packaged: bool = True) -> Mapping[str, KnownFile]:
    """Published files by name, or those of a manifest, a JSON list of objects with `KnownFile`'s fields.

    Args:
        packaged: False to forget that files are available from packages.

    Raises:
        BadManifest: the manifest can't be read, a field is missing or wrong, or two files share a name.
    """
    known = _of_manifest(manifest) if manifest else KNOWN
    if packaged:
        return known
    return {name: msgspec.structs.replace(file, packages=()) for name, file in known.items()}


def _of_manifest(path: Path) -> dict[str, KnownFile]:
    try:
        files = json_decoder(list[KnownFile])(path.read_bytes())
    except OSError as error:
        raise BadManifest(f"The manifest {path} can't be read: {error.strerror}.") from error
    except msgspec.DecodeError as error:
        raise BadManifest(f"The manifest {path} is wrong: {error}.") from error
    by_name = {file.name: file for file in files}
    if len(by_name) < len(files):
        raise BadManifest(f"The manifest {path} is wrong: it has two files of one name.")
    return by_name


KNOWN = _of_manifest(Path(__file__).with_name("published.json"))
"""Published files by file name. The hashes come from the releases' assets and from Git LFS; the alternative hashes come
from the release `model-files-v1.1`, which has the same names and the same voices."""


# A model is split into parts, one `part.bin` in each of its packages. A package's code is never imported: its folder is
# located and the part is read as data. The sha256 of the joined parts decides whether they are the published file, so a
# package needs no more trust than a download.

_PART = "part.bin"


@dataclass(frozen=True, slots=True)
class Packaged:
    """Parts of one published file: all of them are present, and their sizes add up to the file's."""

    parts: tuple[Path, ...]
    """Paths of the parts, in the order in which they follow each other in the file."""
    origin: str
    """Names and version of the packages, in one phrase for people."""


def find_packaged(file: KnownFile) -> Packaged | None:
    """Parts of the file in the installed packages; None if none of the packages is installed.

    Raises:
        BadPackages: only some packages are installed, a part is missing, or the parts don't add up to the file's size.
    """
    folders = {package: _folder(package) for package in file.packages}
    if not any(folders.values()):
        return None
    parts = []
    for package, folder in folders.items():
        if folder is None:
            raise bad_packages(file, f"the package {package} isn't installed")
        if not (folder / _PART).is_file():
            raise bad_packages(file, f"{folder / _PART} is missing")
        parts.append(folder / _PART)
    first, last = file.packages[0], file.packages[-1]
    named = first if first == last else f"{first} to {last}"
    size = sum(part.stat().st_size for part in parts)
    if size != file.size:
        raise bad_packages(file, f"the parts in {named} have {size:,} bytes instead of {file.size:,}")
    return Packaged(tuple(parts), f"{named} {_version(first)}".rstrip())


def bad_packages(file: KnownFile, problem: str) -> BadPackages:
    """The error that names the problem and its cure."""
    cure = this_installation().install(*file.packages, again=True)
    return BadPackages(f"{file.name} can't be assembled, because {problem}; install again: {cure}")


def _folder(package: str) -> Path | None:
    try:
        spec = find_spec(package.replace("-", "_"))
    except (ImportError, ValueError):
        return None
    locations = list(spec.submodule_search_locations or ()) if spec else []
    return Path(locations[0]) if locations else None


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
