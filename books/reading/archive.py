"""A zip archive of unknown origin, read within bounds, and the XML in it."""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from html import unescape
from posixpath import normpath
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from books.book import BookError
from books.reading.decoding import decode

MOST_FILES = 20_000
MOST_BYTES_OF_A_FILE = 32 << 20
MOST_BYTES = 256 << 20
"""Bytes that are unpacked from one archive in all: the documents and the cover of a book, not its other pictures."""

_ENTRY = b"PK\x01\x02"
"""The signature with which each entry of the archive's directory begins."""


def plain_name(name: str) -> str:
    """A name without `.` and `..`, from the archive's root, out of which no name leads."""
    return normpath("/" + name.replace("\\", "/")).lstrip("/")


def _folded(name: str) -> str:
    """The key under which a name is found however its maker wrote it: systems differ in case, separators and forms of
    Unicode, and some write escapes into the archive."""
    return unicodedata.normalize("NFC", unquote(plain_name(name))).casefold()


class Archive:
    """Files of a zip archive by their names. Only what is read is unpacked."""

    def __init__(self, data: bytes) -> None:
        """Open the archive in `data`.

        Raises:
            BookError: it is no zip archive, is damaged, or has too many files.
        """
        # The standard library makes an object of each entry before it tells their number: of 100 MB of bare entries two
        # million, which take more than a gigabyte.
        if (entries := data.count(_ENTRY)) > MOST_FILES:
            raise BookError(f"The archive has about {entries} files; at most {MOST_FILES} are read.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except Exception as error:  # zipfile names no base of what it raises at damage
            raise BookError(f"The file is no readable zip archive: {error}.") from error
        self._names = {plain_name(name): name for name in reversed(self._zip.namelist())}
        self._folded = {_folded(name): real for name, real in self._names.items()}
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def _find(self, name: str) -> str | None:
        return self._names.get(plain_name(name)) or self._folded.get(_folded(name))

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
        except Exception as error:  # a decompressor's own, and Python 3.14 has one more
            raise BookError(f"{name} in the archive can't be unpacked: {error or type(error).__name__}.") from error
        if len(data) > bound:
            raise BookError(f"{name} unpacks to more than {bound >> 20} MB, which is taken for an attack.")
        self._unpacked += len(data)
        return data


_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(\w{1,32};)?")
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def parse_xml(data: bytes, name: str) -> Any:
    """The root element of a package's XML file. HTML's entities, ampersands that stand alone and control characters are
    no errors, and neither are empty lines before the declaration.

    Raises:
        BookError: it isn't XML, or it defines entities.
    """
    text = _DECLARATION.sub("", decode(data), count=1)
    try:
        try:
            return fromstring(text)
        except ParseError:
            return fromstring(_REFERENCE.sub(_meant, _UNREADABLE.sub("", text)))
    except DefusedXmlException as error:
        raise BookError(f"{name} in the archive defines XML entities, which are taken for an attack.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise BookError(f"{name} in the archive is no readable XML: {error}.") from error


def _meant(found: re.Match[str]) -> str:
    letters = unescape(found[0])
    return letters if found[1] and letters != found[0] and not set(letters) & set("<&") else f"&amp;{found[1] or ''}"
