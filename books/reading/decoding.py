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


def decode(data: bytes) -> str:
    """Decode by byte order mark, by declaration (XML, HTML) in the first kilobyte, as UTF-8, or as Windows-1252: the
    first that fits. Bytes that no encoding explains become U+FFFD.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    declared = _DECLARED.search(data[:1024])
    for encoding in ([declared[1].decode("ascii", "replace")] if declared else []) + ["utf-8"]:
        try:
            return data.decode(encoding)
        except (ValueError, LookupError):
            continue
    return data.decode("cp1252", errors="replace")
