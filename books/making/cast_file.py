"""The small file that gives a book's speakers their voices."""

from __future__ import annotations

import msgspec

from books.errors import BookError
from books.making.settings import BookCast
from shm.book_jobs import CastFile


def read_cast(data: bytes) -> BookCast:
    """The cast in TOML: `narrator` and `quotes` are voices, the table `speakers` has names with theirs.

    Raises:
        BookError: the file is no such TOML; the message says where.
    """
    try:
        return cast_of(msgspec.toml.decode(data, type=CastFile))
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise BookError(f"The file with the cast can't be read: {error}.") from error


def cast_of(file: CastFile) -> BookCast:
    """The cast that such a file names."""
    return BookCast(file.narrator, file.quotes, file.speakers)
