"""The English texts of the page, as its HTML and its modules have them."""

import ast
import inspect
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import get_args, get_type_hints

from frontend.http.server import STATIC
from frontend.monitoring import status_handler
from frontend.monitoring.report import PlannedSegment
from shm.book_formats import BOOK_FORMATS
from supervisor.processes.role import RoleState

ATTRIBUTES = {"aria-label", "placeholder", "title", "alt"}
SAME_EVERYWHERE = {"kokoro-live", "API"}


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._left_out = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._left_out += tag in ("kbd", "title", "noscript")
        self.found += [value for name, value in attrs if name in ATTRIBUTES and value]

    def handle_endtag(self, tag: str) -> None:
        self._left_out -= tag in ("kbd", "title", "noscript")

    def handle_data(self, data: str) -> None:
        if not self._left_out and re.search("[A-Za-z]{2}", data):
            self.found.append(data.strip())


def _of_module(source: str) -> Iterator[str]:
    for call in re.finditer(r"(?<![\w.])t\(", source):
        depth, at = 1, call.end()
        while depth and (token := re.compile(r'"((?:[^"\\]|\\.)*)"|[(),]|[^"(),]+').match(source, at)):
            at = token.end()
            depth += {"(": 1, ")": -1, ",": -1 if depth == 1 else 0}.get(token[0], 0)
            if token[1] is not None and not re.search(r"[=!]==? $", source[: token.start()]):
                yield token[1]


_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`', re.DOTALL)
_WORDS = re.compile("^[A-Z][a-z]|[a-z]{2} [a-z]{2}")
_NAMES = re.compile(
    r"(Arrow|Shift\+)\w*|Escape|Enter|AbortError|Files|Firefox/|Bearer|Content-Type|Retry-After|ExecutionProvider|"
    r"Kokoro|kokoro-live \w+|(hear|like|add) icon|<emphasis.*"
)
"""Literals that look like words: of the browser, of headers, of products, of classes of elements."""


def untranslated() -> list[tuple[str, str]]:
    """Literals of modules that look like words for people and that no translator sees."""
    found = []
    for path in STATIC.glob("*.js"):
        source = path.read_text()
        seen = {*_of_module(source)}
        for literal in _LITERAL.finditer(source):
            text = re.sub(r"\$\{[^}]*\}", "", literal[1] or literal[2] or "").strip()
            if _WORDS.search(text) and (literal[1] or literal[2]) not in seen and not _NAMES.fullmatch(text):
                found.append((path.name, text))
    return [(name, text) for name, text in found if name not in ("words.js", "sample.js")]


def _of_server() -> Iterator[str]:
    """Words of the server that the page shows: of streams, why they wait, of segments, of processes; of books."""
    for node in ast.walk(ast.parse(inspect.getsource(status_handler._standing))):
        if isinstance(node, ast.Return):
            yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    yield status_handler._held_back("")
    yield from get_args(get_type_hints(PlannedSegment)["stage"])
    yield from RoleState
    yield from (row.title for row in BOOK_FORMATS.values() if row.title)


def texts() -> list[str]:
    """All of them, each once, in the order of the page, its modules and the server."""
    page = _Texts()
    page.feed((STATIC / "index.html").read_text())
    modules = [text for path in sorted(STATIC.glob("*.js")) for text in _of_module(path.read_text())]
    found = dict.fromkeys([*page.found, *modules, *map(str, _of_server())])
    return [text for text in found if text not in SAME_EVERYWHERE]
