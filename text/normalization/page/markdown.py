"""Conversion of Markdown (and the HTML in it), parsed by markdown-it-py, to plain text with its positions in the
source.

Headings, list items and table rows become paragraphs of their own; bullets, rules and markers are dropped; a list's
numbers stay; a link becomes its text and an image its description; code spans become their text; a short code block is
read, a long one only mentioned; footnotes' texts stay, their marks are dropped. Text without markup by CommonMark or
HTML stays.
"""

from __future__ import annotations

import re
from functools import cache

from markdown_it.token import Token

from text.normalization.draft.draft import Replacement
from text.normalization.draft.words import cardinal
from text.normalization.page.markdown_parser import hides, markdown_parser, said_for

_SIGN = re.compile(
    r"[*`~\[<\\|]|(?<!\w)_|_(?!\w)|&[#\w]{2,32};|\$\$|^(?:[-+] |#{1,6} |>|={2,}+$|-{2,}+$|(?:[-*_] ?){3,}$)",
    re.MULTILINE,
)
_TOO_DEEP = re.compile(r"^(?:> ?|[*+-] |\d{1,9}[.)] ){8}", re.MULTILINE)
"""Markers of eight nested blocks. A chunk that has them stays unparsed, because the parser drops blocks nested deeper
than its own limit.
"""

_DEFINITION = re.compile(
    r"^(?P<before>(?>(?:> ?)*))(?:\[\^[^\]\n]{1,40}\]: ?"
    r"|\[(?!\^)[^\]\n]{1,200}\]: ?<?(?:https?://|www\.|/|#|\.{1,2}/|mailto:)[^\n]*$)",
    re.MULTILINE,
)
"""Definition of a link's address, or the mark of a footnote's text."""

_TASK = re.compile(r"\[[ xX]\] ")

_READ_LINES = 2
_READ_CHARACTERS = 120
"""Most characters of a code block that is read, such as a command that the listener is to type."""

_LANGUAGES = {
    "py": "Python",
    "python": "Python",
    "js": "JavaScript",
    "javascript": "JavaScript",
    "ts": "TypeScript",
    "typescript": "TypeScript",
    "json": "JSON",
    "yaml": "YAML",
    "html": "HTML",
    "css": "CSS",
    "sql": "SQL",
    "rust": "Rust",
    "go": "Go",
    "java": "Java",
    "c": "C",
    "cpp": "C plus plus",
    "c++": "C plus plus",
    "sh": "Shell",
    "bash": "Shell",
    "shell": "Shell",
}


_markdown = cache(markdown_parser)


def plain(chunk: str, mention_code: bool, with_tex: bool) -> list[Replacement] | None:
    """Spoken pieces of a chunk of sanitised text; None if the chunk has no markup.

    Args:
        mention_code: True if long code blocks are only mentioned.
        with_tex: True if formulas in TeX stay as written, for a later rule.
    """
    if not _SIGN.search(chunk) or _TOO_DEEP.search(chunk):
        return None
    return _Reader(chunk, mention_code, with_tex).pieces


def _blank(match: re.Match[str]) -> str:
    return match["before"].ljust(len(match[0]))


class _Reader:
    """Finds each text that the parser returns in the source, after the text before it.

    The parser returns line numbers only, but returns the source's own characters in their order.
    """

    def __init__(self, chunk: str, mention_code: bool, with_tex: bool) -> None:
        self.pieces: list[Replacement] = []
        self._mention_code = mention_code
        self._end = 0
        """End of the source that was read so far."""
        self._joint = ""
        """Separator before the next text."""
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
                self._inline(token.children or [])
            case "fence":
                self._code(token)
            case "list_item_open" if token.info:
                self._text(token.info + token.markup)
                self._separate(" ")
            case "td_close" | "th_close":
                self._separate(", ")
            case _ if token.nesting == -1 and token.block:
                self._separate("\n\n")

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
                    self._separate("\n")
                case "tex":
                    self._text(child.content, " ".join(child.content.split()))
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
                case "em_open" | "em_close" | "strong_open" | "strong_close" if _is_product(children, place):
                    self._text(child.markup)

    def _code(self, token: Token) -> None:
        first, last = token.map or [0, 1]
        lines = [line for line in token.content.split("\n") if line.strip()]
        self._block_end = self._lines[last]
        closed = len(token.content.split("\n")) == last - first - 1
        is_long = len(lines) > _READ_LINES or len(token.content) > _READ_CHARACTERS
        self._separate("\n\n")
        if self._mention_code and closed and is_long:
            language = _LANGUAGES.get(token.info.strip().partition(" ")[0].lower())
            said = f"{f'{language} code' if language else 'Code'}, {cardinal(len(lines), british=False)} lines."
            said = said.replace("one lines", "one line")
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


def _is_product(children: list[Token], place: int) -> bool:
    """True for asterisks of a product: `2*3*4` is no emphasis."""
    before = children[place - 1].content[-1:] if place else ""
    after = children[place + 1].content[:1] if place + 1 < len(children) else ""
    return children[place].markup == "*" and before.isdecimal() and after.isdecimal()
