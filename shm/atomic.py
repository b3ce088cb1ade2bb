"""Files that are whole or absent, whatever kills the writer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path`, which replaces it when the block ends without an error.

    The name is the same each time, so that a killed writer leaves at most one behind and the next one overwrites it.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as draft:
        draft.write_bytes(data)
