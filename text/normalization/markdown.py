"""Conversion of Markdown (and the HTML in it), parsed by markdown-it-py, to plain text with its positions in the
source.

Headings, list items and table rows become paragraphs of their own, cells after their headings; bullets, rules and
markers are dropped; a list's numbers stay; a link becomes its text and an image its description; code spans become
their text; a short code block is read, a long one only mentioned; footnotes' texts stay, their marks are dropped. Text
without markup by CommonMark or HTML stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import cache
from itertools import takewhile

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from text.locales.tables import table, word_lists
from text.normalization import layout, tex
from text.normalization.draft import Replacement
from text.normalization.number_words import cardinal

_SIGN = re.compile(
    r"[*`~\[<\\|]|_(?:(?<!\w_)|(?!\w))|&[#\w]{2,32};|\$\$|^(?:[-+] |#{1,6} |>|={2,}+$|-{2,}+$|(?:[-*_] ?){3,}$)",
    re.MULTILINE,
)
_TOO_DEEP = re.compile(r"^(?:> ?|[*+-] |\d{1,9}[.)] ){8}", re.MULTILINE)
"""Markers of eight nested blocks: such a chunk stays unparsed, because the parser drops blocks nested deeper."""

_DEFINITION = re.compile(
    r"^(?P<before>(?>(?:> ?)*))(?:\[\^[^\]\n]{1,40}\]: ?"
    r"|\[(?!\^)[^\]\n]{1,200}\]: ?<?(?:https?://|www\.|/|#|\.{1,2}/|mailto:)[^\n]*$)",
    re.MULTILINE,
)
"""Definition of a link's address, or the mark of a footnote's text."""

_HYPHENATED = re.compile(r"(?<!\w)(?P<start>[^\W\d_]{2,20})-$")
_TASK = re.compile(r"\[[ xX]\] ")

_MOST_UNNAMED_COLUMNS = 2
"""Columns up to which a table's cells are read without their headings."""

_NO_NAME = frozenset(".,:;?!…：？！0123456789")
"""Ends of first cells that don't name their row."""

_READ_LINES = 2
_READ_CHARACTERS = 120
"""Most characters of a code block that is read, such as a command that the listener is to type."""

_TABLE = table("en", "programming")
_LANGUAGES: dict[str, str] = _TABLE["languages"]


class CodeBlocks(Enum):
    """Treatment of code blocks of more than two lines."""

    READ = auto()
    MENTIONED = auto()
    SKIPPED = auto()


def plain(chunk: str, language: str, code: CodeBlocks, with_tex: bool) -> list[Replacement] | None:
    """Spoken pieces of a chunk of sanitised text; None if the chunk has no markup.

    Args:
        language: a code.
        code: what becomes of long code blocks.
        with_tex: True if formulas in TeX are said. English ones stay as written, for a later rule.
    """
    marked = _SIGN.search(chunk) or (with_tex and not language.startswith("en") and tex.has_formula(chunk))
    if not marked or _TOO_DEEP.search(chunk):
        return None
    return _Reader(chunk, language, code, with_tex).pieces


def _blank(match: re.Match[str]) -> str:
    return match["before"].ljust(len(match[0]))


