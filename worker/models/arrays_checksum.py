"""Checksum of an npz archive's arrays, independent of the program that wrote the archive."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from pathlib import Path

import numpy as np


def sha256_of_arrays(path: Path) -> str:
    """Lower-case hexadecimal sha256 over the archive's arrays in the order of their names: "name dtype shape", then the
    bytes.

    The archive's own hash says less, because each zip writer makes another file of the same arrays.

    Raises:
        ValueError: the file is no archive of arrays, or it is damaged.
    """
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
