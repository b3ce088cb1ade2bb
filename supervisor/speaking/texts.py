"""The text that a command line gives: words, a file's name, or standard input."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from client.answers import CannotSpeak
from client.play import NOTHING

_BOOKS = (".epub", ".pdf")
_DOCUMENTS = (".html", ".htm", ".xhtml", ".docx", ".odt", ".srt", ".vtt")
_OF_TEXT = (*_DOCUMENTS, ".txt", ".md", ".markdown", ".rst", ".log", ".csv", ".json")
"""Endings by which a word is meant as a file."""


def is_input(words: tuple[str, ...]) -> bool:
    """True if the words of a command line mean standard input."""
    return words in ((), ("-",))


def pieces_of_input() -> Iterator[str]:
    """The text of standard input as it comes.

    Raises:
        CannotSpeak: it isn't UTF-8.
    """
    if sys.stdin.isatty():
        print("Type the text, and end it with Ctrl-D.", file=sys.stderr)
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    # A buffer's lock, held by a thread that waits for more, would abort the process at its end.
    source = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    try:
        while piece := source.read(1 << 16):
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeError as error:
        raise _no_utf8(error) from error


def _no_utf8(error: UnicodeError) -> CannotSpeak:
    return CannotSpeak(f"The text isn't UTF-8: {error}.")


def text_of(words: tuple[str, ...]) -> tuple[str, str]:
    """The text to speak, and its title: a file's name, or nothing.

    Args:
        words: of the command line (`is_input`).

    Raises:
        CannotSpeak: there is no text. The message says what to type instead.
    """
    title = ""
    try:
        if is_input(words):
            text = "".join(pieces_of_input())
        elif len(words) == 1 and _is_named(words[0]):
            text, title = _read(Path(words[0])), Path(words[0]).name
        elif len(words) > 1 and all(_is_named(word) and word.lower().endswith(_OF_TEXT) for word in words):
            raise CannotSpeak(f"One file at a time, or all as one text: cat {shlex.join(words)} | kokoro-live say")
        elif len(words) == 1 and (told := web_address(words[0])):
            raise CannotSpeak(told)
        else:
            text = " ".join(words)
            text.encode()  # bytes of the command line that aren't UTF-8 arrive as lone surrogates
    except UnicodeError as error:
        raise _no_utf8(error) from error
    if not text.strip():
        raise CannotSpeak(NOTHING)
    return text, title


_SELECTIONS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--primary", "--no-newline")),
    ("DISPLAY", ("xclip", "-out", "-selection", "primary")),
    ("DISPLAY", ("xsel", "--output", "--primary")),
)
"""Commands that write the text that is marked in a window, each with the variable of the desktops that it is for."""


def selection() -> str:
    """The text that is marked in any window of this desktop.

    Raises:
        CannotSpeak: nothing is marked, or no command here can tell.
    """
    displays = [(display, command) for display, command in _SELECTIONS if os.environ.get(display)]
    there = [command for _, command in displays if shutil.which(command[0])]
    if not there:
        wanted = {"WAYLAND_DISPLAY": "wl-clipboard", "DISPLAY": "xclip"}.get(next(iter(displays), ("",))[0])
        none = {"darwin": "macOS gives marked text to its services alone: docs/player.md has one."}
        raise CannotSpeak(
            f"Marked text is read by {wanted}: install that package."
            if wanted
            else none.get(sys.platform, "There is no desktop.")
        )
    for command in there:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            found = subprocess.run(command, capture_output=True, timeout=_LONGEST_ANSWER, check=False).stdout
            if text := found.decode(errors="replace").strip():
                return text
    raise CannotSpeak("No text is marked: mark some in any window first.")


_LONGEST_ANSWER = 5.0
"""Seconds for the program in whose window the text is marked."""


def web_address(word: str) -> str:
    """Advice about a word that is the address of a web page; empty for any other."""
    if not re.fullmatch(r"(?:https?|file)://\S+", word, re.IGNORECASE):
        return ""
    return f"{word} is an address: save what is there and name its file, or open it on the server's page."


def _is_named(word: str) -> bool:
    """True if the word names a file, there or not."""
    with contextlib.suppress(OSError, ValueError):  # too long for a name, or a NUL
        if word and Path(word).exists():
            return True
    path = word.startswith(("/", "./", "../", "~/")) or word.lower().endswith((*_OF_TEXT, *_BOOKS))
    return path and not any(map(str.isspace, word))


def _read(file: Path) -> str:
    if file.is_dir():
        raise CannotSpeak(f"{file} is a folder: name a file in it.")
    if file.suffix.lower() in _BOOKS and file.exists():
        raise CannotSpeak(f"{file} is a book: `kokoro-live book {file}` makes an audiobook of it.")
    try:
        data = file.read_bytes()
        if file.suffix.lower() in _DOCUMENTS:
            return _text_of_document(data, file)
        if b"\0" in data[:4096] and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise CannotSpeak(f"{file} is no text. Read are texts, and {', '.join(_DOCUMENTS)}.")
        try:
            return data.decode("utf-8-sig")
        except UnicodeError:
            from books.reading.decoding import decode

            return decode(data)
    except FileNotFoundError:
        raise CannotSpeak(f"There is no file {file}. To speak its name: echo '{file}' | kokoro-live say") from None
    except OSError as error:
        raise CannotSpeak(f"{file} can't be read: {error.strerror}.") from error


def _text_of_document(data: bytes, file: Path) -> str:
    """The text of a document that is to be read, as a book of it would have it."""
    from books.book import BookError
    from books.reading.open import read_book

    try:
        chapters = read_book(data, file.name).body
    except BookError as error:
        raise CannotSpeak(f"{file}: {error}") from error
    return "\n\n".join(block.text for chapter in chapters for block in chapter.blocks if block.text)