class _Reader:
    """Finds each text that the parser returns, in its order, in the source: the parser returns line numbers only."""

    def __init__(self, chunk: str, language: str, code: CodeBlocks, with_tex: bool) -> None:
        self.pieces: list[Replacement] = []
        self._language, self._code_blocks = language, code
        self._end = 0
        """End of the source that was read so far."""
        self._joint = ""
        """Separator before the next text."""
        self._headings: list[str] = []
        self._column = -1
        """Column of the cell whose text comes next; -1 outside a table's rows."""
        self._chunk = chunk
        # The spaces keep the chunk's length, so that positions stay.
        self._source = _DEFINITION.sub(_blank, chunk)
        self._block_end = len(chunk)
        self._lines = [0, *(match.end() for match in re.finditer("\n", chunk)), len(chunk) + 1]
        for token in _markdown(with_tex).parse(self._source):
            self._block(token)

    def _block(self, token: Token) -> None:
        if token.map and token.type != "inline":
            self._end = max(self._end, self._lines[token.map[0]])
        match token.type:
            case "inline":
                self._block_end = self._lines[token.map[1]] if token.map else len(self._chunk)
                if self._column >= 0:
                    self._cell(token.content, token.children or [])
                self._inline(token.children or [])
            case "fence":
                self._code(token)
            case "list_item_open" if token.info:
                self._text(token.info + token.markup)
                self._separate(" ")
            case "table_open" | "tr_open" | "tr_close" | "td_close" | "th_close":
                self._in_table(token.type)
            case _ if token.nesting == -1 and token.block:
                self._column = -1 if token.type == "paragraph_close" else self._column
                self._separate("\n\n")

    def _in_table(self, place: str) -> None:
        match place:
            case "table_open":
                self._headings = []
            case "tr_open":
                self._column = 0
            case "tr_close" | "table_close":
                self._column = -1
                self._separate("\n\n")
            case "td_close" | "th_close" if self._column >= 0:
                names = not self._column and len(self._headings) == _MOST_UNNAMED_COLUMNS and self.pieces
                self._separate(": " if names and names[-1].said[-1] not in _NO_NAME else ", ")
                self._column += 1

    def _cell(self, content: str, children: list[Token]) -> None:
        """Keep a heading; say it before the cells of its column, but for the first, which names the row."""
        if len(self._headings) == self._column:
            texts = (child.content for child in children if child.type in ("text", "code_inline"))
            self._headings.append("".join(texts).strip())
        elif self._column and len(self._headings) > max(_MOST_UNNAMED_COLUMNS, self._column):
            start = self._source.find(content, self._end, self._block_end)
            if (name := self._headings[self._column]) and content.strip() and start >= 0:
                self._add(Replacement(start, start, f"{name}:"))
                self._separate(" ")

    def _html_cell(self, tag: str, following: Iterator[Token]) -> None:
        """Read a tag of a table in HTML: its first row of `<th>` has the headings."""
        name, begins = tag.strip("</>").partition(" ")[0].lower(), not tag.startswith("</")
        if name in ("table", "tr", "td", "th"):
            self._in_table(f"{name}_{'open' if begins else 'close'}")
        if name in ("td", "th") and begins and self._column >= 0:
            inner = list(takewhile(lambda child: not _ENDS_CELL.match(child.content), following))
            if name == "th" or (self._headings and len(self._headings) != self._column):
                self._cell(next((child.content for child in inner if child.content.strip()), ""), inner)

    def _inline(self, children: list[Token]) -> None:
        hidden = ""
        link_ends: list[int] = []
        for place, child in enumerate(children):
            if hidden:
                hidden = "" if child.content.lower().startswith(f"</{hidden}") else hidden
                continue
            match child.type:
                case "text":
                    task = _TASK.match(child.content) if place == 0 else None
                    self._text(child.content[task.end() :] if task else child.content)
                case "code_inline":
                    self._text(child.content)
                case "text_special":
                    self._text(child.markup, child.content)
                case "softbreak" | "hardbreak":
                    following = children[place + 1].content if place + 1 < len(children) else ""
                    if not self._joins_hyphen(following):
                        self._separate("\n" if self._column < 0 else " ")
                case "tex":
                    english = self._language.startswith("en")
                    spoken = child.content if english else tex.said_between(child.content, self._language)
                    self._text(child.content, " ".join(spoken.split()))
                case "footnote_mark":
                    self._end = self._after(child.content)
                case "link_open":
                    link_ends.append(self._after(child.meta.get("source", "")))
                case "link_close":
                    self._end = max(self._end, link_ends.pop())
                case "image":
                    end = self._after(child.meta["source"])
                    self._inline(child.children or [])
                    self._end = max(self._end, end)
                case "html_inline":
                    hidden = hides(child.content)
                    said = said_for(child.content)
                    if said is None:
                        self._text(child.content)
                    else:
                        self._end = self._after(child.content)
                        self._separate(said)
                        self._html_cell(child.content, (children[after] for after in range(place + 1, len(children))))
                case "em_open" | "em_close" | "strong_open" | "strong_close" if _is_product(children, place):
                    self._text(child.markup)

    def _joins_hyphen(self, following: str) -> bool:
        """Join a word whose line ends in a hyphen with its end; false if the line ends otherwise."""
        last = self.pieces[-1] if self.pieces and not self._joint else None
        hyphenated = _HYPHENATED.search(last.said) if last and last.verbatim and following[:1].islower() else None
        if last is None or hyphenated is None:
            return False
        if not layout.keeps_hyphen(hyphenated):
            self.pieces[-1] = Replacement.kept(self._chunk, last.start, last.end - 1)
        return True

    def _code(self, token: Token) -> None:
        first, last = token.map or [0, 1]
        lines = [line for line in token.content.split("\n") if line.strip()]
        self._block_end = self._lines[last]
        closed = len(token.content.split("\n")) == last - first - 1
        is_long = len(lines) > _READ_LINES or len(token.content) > _READ_CHARACTERS
        self._separate("\n\n")
        if self._code_blocks is not CodeBlocks.READ and closed and is_long:
            if self._code_blocks is CodeBlocks.MENTIONED:
                said = _mention(token.info.strip().partition(" ")[0].lower(), len(lines), self._language)
                self._add(Replacement(self._lines[first], self._lines[last] - 1, said))
        else:
            self._end = max(self._end, self._lines[first + 1])
            for line in lines:
                self._text(line)
                self._separate("\n\n")
        self._end = max(self._end, self._lines[last] - 1)
        self._separate("\n\n")

    def _text(self, written: str, said: str | None = None) -> None:
        """Args:
        said: the spoken text, if it differs from the written one.
        """
        if not (written if said is None else said).strip():
            self._separate(" " if written else "")
            return
        start = self._source.find(written, self._end, self._block_end)
        if start < 0:
            # The parser joins a code span's lines, so the span is found word by word.
            words = written.split()
            for word in words:
                self._text(word) if len(words) > 1 else self._add(Replacement(self._end, self._end, word))
                self._separate(" ")
            return
        if said is not None:
            self._add(Replacement(start, start + len(written), said))
            return
        if not written[0].strip():
            self._separate(" ")
        start += len(written) - len(written.lstrip())
        self._add(Replacement.kept(self._chunk, start, start + len(written.strip())))
        if not written[-1].strip():
            self._separate(" ")

    def _after(self, source: str) -> int:
        """End of markup that isn't read; the present place if the source has it across the marks of a block's lines."""
        start = self._source.find(source, self._end, self._block_end)
        return self._end if start < 0 else start + len(source)

    def _separate(self, joint: str) -> None:
        """Set the separator, unless a stronger one is set already."""
        self._joint = max(self._joint, joint, key=lambda parting: (parting.count("\n"), len(parting)))

    def _add(self, piece: Replacement) -> None:
        if self.pieces and self._joint:
            self.pieces.append(Replacement(self.pieces[-1].end, self.pieces[-1].end, self._joint))
        self.pieces.append(piece)
        self._end, self._joint = piece.end, ""


