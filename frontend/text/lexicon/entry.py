"""Reads a lexicon's lines: a word, how it is said, and the language that this is for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from frontend.text.ipa import UnknownSymbols, from_ipa
from frontend.text.language import DEFAULT, UnknownLanguage, language_of
from frontend.text.sanitize import sanitize
from frontend.text.speakable import speakable

_IPA = re.compile(r"/(?P<ipa>[^/]+)/")
MAX_CHARACTERS = 200
"""Of a word, and of what is said for it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a word is said."""

    word: str
    ipa: str | None
    """None: it is respelled."""
    respelling: str | None
    language: str | None
    """A code, or the part of it before the hyphen where any region will do; None: in every language."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that is left out."""

    line: int
    reason: str


class _Bad(ValueError):
    """What is wrong with a line."""


def read_entries(content: bytes) -> tuple[list[Entry], list[Problem]]:
    """A file's entries and its bad lines, in order. UTF-8; blank lines and those that begin with # say nothing."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            if entry := _entry(line):
                entries.append(entry)
        except _Bad as bad:
            problems.append(Problem(number, str(bad)))
    return entries, problems


def _entry(line: bytes) -> Entry | None:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise _Bad(f"it isn't UTF-8 (byte {error.start})") from error
    if not text.strip() or text.lstrip().startswith("#"):
        return None
    word, *columns = map(sanitize, text.split("\t"))
    if not 1 <= len(columns) <= 2:
        raise _Bad("put a tab between the word and how it is said, and another before a language if it names one")
    if " " in word or not speakable(word):
        raise _Bad(f"{word[:40]!r} is no single word")
    said = columns[0]
    if not speakable(said):
        raise _Bad(f"nothing is said for {word[:40]!r}")
    if max(len(word), len(said)) > MAX_CHARACTERS:
        raise _Bad(f"it is longer than {MAX_CHARACTERS} characters")
    language = _language(columns[1]) if len(columns) == 2 and columns[1] else None
    if (match := _IPA.fullmatch(said)) is None:
        return Entry(word, None, said, language)
    try:
        from_ipa(match["ipa"], language_of((), language) if language else DEFAULT)
    except UnknownSymbols as error:
        raise _Bad(str(error).removesuffix(".")) from error
    return Entry(word, match["ipa"], None, language)


def _language(tag: str) -> str:
    try:
        code = language_of((), tag)
    except UnknownLanguage as error:
        raise _Bad(str(error)) from error
    return code if "-" in tag or "_" in tag or len(tag) == 1 else code.partition("-")[0]
