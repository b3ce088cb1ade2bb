"""The small file that gives a book's speakers their voices."""

from __future__ import annotations

import tomllib

import msgspec

from books.errors import BookError
from books.making.settings import Cast


class _CastFile(msgspec.Struct, forbid_unknown_fields=True):
    narrator: str = ""
    quotes: str = ""
    speakers: dict[str, str] = {}


def read_cast(data: bytes) -> Cast:
    """The cast in TOML: `narrator` and `quotes` are voices, the table `speakers` has names with theirs.

    Raises:
        BookError: the file is no such TOML; the message says where.
    """
    try:
        found = msgspec.convert(tomllib.loads(data.decode()), _CastFile)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BookError(f"The file with the cast can't be read: {error}.") from error
    return Cast(found.narrator, found.quotes, found.speakers)
