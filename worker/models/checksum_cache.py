"""Cache of the checksums of files that rarely change: a model is large, and a worker may start often."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

import msgspec
import platformdirs

from worker.models.checksum import sha256_of

log = logging.getLogger(__name__)


class _Known(msgspec.Struct, frozen=True):
    size: int
    modified_ns: int
    inode: int
    sha256: str


_decode = msgspec.json.Decoder(dict[str, _Known]).decode


def default_cache() -> Path:
    """Default path of the cache, in the user's cache folder."""
    return platformdirs.user_cache_path("kokoro-live", appauthor=False) / "checksums.json"


def cached_sha256_of(path: Path, cache: Path | None = None) -> str:
    """Lower-case hexadecimal sha256 of a file, which is read again only if its size, modification time or inode has
    changed.

    An unreadable or unwritable cache costs time and nothing else.

    Raises:
        OSError: the file can't be read.
    """
    cache = cache or default_cache()
    path = path.resolve()
    stat = path.stat()
    known = _load(cache)
    entry = known.get(str(path))
    if entry and (entry.size, entry.modified_ns, entry.inode) == (stat.st_size, stat.st_mtime_ns, stat.st_ino):
        return entry.sha256
    sha256 = sha256_of(path)
    _store(cache, known | {str(path): _Known(stat.st_size, stat.st_mtime_ns, stat.st_ino, sha256)})
    return sha256


def remember_sha256_of(path: Path, sha256: str, cache: Path | None = None) -> None:
    """Store the sha256 of a file that this process has just written, so that it needn't be read again.

    Raises:
        OSError: the file doesn't exist.
    """
    cache = cache or default_cache()
    path = path.resolve()
    stat = path.stat()
    _store(cache, _load(cache) | {str(path): _Known(stat.st_size, stat.st_mtime_ns, stat.st_ino, sha256)})


def _load(cache: Path) -> dict[str, _Known]:
    try:
        return _decode(cache.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        log.warning("the checksums in %s can't be used, so files are hashed again: %s", cache, error)
        return {}


def _store(cache: Path, known: dict[str, _Known]) -> None:
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        # Two workers may start at once: each replaces the whole file, so neither reads half of one.
        descriptor, name = tempfile.mkstemp(dir=cache.parent, prefix=cache.name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(known))
        Path(name).replace(cache)
    except OSError as error:
        log.warning("the checksums can't be kept in %s, so files are hashed at each start: %s", cache, error)
