"""Look-up of words whose pronunciation the user has given, in a file that is read again after each change.

A line has a word, /IPA/ or other words, a language and a part of speech (may be left out), with tabs between.
Lines of the CMU dictionary and documents of PLS become such lines.
"""

from __future__ import annotations

import logging
import operator
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from shm.atomic import alone_with, read_users_file, write_users_file
from text.espeak.ipa import UnknownSymbols, from_ipa
from text.lexicon_formats import ALTERNATE, PARTS, NoLexicon, from_cmu, from_pls, is_pls
from text.words.language import DEFAULT, UnknownLanguage, language_code
from text.words.punctuation import APOSTROPHES, MARKS, speakable
from text.words.sanitize import sanitize

_log = logging.getLogger(__name__)

_MAX_EDGE = 4
"""Most signs at either edge of a token that are ignored in its look-up."""

_EDGES = frozenset(MARKS) | frozenset(APOSTROPHES) | frozenset('"*_~`')
"""Punctuation and Markdown's signs, which don't change a word; signs that do ($, #, -) belong to the word."""

_JOINED = re.compile(r"[^—–,;:…-]+(?:-[^—–,;:…-]+)*")
"""Word between signs that stand without a space: noon—Kowalczyk, but not well-known."""


@dataclass(frozen=True, slots=True)
class LexiconMatch:
    """Lexicon word within a token, with its span in characters."""

    start: int
    end: int
    phonemes: str | None
    """Phonemes of misaki's alphabet; None if the word is respelled."""
    respelling: str | None


class Lexicon:
    """Lexicon that finds words as they are written, else in lower case. Later entries replace earlier ones, and entries
    that name the language precede those that don't.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = {(entry.language, entry.word, entry.part): entry for entry in entries}
        self.by_part = frozenset(word for _, word, part in self._entries if part)
        """Words of which an entry is for one part of speech alone."""
        self._phonemes: dict[tuple[str, str], str | None] = {}
        self._longest: int | None = None
        """Length of the longest word, in characters; None until `inside` needs it."""

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries.values())

    def with_entries(self, entries: Iterable[Entry]) -> Lexicon:
        """This lexicon with other entries, which replace its own."""
        return Lexicon((*self.entries, *entries))

    def find(self, token: str, language: str, part: str | None = None) -> LexiconMatch | None:
        """Entry for a token as this part of speech, else as any. Signs at the token's edges are ignored, except those
        that the entry has itself ("C++", ".NET").

        The result is None if no entry matches, or if the language's voices can't say its IPA.
        """
        if not self._entries or len(token) > MAX_CHARACTERS + 2 * _MAX_EDGE:
            return None
        for start, end in _cores(token):
            if said := self._said_entry(token[start:end], language, part):
                return LexiconMatch(start, end, *said)
        return None

    def of_word(self, word: str, language: str) -> Iterator[tuple[Entry, LexiconMatch]]:
        """Entries for a word as it is written, for any part of speech first, that the language's voices can say."""
        found = (self._entry(word, language, part) for part in (None, *PARTS))
        for entry in dict.fromkeys(filter(None, found)):
            if said := self._said_entry(word, language, entry.part):
                yield entry, LexiconMatch(0, len(word), *said)

    def joined(self, token: str, language: str) -> list[LexiconMatch]:
        """Entries for words of a token that signs join without a space, from left to right."""
        pieces = list(_JOINED.finditer(token))
        found = [(piece.start(), self.find(piece[0], language)) for piece in pieces] if len(pieces) > 1 else []
        return [replace(each, start=place + each.start, end=place + each.end) for place, each in found if each]

    def inside(self, token: str, language: str) -> list[LexiconMatch]:
        """Entries for parts of a token of a language without spaces, from left to right, without overlaps, the longest
        entry at each place.
        """
        longest = self._length_of_longest()
        found: list[LexiconMatch] = []
        place = 0
        while place < len(token):
            for length in range(min(longest, len(token) - place), 0, -1):
                if entry := self._said_entry(token[place : place + length], language):
                    found.append(LexiconMatch(place, place + length, *entry))
                    place += length - 1
                    break
            place += 1
        return found

    def begun_in(self, text: str) -> int:
        """Number of characters of a text without white space before the first with which an entry may begin that ends
        after the text."""
        for place in range(max(len(text) - self._length_of_longest(), -1) + 1, len(text)):
            if any(word.startswith(text[place:]) and word != text[place:] for _, word, _ in self._entries):
                return place
        return len(text)

    def _length_of_longest(self) -> int:
        if self._longest is None:
            self._longest = max((len(word) for _, word, _ in self._entries), default=0)
        return self._longest

    def _said_entry(self, word: str, language: str, part: str | None = None) -> tuple[str | None, str | None] | None:
        """Phonemes or respelling of a word; None if no entry matches or the language's voices can't say its IPA."""
        entry = self._entry(word, language, part)
        if entry is None:
            return None
        if entry.ipa is None:
            return None, entry.respelling
        phonemes = self._said(entry.ipa, language)
        return None if phonemes is None else (phonemes, None)

    def _entry(self, word: str, language: str, part: str | None) -> Entry | None:
        for written in dict.fromkeys((word, word.lower())):
            for code in (language, language.partition("-")[0], None):
                for of in dict.fromkeys((part, None)):
                    if (entry := self._entries.get((code, written, of))) is not None:
                        return entry
        return None

    def _said(self, ipa: str, language: str) -> str | None:
        key = ipa, language
        if key not in self._phonemes:
            try:
                self._phonemes[key] = from_ipa(ipa, language)
            except UnknownSymbols as error:
                _log.warning("the lexicon's entry isn't used in %s: %s", language, error)
                self._phonemes[key] = None
        return self._phonemes[key]


