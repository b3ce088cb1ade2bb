"""Lexicon file, read again after each change, and kept in memory if it disappears."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from text.lexicon.entry import Problem, read_entries
from text.lexicon.lexicon import Lexicon

_log = logging.getLogger(__name__)

_REPORTED = 10
"""Most invalid lines of one reading that are logged one by one."""

_Signature = tuple[int, int, int]
"""Version of a file: modification time in nanoseconds, size in bytes, inode."""


class LexiconFile:
    """Lexicon that follows its file. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """Read the file. A file that can't be read gives an empty lexicon and a warning, until it can be read."""
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
                    _log.warning("the lexicon %s can't be read (%s): %s", self.path, error.strerror, kept)
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
