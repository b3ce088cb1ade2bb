"""The SSML that Speech Dispatcher sends, cut into texts, tags and marks."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.parsers import expat

_TAG = re.compile(r"<[^<>]*>")
_MARK = re.compile(r"<mark\b[^<>]*\bname\s*=\s*[\"']([^\"']*)[\"'][^<>]*>")


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of text between two tags."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that the client wants to hear of."""

    name: str


@dataclass(frozen=True, slots=True)
class Tag:
    """Any other tag, as it is written in SSML."""

    written: str


Part = Text | Mark | Tag


@dataclass(frozen=True, slots=True)
class SpokenText:
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, ssml: str) -> SpokenText:
        """Parse SSML. Text that isn't well-formed is read without its tags, since a client's fault must not silence
        it."""
        try:
            return cls(tuple(_parsed(ssml)))
        except expat.ExpatError:
            return cls(tuple(_salvaged(ssml)))

    @property
    def text(self) -> str:
        return "".join(part.text if isinstance(part, Text) else "" for part in self.parts)

    @property
    def marks(self) -> list[str]:
        return [part.name for part in self.parts if isinstance(part, Mark)]

    def ssml(self, written: Callable[[str], str], tags: bool = True) -> str:
        """The document for the server.

        Args:
            written: makes SSML of a stretch of text.
            tags: False to leave out all tags except for marks.
        """
        found = ["<speak>"]
        for part in self.parts:
            match part:
                case Text(text):
                    found.append(written(text))
                case Mark(name):
                    found.append(f"<mark name={_quoted(name)}/>")
                case Tag(tag) if tags:
                    found.append(tag)
        return "".join([*found, "</speak>"])

    def after(self, reached: int) -> SpokenText:
        """The rest from the last of so many marks on, without tags; the whole if none was reached."""
        begins = [0, *(place for place, part in enumerate(self.parts, 1) if isinstance(part, Mark))]
        rest = self.parts[begins[reached] :] if reached < len(begins) else ()
        return SpokenText(tuple(part for part in rest if not isinstance(part, Tag)))

    def plain(self) -> tuple[str, list[tuple[int, str]]]:
        """The text with single spaces, and each mark with the number of characters before it."""
        text = ""
        marks: list[tuple[int, str]] = []
        for part in self.parts:
            if isinstance(part, Text):
                stretch = re.sub(r"\s+", " ", part.text)
                text += stretch if text and text[-1] != " " else stretch.lstrip(" ")
            elif isinstance(part, Mark):
                marks.append((len(text), part.name))
        return text, marks


def words_in(text: str) -> int:
    """Number of words that can be heard."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def _quoted(value: str) -> str:
    """An attribute's value. `xml.sax.saxutils` would import half of the standard library's HTTP."""
    return f'"{html.escape(value)}"'


def marked_up(text: str) -> str:
    """A stretch of text as SSML has it."""
    return html.escape(text, quote=False)


def spelled(text: str) -> str:
    """A stretch of text as SSML that spells it."""
    if not text.strip():
        return text
    return f'<say-as interpret-as="characters">{html.escape(text, quote=False)}</say-as>'


def _parsed(ssml: str) -> Iterator[Part]:
    parts: list[Part] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "mark":
            parts.append(Mark(attributes.get("name", "")))
        elif name != "speak":
            written = "".join(f" {key}={_quoted(value)}" for key, value in attributes.items())
            parts.append(Tag(f"<{name}{written}>"))

    def end(name: str) -> None:
        if name not in ("mark", "speak"):
            parts.append(Tag(f"</{name}>"))

    def refuse(*_: object) -> None:
        raise expat.ExpatError("a document type isn't read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: parts.append(Text(text))
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(ssml.encode("utf-8", "replace"), True)
    yield from parts


def _salvaged(ssml: str) -> Iterator[Part]:
    end = 0
    for tag in _TAG.finditer(ssml):
        yield Text(html.unescape(ssml[end : tag.start()]))
        if mark := _MARK.fullmatch(tag[0]):
            yield Mark(html.unescape(mark[1]))
        end = tag.end()
    yield Text(html.unescape(ssml[end:]))
