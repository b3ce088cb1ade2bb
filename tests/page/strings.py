"""The English texts of the page, as its HTML and its modules have them."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from frontend.http.server import STATIC

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
    """The strings in the first argument of each call of `t`."""
    for call in re.finditer(r"(?<![\w.])t\(", source):
        depth, at = 1, call.end()
        while depth and (token := re.compile(r'"((?:[^"\\]|\\.)*)"|[(),]|[^"(),]+').match(source, at)):
            at = token.end()
            depth += {"(": 1, ")": -1, ",": -1 if depth == 1 else 0}.get(token[0], 0)
            if token[1] is not None and not re.search(r"[=!]==? $", source[: token.start()]):
                yield token[1]


def texts() -> list[str]:
    """All of them, each once, in the order of the page and its modules."""
    page = _Texts()
    page.feed((STATIC / "index.html").read_text())
    modules = [text for path in sorted(STATIC.glob("*.js")) for text in _of_module(path.read_text())]
    return [text for text in dict.fromkeys(page.found + modules) if text not in SAME_EVERYWHERE]
