"""The API keys that open the server: from the settings, and from a file that is read again after each change."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import stat
from collections.abc import Iterable
from pathlib import Path

_KEY = re.compile(r"[!-+\--~]{1,256}")
"""Printable ASCII without spaces and commas: the characters that a header, a variable's list and a line of a file can
all carry."""

log = logging.getLogger(__name__)


class BadKey(ValueError):
    """The keys are unusable as they are. The message names the place, and never the key itself."""


class NoKey(BadKey):
    """The file was read, but it contains no key."""


def checked(keys: Iterable[str]) -> tuple[str, ...]:
    """The keys, unchanged.

    Raises:
        BadKey: one that no client could send.
    """
    found = tuple(keys)
    for number, key in enumerate(found, 1):
        if not _KEY.fullmatch(key):
            raise BadKey(f"key {number} must be 1 to 256 printable ASCII characters without spaces and commas")
    return found


def read_keys(file: Path) -> tuple[str, ...]:
    """The file's keys, one a line; empty lines and those that begin with `#` don't count.

    Raises:
        NoKey: the file has none.
        BadKey: the file can't be read, or has a key that no client could send.
    """
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadKey(f"api_key_file {file} can't be read: {reason}") from error
    try:
        keys = checked(line for line in lines if line and not line.startswith("#"))
    except BadKey as error:
        raise BadKey(f"api_key_file {file}: {error}") from error
    if not keys:
        raise NoKey(f"api_key_file {file} has no key in it: write one a line")
    return keys


class ApiKeys:
    """Checks keys in constant time: each check compares the digests of all keys, whichever matches."""

    def __init__(self, keys: Iterable[str], file: Path | None, own: str = "") -> None:
        """`own`: a key that the server has given to a process of its own; it is no reason to demand keys."""
        self.own = _digest(own) if own else None
        self._given = [_digest(key) for key in keys]
        self._file = file
        self._filed: list[bytes] = []
        self._version: object = None
        """The file's state when it was last read, or the reason why it couldn't be read."""

    @property
    def demanded(self) -> bool:
        """True if clients need a key. An emptied file revokes its keys, and then admits nobody rather than
        everybody."""
        return bool(self._given) or self._file is not None

    def match(self, offered: str) -> bytes | None:
        """The digest of the offered key if it is valid, else None."""
        digest = _digest(offered)
        found = False
        for known in (*self._given, *self._from_file(), *([self.own] if self.own else ())):
            found |= hmac.compare_digest(digest, known)
        return digest if found else None

    def _from_file(self) -> list[bytes]:
        """The file's digests. Checks the file at each request: one system call, no thread, no timer."""
        if self._file is None:
            return []
        try:
            found = self._file.stat()
        except OSError as error:
            self._changed(error.strerror, f"api_key_file {self._file} can't be read: {error.strerror}")
            return self._filed
        version = (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode)
        if version != self._version:
            try:
                keys = read_keys(self._file)
            except NoKey as error:
                self._version, self._filed = version, []
                log.error("%s; its keys are revoked", error)
                return self._filed
            except BadKey as error:
                self._changed(version, str(error))
                return self._filed
            self._version = version
            self._filed = [_digest(key) for key in keys]
            log.info("%d API keys were read from %s", len(keys), self._file)
            if found.st_mode & stat.S_IROTH:
                log.warning("every user of this machine can read %s: chmod 600 it", self._file)
        return self._filed

    def _changed(self, version: object, complaint: str) -> None:
        if version != self._version:
            self._version = version
            log.error("%s; the keys are as they were", complaint)


def _digest(key: str) -> bytes:
    """SHA-256, so that all digests have one length, and no key is held in memory as plain text."""
    return hashlib.sha256(key.encode(errors="surrogateescape")).digest()
