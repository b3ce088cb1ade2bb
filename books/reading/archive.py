"""A zip archive of unknown origin, read within bounds."""

from __future__ import annotations

import io
import zipfile
import zlib
from posixpath import normpath

from books.errors import BookError

MOST_FILES = 20_000
MOST_BYTES_OF_A_FILE = 32 << 20
MOST_BYTES = 256 << 20
"""Bytes that are unpacked from one archive in all: the documents and the cover of a book, not its other pictures."""


class Archive:
    """Files of a zip archive by their names. Only what is read is unpacked."""

    def __init__(self, data: bytes) -> None:
        """Open the archive in `data`.

        Raises:
            BookError: it is no zip archive, is damaged, or has too many files.
        """
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise BookError(f"The file is no readable zip archive: {error}.") from error
        if len(self._zip.infolist()) > MOST_FILES:
            raise BookError(f"The archive has {len(self._zip.infolist())} files; at most {MOST_FILES} are read.")
        self._names = {normpath(name): name for name in reversed(self._zip.namelist())}
        self._folded = {name.casefold(): real for name, real in self._names.items()}
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def _find(self, name: str) -> str | None:
        # Makers on systems without case name files otherwise than their lists do.
        return self._names.get(normpath(name)) or self._folded.get(normpath(name).casefold())

    def read(self, name: str) -> bytes:
        """Bytes of one file.

        Raises:
            BookError: there is none of that name, it is damaged or encrypted, or it unpacks to more than the bounds.
        """
        real = self._find(name)
        if real is None:
            raise BookError(f"The archive lacks {name}, which it should have.")
        bound = min(MOST_BYTES_OF_A_FILE, MOST_BYTES - self._unpacked)
        try:
            # A header may state any size: what is unpacked counts.
            with self._zip.open(real) as file:
                data = file.read(bound + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
            raise BookError(f"{name} in the archive can't be unpacked: {error}.") from error
        if len(data) > bound:
            raise BookError(f"{name} unpacks to more than {bound >> 20} MB, which is taken for an attack.")
        self._unpacked += len(data)
        return data
