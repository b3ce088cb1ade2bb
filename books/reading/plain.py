"""Plain text and captions: paragraphs and headings, where a hand, a page's width or a film broke the lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from books.book import BlockKind, Book, TextBlock, language_tag
from books.reading.chapters import by_divisions, heading_divisions
from books.reading.decoding import decode
from books.reading.document import is_ornament

_NUMERAL = (
    r"(?:\d{1,3}|[IVXLC]{1,8}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif)ty(?:[- ]\w+)?)"
)
_NAMED = re.compile(
    rf"(?:chapter|part|book|volume|act|scene|canto|letter|chapitre|partie|livre|capítulo|parte|libro|capitolo|"
    rf"kapitel|teil)\s+(?:the\s+)?"
    rf"(?:{_NUMERAL}|first|second|third|last)\b(?:\s*[.:—–-]?\s*.{{0,80}})?|(?:prologue|epilogue|preface|foreword|"
    rf"introduction|afterword|appendix|"
    r"prólogo|epílogo|prefacio|prologo|epilogo|préface|prologue|épilogue|vorwort|nachwort)(?:\s*[.:—–-]\s*.{0,80})?",
    re.IGNORECASE,
)
_EASTERN = re.compile(r"(?:第\s*[0-9〇零一二三四五六七八九十百千０-９]+\s*[章回节節話部巻卷篇]|अध्याय\s+\S+).{0,40}")
_NUMBER_ALONE = re.compile(r"(?:\d{1,3}|[IVXLC]{1,8})\.?")
_SHORTEST_WRAPPED = 45
"""Characters. Lines whose longest are shorter aren't wrapped text but verse or a list."""
_END = re.compile(r"[.!?:;。！？…\"'”’»)\]]\s*$")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐]\n(?=[^\W\d_A-Z])")


def blocks_of_lines(text: str) -> list[TextBlock]:
    """Blocks of plain text: paragraphs stand between empty lines, or each on a line of its own.

    Lines that a fixed width broke are joined, words that hyphens broke too; verse keeps its lines. A line that stands
    alone is a heading if it says so ("CHAPTER IV", "Prologue"), is a number, or is short and in capitals.
    """
    pieces = [
        piece.strip("\n")
        for piece in re.split(r"\n[ \t]*(?:\n[ \t]*)+|\f", text.replace("\r\n", "\n").replace("\r", "\n"))
    ]
    pieces = [piece for piece in pieces if piece.strip()]
    wrapped = is_wrapped(pieces)
    blocks: list[TextBlock] = []
    for piece in pieces:
        lines = [line.strip() for line in piece.split("\n") if line.strip()]
        if not wrapped and all(len(line) >= _SHORTEST_WRAPPED for line in lines[:-1]):
            groups: list[list[str]] = [[line] for line in lines]
        else:
            groups = [lines]
        blocks += [_block(group) for group in groups]
    return blocks


def is_wrapped(pieces: Sequence[str]) -> bool:
    """True if a fixed width broke the lines of these paragraphs: in those of several lines most lines end without a
    sentence's end."""
    inner = [line for piece in pieces for line in piece.split("\n")[:-1] if line.strip()]
    if not inner:
        return False
    return sum(not _END.search(line) for line in inner) > len(inner) / 2 and max(map(len, inner)) < 120


def join_lines(lines: Sequence[str]) -> str:
    """One paragraph's text from its lines. A hyphen at a line's end goes if a small letter follows: "speak-" and "ing"
    are one word."""
    return " ".join(_HYPHEN.sub("", "\n".join(line.strip() for line in lines)).split())


def heading_level(line: str) -> int:
    """Level of the heading that a line standing alone is, or 0: parts and books 1, chapters 2."""
    line = " ".join(line.split()).strip("_*= ")
    if _NAMED.fullmatch(line):
        return 1 if re.match(r"(?:part|book|volume|partie|livre|parte|libro|teil)\b", line, re.IGNORECASE) else 2
    if _EASTERN.fullmatch(line) or _NUMBER_ALONE.fullmatch(line):
        return 2
    letters = [letter for letter in line if letter.isalpha()]
    capitals = len(letters) >= 4 and len(line) <= 60 and all(letter.isupper() for letter in letters)
    return 2 if capitals and not line.endswith((",", ";", "!", "?", '"', "”")) else 0


