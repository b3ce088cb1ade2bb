"""Text of a file in a known or guessed encoding, and markup made safe for the standard library's HTML parser.

The latter drops CDATA sections, speaks what follows the first `>` of a document type with a subset, raises
AssertionError at unknown marked sections, and takes quadratic time where many constructs have no end.
"""

from __future__ import annotations

import codecs
import re
from html import escape

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


_SUBSET = re.compile(
    r"""(<!DOCTYPE[^\[>"']*+(?>(?:"[^"]*+"|'[^']*+'|[^\[>"'])*))"""
    r"""\[((?>(?:<!--.*?-->|"[^"]*+"|'[^']*+'|[^\]"'])*))\]\s*>""",
    re.I | re.S,
)
"""A document type with its internal subset. Possessive repetitions keep the search linear."""
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.-]{1,50})\s+(?:"([^"&<%]{0,100})"|'([^'&<%]{0,100})')\s*>""")
"""An entity that is plain text. One that names others or a file isn't expanded."""
_MOST_EXPANSIONS = 10_000
_HEAD = 20_000
"""Characters at a document's start in which the document type must end."""
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.S)
_MARKED = re.compile(r"<!\[[^>]*>")
_COMMENT = re.compile(r"<!--.*?--\s*>", re.S)
_COMMENT_END = re.compile(r"--\s*>")


def prepared(text: str) -> str:
    """The markup with CDATA as text, without comments and its internal subset, and without tags that have no end. The
    work is linear in its length."""
    text = _without_subset(text)
    if "<![CDATA[" in text:
        position = text.rfind("]]>") + 3 if "]]>" in text else 0
        text = _CDATA.sub(lambda found: escape(found[1], quote=False), text[:position]) + text[position:]
    if "<!--" in text:
        position = max((found.end() for found in _COMMENT_END.finditer(text)), default=0)
        text = _COMMENT.sub("", text[:position]) + text[position:].replace("<!--", " ")
    last = text.rfind(">") + 1
    return _MARKED.sub("", text[:last]) + text[last:].replace("<", " ")


def _without_subset(text: str) -> str:
    head = text[:_HEAD]
    start = head.upper().find("<!DOCTYPE")
    found = _SUBSET.match(head, start) if start >= 0 else None
    if not found:
        return text
    values = {name: first or second for name, first, second in _ENTITY.findall(found[2])}
    rest = text[found.end() :]
    if values:
        rest = re.sub(r"&([\w.-]{1,50});", lambda each: values.get(each[1], each[0]), rest, count=_MOST_EXPANSIONS)
    return f"{text[: found.start()]}{found[1]}>{rest}"