NO_LEXICON = Lexicon()


def _cores(token: str) -> Iterator[tuple[int, int]]:
    """Spans of a token with and without the signs at its edges, the longest first."""
    first = next((place for place, character in enumerate(token) if character not in _EDGES), len(token))
    last = next((place for place in range(len(token), 0, -1) if token[place - 1] not in _EDGES), 0)
    starts = range(first + 1) if first <= _MAX_EDGE else (0, first)
    ends = range(len(token), last - 1, -1) if len(token) - last <= _MAX_EDGE else (len(token), last)
    pairs = ((start, end) for start in starts for end in ends if start < end)
    yield from sorted(pairs, key=lambda core: core[0] - core[1])


_REPORTED = 10
"""Most invalid lines of one reading that are logged one by one."""

_Signature = tuple[int, int, int]
"""Version of a file: modification time in nanoseconds, size in bytes, inode."""


class NotKept(ValueError):
    """Error for a pronunciation that no lexicon takes; its message is the reason."""


def word_of(text: str) -> str:
    """A single word, sanitised.

    Raises:
        NotKept: it is none, or too long.
    """
    word = sanitize(text)
    if len(word.split()) != 1 or not speakable(word):
        raise NotKept("it is no single word")
    if len(word) > MAX_CHARACTERS:
        raise NotKept(f"it is longer than {MAX_CHARACTERS} characters")
    return word


def entry_of(word: str, said: str, language: str = "", part: str | None = None) -> Entry:
    """An entry as a line has it; arguments and errors as of `keep`."""
    if part and not language.startswith("en"):
        raise NotKept("only English words are told by their part of speech")
    line = "\t".join(" ".join(column.split()) for column in (word, said, language, part or "")).encode()
    try:
        entry = None if is_pls(line) else _entry(line)
    except _Bad as bad:
        raise NotKept(str(bad)) from bad
    if entry is None:
        raise NotKept("a line that begins with #, ;;; or <lexicon is no entry")
    return entry


def keep(path: Path, word: str, said: str, language: str, part: str | None = None, most: int | None = None) -> None:
    """Add a pronunciation to a file, which is made if it isn't there, in the place of the word's own.

    Args:
        said: IPA between slashes, or other words.
        part: one of `PARTS`, if it is said so as this part of speech alone.
        most: lines that the file may have.

    Raises:
        NotKept: the word is no single word, its sounds are unknown, the file is full, or of another form.
        OSError: the file can't be written.
    """
    entry = entry_of(word, said, language, part)
    _rewrite(path, entry, line_of(entry) + "\n", most)


def take_back(path: Path, entry: Entry) -> None:
    """Take a pronunciation out of a file; errors as of `keep`."""
    _rewrite(path, entry)


def _rewrite(path: Path, entry: Entry, line: str = "", most: int | None = None) -> None:
    """Put a line in the place of those of the same word, language and part of speech."""
    with alone_with(path):
        content = read_users_file(path)
        if is_pls(content.encode("utf-8", "surrogateescape")):
            raise NotKept("the lexicon is a document of PLS, which only its own program changes")
        lines = [each for each in re.findall(r".*\n|.+", content) if not _is_of(each, entry)]
        if most is not None and len(lines) >= most:
            raise NotKept(f"the lexicon has {len(lines)} lines, and no more than {most}")
        joint = "\n" if line and lines and not lines[-1].endswith("\n") else ""
        write_users_file(path, "".join(lines) + joint + line)


def _is_of(line: str, entry: Entry) -> bool:
    """True if a line gives the same word in the same language as the same part of speech."""
    if entry.word.lower() not in line.lower():
        return False
    found, _ = read_entries(line.encode("utf-8", "surrogateescape"))
    same = operator.attrgetter("word", "language", "part")
    return any(same(each) == same(entry) for each in found)


