"""Checksums of files, kept between starts: a model is large, and a worker may start often."""

from __future__ import annotations

import hashlib
import logging
import zipfile
import zlib
from pathlib import Path

import msgspec
import platformdirs

from shm import kept
from shm.atomic import write_shared

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
        cache.parent.mkdir(parents=True, exist_ok=True)
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
