"""Parser of Markdown: CommonMark with tables and struck text, and with three inline rules of this module.

The rules are for links that CommonMark takes for text (references whose definitions may be anywhere or nowhere, since
a text is parsed a chunk at a time, and links around links), footnote marks, and TeX, whose backslashes and underscores
mean nothing else. A link's or an image's first token has its
whole source in `meta["source"]`, so that a reader can skip the address.

Two rules of the parser are off: indented code (sanitised text has no indentation) and reference definitions, which
would remove `[Ann]: hello`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, image, link

from text.normalization.english import tex
from text.words.word import word_list

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


_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\n]{1,40}\]")
_SIGN = r"(?:[^\[\]\\]|\\.)"
_LABEL = _SIGN
for _ in range(4):
    _LABEL = rf"(?:{_SIGN}|\[(?>{_LABEL}{{0,300}})\])"
_ADDRESS = r"(?:<[^<>\n]{0,2000}+>|[^\s()<]{0,2000}+(?>(?:\([^\s()]{0,200}+\)[^\s()]{0,200}+){0,9}))"
_LINK = re.compile(
    rf"!?\[(?P<text>(?>{_LABEL}{{1,300}}))\]"
    rf"(?:\[(?!\^)(?P<label>[^\[\]\n]{{0,80}}+)\]|\(\s?{_ADDRESS}(?:\s(?:\"[^\"]{{0,300}}+\"|'[^']{{0,300}}+'))?\s?\))",
    re.DOTALL,
)
"""Link or image with a label for an address, or with an address and a link in its text. Lengths are bounded, because a
text may begin a link at each character."""


def markdown_parser(with_tex: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 20}).enable(["table", "strikethrough"])
    # With `text_join` on, characters written as entities or escapes could no longer be told from plain ones.
    parser.disable(["code", "reference", "html_block", "text_join"])
    rules = parser.inline.ruler
    rules.at("link", _with_source(link))
    rules.at("image", _with_source(image))
    rules.before("link", "footnote_mark", _footnote_mark)
    rules.after("image", "lenient_link", _with_source(_lenient_link))
    if with_tex:
        rules.before("escape", "tex", _tex)
    return parser


def _with_source(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def with_source(state: StateInline, silent: bool) -> bool:
        start, tokens = state.pos, len(state.tokens)
        found = rule(state, silent)
        if found and not silent:
            first = next(token for token in state.tokens[tokens:] if token.type in ("link_open", "image"))
            first.meta["source"] = state.src[start : state.pos]
        return found

    return with_source


def _footnote_mark(state: StateInline, silent: bool) -> bool:
    mark = _FOOTNOTE_MARK.match(state.src, state.pos, state.posMax)
    if mark is None:
        return False
    if not silent:
        state.push("footnote_mark", "", 0).content = mark[0]
    state.pos = mark.end()
    return True


def _lenient_link(state: StateInline, silent: bool) -> bool:
    found = _LINK.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "![" else None
    before = state.src[max(0, state.pos - 1) : state.pos]
    # `a[0][1]` is code, and `[12][13]` are two sources.
    if found is None or before.isalnum() or before in ("_", "]") or (found["text"].isdecimal() and found["label"]):
        return False
    if not silent:
        end = state.posMax
        state.pos, state.posMax = found.span("text")
        state.push("link_open", "a", 1)
        state.md.inline.tokenize(state)
        state.push("link_close", "a", -1)
        state.posMax = end
    state.pos = found.end()
    return True


def _tex(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "\\$" or not (formula := tex.formula(state.src, state.pos, state.posMax)):
        return False
    if not silent:
        state.push("tex", "", 0).content = formula
    state.pos += len(formula)
    return True