def _block(lines: Sequence[str]) -> TextBlock:
    if is_ornament(" ".join(lines)):
        return TextBlock(BlockKind.SCENE_BREAK)
    if len(lines) <= 2 and (level := heading_level(lines[0])):
        return TextBlock(BlockKind.HEADING, "\n".join(line.strip("_*= ") for line in lines), level)
    if len(lines) > 2 and max(map(len, lines)) < _SHORTEST_WRAPPED:
        return TextBlock(BlockKind.VERSE, "\n".join(lines))
    return TextBlock(BlockKind.PARAGRAPH, join_lines(lines))


_GUTENBERG_START = re.compile(
    r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*?\*\*\*", re.IGNORECASE | re.DOTALL
)
_GUTENBERG_END = re.compile(
    r"\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG EBOOK|^End of (?:the )?Project Gutenberg",
    re.IGNORECASE | re.MULTILINE,
)
_FACT = re.compile(r"^(Title|Author|Language):[ \t]*(.+)$", re.MULTILINE)


def read_plain(data: bytes, name: str) -> Book:
    """Read plain text; the licence around a text of Project Gutenberg is left out, and its header gives title and
    author."""
    text = decode(data)
    facts: dict[str, str] = {}
    if start := _GUTENBERG_START.search(text[:20_000]):
        facts = {key: value.strip() for key, value in _FACT.findall(text[: start.start()])}
        text = text[start.end() :]
        if end := _GUTENBERG_END.search(text):
            text = text[: end.start()]
    blocks = blocks_of_lines(text)
    title = facts.get("Title", name)
    language = language_tag(facts.get("Language", ""))
    return Book(title, tuple(by_divisions(blocks, heading_divisions(blocks), title)), facts.get("Author", ""), language)


# Captions (SRT and WebVTT): what is said in them, in paragraphs where nobody speaks for a while.

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMES = re.compile(rf"^[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}.*$", re.MULTILINE)
_FIRST = re.compile(rf"\s*\d+[ \t]*\r?\n[ \t]*{_TIME}[ \t]*-->")
_TAG = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")
_NOISE = re.compile(r"^\s*(?:\[[^\]\n]*\]|\([^)\n]*\)|[♪♫#\s]+)\s*$")
_PAUSE = 2.0
"""Seconds without a caption that end a paragraph."""
_LONGEST = 600
"""Characters after which the next sentence begins a paragraph."""


def is_captions(text: str) -> bool:
    """True if a text's beginning is that of captions."""
    return text.startswith("WEBVTT") or bool(_FIRST.match(text))


def read_captions(data: bytes, name: str) -> Book:
    """Read captions: numbers, times, tags and the names of sounds are left out, sentences over several are joined."""
    text = decode(data).replace("\r\n", "\n")
    found = list(_TIMES.finditer(text))
    paragraphs: list[str] = []
    last = ""
    ended = -_PAUSE
    for place, times in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        said = _said(text[times.end() : end], another=place + 1 < len(found))
        if not said or said == last:
            continue
        last = said
        paused = _seconds(times.groups()[:4]) - ended >= _PAUSE
        ended = _seconds(times.groups()[4:])
        closed = paragraphs and re.search(r"[.!?…。！？][\"'”’»)]*$", paragraphs[-1])
        if not paragraphs or (closed and (paused or len(paragraphs[-1]) > _LONGEST)):
            paragraphs.append(said)
        else:
            paragraphs[-1] += f" {said}"
    blocks = [TextBlock(BlockKind.PARAGRAPH, each) for each in paragraphs]
    return Book(name, tuple(by_divisions(blocks, (), name)))


def _said(cue: str, *, another: bool) -> str:
    """The words of a cue; the number or name of the next one stands at its end."""
    cue = cue.split("\n\n")[0] if "\n\n" in cue.strip("\n") else cue
    lines = [unescape(_TAG.sub("", line)).strip() for line in cue.strip("\n").split("\n")]
    if another and len(lines) > 1 and lines[-1].isdecimal():
        lines.pop()
    return " ".join(line for line in lines if line and not _NOISE.match(line))


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction or 0}")
