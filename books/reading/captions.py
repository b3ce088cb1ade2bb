"""Reading of captions (SRT and WebVTT): what is said in them, in paragraphs where nobody speaks for a while."""

from __future__ import annotations

import re
from html import unescape

from books.book import BlockKind, Book, TextBlock
from books.reading.chapters import by_divisions
from books.reading.decoding import decode

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
