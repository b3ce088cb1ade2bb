"""Reader of a lexicon's lines: a word, its pronunciation, and an optional language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from text.espeak.ipa import UnknownSymbols, from_ipa
from text.words.language import DEFAULT, UnknownLanguage, language_code
from text.words.punctuation import speakable
from text.words.sanitize import sanitize

_IPA = re.compile(r"/(?P<ipa>[^/]+)/")
MAX_CHARACTERS = 200
"""Most characters of a word, and of its pronunciation."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Pronunciation of a word, as IPA or as a respelling."""

    word: str
    ipa: str | None
    """IPA of the word; None if the entry has a respelling."""
    respelling: str | None
    language: str | None
    """Language code, or its part before the hyphen if the entry is for all regions; None if it is for all languages."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Invalid line of a lexicon, which is ignored."""

    line: int
    reason: str


class _Bad(ValueError):
    """Error in a line; its message is the reason."""


def read_entries(content: bytes) -> tuple[list[Entry], list[Problem]]:
    """Entries and invalid lines of a file, in order. The file is UTF-8; blank lines and lines that begin with # are
    comments.
    """
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
        from_ipa(match["ipa"], language_code(language) if language else DEFAULT)
    except UnknownSymbols as error:
        raise _Bad(str(error).removesuffix(".")) from error
    return Entry(word, match["ipa"], None, language)


def _language(tag: str) -> str:
    try:
        code = language_code(tag)
    except UnknownLanguage as error:
        raise _Bad(str(error)) from error
    return code if "-" in tag or "_" in tag or len(tag) == 1 else code.partition("-")[0]
