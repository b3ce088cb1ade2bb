"""Checksum of a file, read as a stream."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """Lower-case hexadecimal sha256 of a file.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