class LexiconFile:
    """Lexicon that follows its file. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """Read the file. A file that isn't there gives an empty lexicon, one that can't be read a warning too, until it
        can."""
        self.path = path
        self.problems: tuple[Problem, ...] = ()
        """Invalid lines of the last reading."""
        self._lexicon = Lexicon()
        self._signature: _Signature | None = None
        self._missing = False
        self._lock = threading.Lock()
        self.current()

    def current(self) -> Lexicon:
        """Current lexicon; a call takes one `stat` (some microseconds), and reads the file if it has changed."""
        with self._lock:
            try:
                found = self.path.stat()
                signature = found.st_mtime_ns, found.st_size, found.st_ino
                if signature != self._signature or self._missing:
                    self._read(self.path.read_bytes())
                    # A write after `stat` changes the signature again, so the next call reads it.
                    self._signature = signature
                self._missing = False
            except OSError as error:
                if not self._missing:
                    kept = f"its last {len(self._lexicon)} entries are kept" if self._signature else "it is empty"
                    absent = isinstance(error, FileNotFoundError) and not self._signature  # nothing was kept yet
                    level = logging.DEBUG if absent else logging.WARNING
                    _log.log(level, "the lexicon %s can't be read (%s): %s", self.path, error.strerror, kept)
                self._missing = True
            return self._lexicon

    def _read(self, content: bytes) -> None:
        entries, problems = read_entries(content)
        self._lexicon = Lexicon(entries)
        self.problems = tuple(problems)
        _log.info("the lexicon %s has %d words", self.path, len(self._lexicon))
        for problem in problems[:_REPORTED]:
            _log.warning("%s, line %d is left out: %s", self.path, problem.line, problem.reason)
        if len(problems) > _REPORTED:
            _log.warning("%s: %d more lines are left out", self.path, len(problems) - _REPORTED)


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
    part: str | None = None
    """One of `PARTS`; None if it is for all of them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Invalid line of a lexicon, which is ignored."""

    line: int
    reason: str


def line_of(entry: Entry) -> str:
    """The line that gives an entry."""
    said = entry.respelling if entry.ipa is None else f"/{entry.ipa}/"
    return f"{entry.word}\t{said}\t{entry.language or ''}\t{entry.part or ''}".rstrip("\t")


class _Bad(ValueError):
    """Error in a line; its message is the reason."""


def read_entries(content: bytes) -> tuple[list[Entry], list[Problem]]:
    """Entries and invalid lines of a file, in order. The file is UTF-8; blank lines and lines that begin with # or ;;;
    are comments, and alternates in the CMU dictionary, TOMATO(2), left out. The lines of a PLS document are counted by
    graphemes.
    """
    entries: list[Entry] = []
    problems: list[Problem] = []
    content = content.removeprefix(b"\xef\xbb\xbf")
    lines = content.splitlines()
    if is_pls(content):
        try:
            lines = [line.encode() for line in from_pls(content)]
        except NoLexicon as error:
            return [], [Problem(1, str(error))]
    known: set[bytes] = set()
    for number, line in enumerate(lines, 1):
        if (alternate := ALTERNATE.match(line)) and alternate["word"].lower() in known:
            continue
        known.add(line.partition(b" ")[0].lower())
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
    if not text.strip() or text.lstrip().startswith(("#", ";;;")):
        return None
    word, *columns = map(sanitize, from_cmu(text).split("\t"))
    if not 1 <= len(columns) <= 3:
        raise _Bad("put a tab between the word and how it is said, and others before a language and a part of speech")
    if " " in word or not speakable(word):
        raise _Bad(f"{word[:40]!r} is no single word")
    said = columns[0]
    if not speakable(said):
        raise _Bad(f"nothing is said for {word[:40]!r}")
    if max(len(word), len(said)) > MAX_CHARACTERS:
        raise _Bad(f"it is longer than {MAX_CHARACTERS} characters")
    language = _language(columns[1]) if len(columns) > 1 and columns[1] else None
    part = columns[2].lower() if len(columns) > 2 and columns[2] else None
    if part not in (None, *PARTS):
        raise _Bad(f"{part!r} is no part of speech of {', '.join(PARTS)}")
    if (match := _IPA.fullmatch(said)) is None:
        return Entry(word, None, said, language, part)
    try:
        from_ipa(match["ipa"], language_code(language) if language else DEFAULT)
    except UnknownSymbols as error:
        raise _Bad(str(error).removesuffix(".")) from error
    return Entry(word, match["ipa"], None, language, part)


def _language(tag: str) -> str:
    try:
        code = language_code(tag)
    except UnknownLanguage as error:
        raise _Bad(str(error)) from error
    return code if "-" in tag or "_" in tag or len(tag) == 1 else code.partition("-")[0]