def _mention(tag: str, lines: int, language: str) -> str:
    """Words for a code block that isn't read: its programming language and length."""
    own: dict[str, str] = (table(language.partition("-")[0], "programming") or _TABLE)["blocks"]
    name = _LANGUAGES.get(tag)
    code = own["named"].format(name) if name else own["unnamed"]
    number = cardinal(lines, british=False) if language.startswith("en") else str(lines)
    return code + (own["one"] if lines == 1 else own["many"].format(number))


def _is_product(children: list[Token], place: int) -> bool:
    """True for asterisks of a product: `2*3*4` is no emphasis."""
    before = children[place - 1].content[-1:] if place else ""
    after = children[place + 1].content[:1] if place + 1 < len(children) else ""
    return children[place].markup == "*" and before.isdecimal() and after.isdecimal()


_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*>")

_ENDS_CELL = re.compile("</?t[dhr]", re.IGNORECASE)
_HTML = word_lists(table("all", "html"))
_UNHEARD = frozenset(("script", "style"))


def said_for(tag: str) -> str | None:
    """Replacement of a tag: nothing, a newline or a space; None for a tag that HTML doesn't know, which stays."""
    if tag.startswith(("<!", "<?")):
        return ""
    match = _TAG.fullmatch(tag)
    if match is None or (name := match[1].lower()) not in _HTML["known"]:
        return None
    return (" " if name in ("td", "th") else "\n") if name in _HTML["breaks"] else ""


def hides(tag: str) -> str:
    """Name of the element that a tag opens, if the element's content is not for readers; else ""."""
    match = _TAG.fullmatch(tag)
    return match[1].lower() if match and match[1].lower() in _UNHEARD and tag[1] != "/" else ""


_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\n]{1,40}\]")
_LETTER = r"(?:[^\[\]\\]|\\.)"
_LABEL = _LETTER
for _ in range(4):
    _LABEL = rf"(?:{_LETTER}|\[(?>{_LABEL}{{0,300}})\])"
_ADDRESS = r"(?:<[^<>\n]{0,2000}+>|[^\s()<]{0,2000}+(?>(?:\([^\s()]{0,200}+\)[^\s()]{0,200}+){0,9}))"
_LINK = re.compile(
    rf"!?\[(?P<text>(?>{_LABEL}{{1,300}}))\]"
    rf"(?:\[(?!\^)(?P<label>[^\[\]\n]{{0,80}}+)\]|\(\s?{_ADDRESS}(?:\s(?:\"[^\"]{{0,300}}+\"|'[^']{{0,300}}+'))?\s?\))",
    re.DOTALL,
)
"""Link or image with a label for an address, or with an address and a link in its text. Lengths are bounded, because a
text may begin a link at each character."""


@cache
def _markdown(with_tex: bool) -> MarkdownIt:
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
