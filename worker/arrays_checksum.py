"""The sha256 of an npz archive's arrays, whatever wrote the archive."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from pathlib import Path

import numpy as np


def sha256_of_arrays(path: Path) -> str:
    """For each array in the order of names: "name dtype shape", then its bytes. In lower-case hexadecimal.

    The archive's own hash says less, because each zip writer makes another file of the same arrays.

    Raises:
        ValueError: this is no archive of arrays, or it is damaged.
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
