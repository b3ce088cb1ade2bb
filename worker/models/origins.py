"""Origins of a model directory's files, each kept next to its file as `<name>.origin`."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

log = logging.getLogger(__name__)


class _StoredOrigin(msgspec.Struct, frozen=True):
    origin: str
    size: int
    modified_ns: int
    """Modification time of the recorded file, in nanoseconds: a file that replaced it since has another one."""


_decode = msgspec.json.Decoder(_StoredOrigin).decode


def record_origin(path: Path, origin: str) -> None:
    """Record the origin of `path`: packages with their version, or a URL.

    An unwritable directory causes only a warning, because the model itself is there.
    """
    stat = path.stat()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(msgspec.json.encode(_StoredOrigin(origin, stat.st_size, stat.st_mtime_ns)))
        unfinished.replace(_record_of(path))
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        log.warning("where %s came from (%s) can't be recorded: %s", path, origin, error)


def origin_of(path: Path) -> str | None:
    """Recorded origin of the file; None if none is recorded, or another file has replaced it since."""
    try:
        stat = path.stat()
        stored = _decode(_record_of(path).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    return stored.origin if (stored.size, stored.modified_ns) == (stat.st_size, stat.st_mtime_ns) else None


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.origin")
