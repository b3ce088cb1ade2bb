"""HTML inside Markdown: tags that are markup, and text that only resembles a tag."""

from __future__ import annotations

import re

from text.words.word_list import word_list

_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*>")

_KNOWN = word_list(
    "a abbr address article aside audio b blockquote body br button caption center cite code col colgroup dd "
    "del details dfn div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr "
    "html i iframe img input ins kbd label legend li link main mark meta nav object ol option p picture pre q s "
    "samp section select small source span strike strong style sub summary sup svg table tbody td textarea "
    "tfoot th thead time title tr tt u ul var video wbr script"
)
_BREAKS = word_list(
    "address article aside blockquote br caption dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header "
    "hr li main nav ol p pre section summary table td th tr ul"
)
_UNHEARD = frozenset(("script", "style"))


def said_for(tag: str) -> str | None:
    """Replacement of a tag: nothing, a newline or a space; None for a tag that HTML doesn't know, which stays."""
    if tag.startswith(("<!", "<?")):
        return ""
    match = _TAG.fullmatch(tag)
    if match is None or (name := match[1].lower()) not in _KNOWN:
        return None
    return (" " if name in ("td", "th") else "\n") if name in _BREAKS else ""


def hides(tag: str) -> str:
    """Name of the element that a tag opens, if the element's content is not for readers; else ""."""
    match = _TAG.fullmatch(tag)
    return match[1].lower() if match and match[1].lower() in _UNHEARD and tag[1] != "/" else ""
