"""XML of EPUB packages: parsed without entities, and with what browsers forgive forgiven."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from books.errors import BookError
from books.reading.decoding import decode

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
        raise BookError(f"{name} in the EPUB defines XML entities, which are taken for an attack.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise BookError(f"{name} in the EPUB is no readable XML: {error}.") from error


def _meant(found: re.Match[str]) -> str:
    letters = unescape(found[0])
    return letters if found[1] and letters != found[0] and not set(letters) & set("<&") else f"&amp;{found[1] or ''}"
