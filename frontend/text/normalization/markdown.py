"""Conversion of Markdown (and the HTML in it), parsed by markdown-it-py, to plain text with its positions in the
source.

Headings, list items and table rows become paragraphs of their own; bullets, rules and markers are dropped; a list's
numbers stay; a link becomes its text and an image its description; code spans become their text; a short code block is
read, a long one only mentioned; footnotes' texts stay, their marks are dropped. Text without markup by CommonMark or
HTML stays.

Two rules of the parser are off: indented code (sanitised text has no indentation) and reference definitions, which
would remove `[Ann]: hello`; this module removes definitions that have an address.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from frontend.text.normalization.html_markup import hides, said_for
from frontend.text.normalization.rewritten import Replacement
from frontend.text.normalization.words import cardinal

_SIGN = re.compile(
    r"[*`~\[<\\|]|(?<!\w)_|_(?!\w)|&[#\w]{2,32};|^(?:[-+] |#{1,6} |>|={2,}+$|-{2,}+$|(?:[-*_] ?){3,}$)", re.MULTILINE
)
_TOO_DEEP = re.compile(r"^(?:[>*+-] ?|\d{1,9}[.)] ){8}", re.MULTILINE)
"""Markers of eight nested blocks. A chunk that has them stays unparsed, because the parser drops blocks nested deeper
than its own limit.
"""

_DEFINITION = re.compile(r"^\[(?!\^)[^\]\n]{1,200}\]: ?<?(?:https?://|www\.|/|#|\.{1,2}/|mailto:)[^\n]*$", re.MULTILINE)
_FOOTNOTE = re.compile(r"^\[\^[^\]\n]{1,40}\]: ?|\[\^[^\]\n]{1,40}\]", re.MULTILINE)
_REFERENCE = re.compile(r"(?<![\w\]])\[(?P<text>[^\[\]\n]{1,200})\]\[[^\[\]\n]{0,80}\]")
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


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 20}).enable(["table", "strikethrough"])
    # With `text_join` on, characters written as entities or escapes could no longer be told from plain ones.
    return parser.disable(["code", "reference", "html_block", "text_join"])


_markdown = _parser()


def plain(chunk: str, mention_code: bool) -> list[Replacement] | None:
    """Spoken pieces of a chunk of sanitised text; None if the chunk has no markup.

    Args:
        mention_code: True if long code blocks are only mentioned.
    """
    if not _SIGN.search(chunk) or _TOO_DEEP.search(chunk):
        return None
    return _Reader(chunk, mention_code).pieces


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _only_text(match: re.Match[str]) -> str:
    return f" {match['text']} ".ljust(len(match[0]))


class _Reader:
    """Finds each text that the parser returns in the source, after the text before it.

    The parser returns line numbers only, but returns the source's own characters in their order.
    """

    def __init__(self, chunk: str, mention_code: bool) -> None:
        self.pieces: list[Replacement] = []
        self._mention_code = mention_code
        self._end = 0
        """End of the source that was read so far."""
        self._joint = ""
        """Separator before the next text."""
        # The replacements keep the chunk's length, so that positions stay.
        self._source = _REFERENCE.sub(_only_text, _FOOTNOTE.sub(_blank, _DEFINITION.sub(_blank, chunk)))
        self._lines = [0, *(match.end() for match in re.finditer("\n", chunk)), len(chunk) + 1]
        for token in _markdown.parse(self._source):
            self._block(token)

    def _block(self, token: Token) -> None:
        if token.map and token.type != "inline":
            self._end = max(self._end, self._lines[token.map[0]])
        match token.type:
            case "inline":
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
                case "image":
                    self._inline(child.children or [])
                case "html_inline":
                    hidden = hides(child.content)
                    said = said_for(child.content)
                    if said is None:
                        self._text(child.content)
                    else:
                        self._separate(said)
                case "em_open" | "em_close" | "strong_open" | "strong_close" if _is_product(children, place):
                    self._text(child.markup)

    def _code(self, token: Token) -> None:
        first, last = token.map or [0, 1]
        lines = [line for line in token.content.split("\n") if line.strip()]
        closed = len(token.content.split("\n")) == last - first - 1
        is_long = len(lines) > _READ_LINES or len(token.content) > _READ_CHARACTERS
        self._separate("\n\n")
        if self._mention_code and closed and is_long:
            language = _LANGUAGES.get(token.info.strip().partition(" ")[0].lower())
            said = f"{f'{language} code' if language else 'Code'}, {cardinal(len(lines), british=False)} lines."
            self._add(self._lines[first], self._lines[last] - 1, said.replace("one lines", "one line"))
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
        start = self._source.find(written, self._end)
        if start < 0:
            # The parser joins a code span's lines, so the span is found word by word.
            words = written.split()
            for word in words:
                self._text(word) if len(words) > 1 else self._add(self._end, self._end, word)
                self._separate(" ")
            return
        if said is not None:
            self._add(start, start + len(written), said)
            return
        stripped = written.strip()
        if not written[0].strip():
            self._separate(" ")
        start += len(written) - len(written.lstrip())
        self._add(start, start + len(stripped), stripped, verbatim=True)
        if not written[-1].strip():
            self._separate(" ")

    def _separate(self, joint: str) -> None:
        """Set the separator, unless a stronger one is set already."""
        self._joint = max(self._joint, joint, key=lambda parting: (parting.count("\n"), len(parting)))

    def _add(self, start: int, end: int, said: str, verbatim: bool = False) -> None:
        if self.pieces and self._joint:
            self.pieces.append(Replacement(self.pieces[-1].end, self.pieces[-1].end, self._joint))
        self.pieces.append(Replacement(start, end, said, verbatim))
        self._end, self._joint = end, ""


def _is_product(children: list[Token], place: int) -> bool:
    """True for asterisks of a product: `2*3*4` is no emphasis."""
    before = children[place - 1].content[-1:] if place else ""
    after = children[place + 1].content[:1] if place + 1 < len(children) else ""
    return children[place].markup == "*" and before.isdecimal() and after.isdecimal()
