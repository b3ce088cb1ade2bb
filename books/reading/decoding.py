"""Text of a file whose encoding is known or must be guessed."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""(?:encoding|charset)\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_UNMARKED = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
"""First bytes of a document in UTF-16 without a byte order mark, with the encoding."""
_WIDER = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
"""Python's names of declared encodings, with those that are read instead: programs write the second's letters in the
first, and browsers read them so (WHATWG Encoding, "names and labels").
"""
_READABLE = re.compile(r"cp\d+|iso8859-\d+|iso2022_\w+|koi8-\w|mac-\w+|euc_\w+|big5\w*|gb18030|hz|utf-8(?:-sig)?")


def decode(data: bytes) -> str:
    """Decode by byte order mark, by declaration (XML, HTML) in the first kilobyte, as UTF-8, or as Windows-1252: the
    first that fits. Bytes that no encoding explains become U+FFFD; null characters go.
    """
    return _decoded(data).replace("\0", "")


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    for start, encoding in _UNMARKED:
        if data.lstrip(b" \r\n\t").startswith(start):
            return data.decode(encoding, errors="replace")
    declared = _declared(data)
    for encoding in ([declared] if declared else []) + ["utf-8"]:
        try:
            return data.decode(encoding)
        except ValueError:
            continue
    return data.decode("cp1252" if declared in ("", "utf-8") else declared, errors="replace")


def _declared(data: bytes) -> str:
    """The declared encoding if its letters can be read in it; a declaration that is read as bytes isn't in UTF-16."""
    found = _DECLARED.search(data[:1024])
    try:
        name = codecs.lookup(found[1].decode("ascii", "replace")).name if found else ""
    except LookupError:
        return ""
    name = _WIDER.get(name, name)
    return name if _READABLE.fullmatch(name) else ""
