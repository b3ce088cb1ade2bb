"""Names of elements, types and classes that decide how a document is spoken."""

from __future__ import annotations

import re


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SILENT = _names(
    "script style template noscript svg math audio video canvas object iframe button form select textarea dialog "
    "rt rtc rp figure img title epub:case pagenum noteref note annoref prodnote"
)
"""Elements whose text isn't spoken; the last five are DTBook's. A picture's caption is of no use without the picture,
and `epub:case` has a form of its text that few programs show."""
BESIDE = frozenset({"nav", "footer", "aside", "header", "menu"})
"""Elements of a web page that stand next to its text."""
MAIN = frozenset({"article", "main"})
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
BLOCKS = _names(
    "address article aside blockquote body center caption dd details div dl dt fieldset footer h1 h2 h3 h4 h5 h6 "
    "header hgroup hr li main menu nav ol p pre section summary table tbody tfoot thead tr ul"
)
CELLS = frozenset({"td", "th"})
ENDED_BY = {
    **dict.fromkeys(BLOCKS, frozenset({"p"})),
    "a": frozenset({"a"}),
    "li": frozenset({"li", "p"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd", "p"})),
    **dict.fromkeys(CELLS, frozenset({*CELLS, "p"})),
    **dict.fromkeys(("tr", "tbody", "tfoot"), frozenset({"tr", *CELLS, "p"})),
}
"""Elements that begin, with those that end before them where a maker left their end tags out."""
SILENT_TYPES = _names(
    "footnote footnotes endnote endnotes rearnote rearnotes note noteref pagebreak page-list doc-footnote "
    "doc-endnote doc-endnotes doc-noteref doc-pagebreak doc-backlink backlink"
)
"""Values of `epub:type` and `role` of notes, of the marks that refer to them, and of the printed edition's page
numbers."""
SILENT_CLASS = re.compile(
    r"(?:^|[\s_-])(?:page-?(?:num(?:ber)?|no)|(?:run(?:ning)?-?(?:head(?:er)?|foot(?:er)?|title))|"
    r"(?:foot|end)note(?:-?(?:ref(?:erence)?|text|anchor|mark))?|fn-?(?:anchor|ref)|note-?(?:ref|anchor)|"
    r"_?id(?:Foot|End)note(?:Link|Anchor|s)?|Mso(?:Foot|End)note(?:Text|Reference))s?(?:$|[\s_-])",
    re.I,
)
"""Classes of notes, of the marks that refer to them, of page numbers and of running heads, InDesign's and Word's among
them."""
PAGE_CLASS = re.compile(r"(?:^|[\s_-])page-?break(?:$|\s)", re.I)
"""Classes of elements before which a page ends. Some contain the page's number, some a whole chapter."""
PAGE_NUMBER = re.compile(r"\W*(?:p(?:g|age)?\.?\s*)?(?:\d{1,5}|[ivxlc]{1,8})\W*", re.I)
VERSE_CLASS = re.compile(r"(?:^|[\s_-])(?:verse|poem|poetry|stanza|line-?group)(?:$|[\s_-])", re.I)
NOTE_MARK = re.compile(
    r"\s*(?:[\[({]\s*(?:\d{1,4}|[a-z]|[ivx]{1,5}|\*+|[†‡§])\s*[\])}]|\d{1,4}|\*{1,3}|[†‡§¶]{1,3})\s*", re.I
)
BRACKETED_MARK = re.compile(r"\s*[\[({]\s*(?:\d{1,4}|[a-z]|[ivx]{1,5}|\*+|[†‡§])\s*[\])}]\s*", re.I)
EXPONENT = re.compile(r"[\d+\-−]{1,6}")
RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_ORNAMENTS = frozenset("*•·⁂∗✻✽❦☙❧◆◇■□●○~#=_+—–―-")


def is_ornament(text: str) -> bool:
    """True for a line without a letter or digit between two scenes, such as "* * *"."""
    letters = set(text)
    return bool(letters & _ORNAMENTS) and all(each in _ORNAMENTS or each == "." or each.isspace() for each in letters)
