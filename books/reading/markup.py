"""Markup of unknown makers, made safe for the standard library's HTML parser.

The latter drops CDATA sections, speaks what follows the first `>` of a document type with a subset, raises
AssertionError at unknown marked sections, and takes quadratic time where many constructs have no end.
"""

from __future__ import annotations

import re
from html import escape

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
