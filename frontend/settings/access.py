"""Right to use the server: of web pages, by their origin and the host they address, and of clients with an API key.

An origin is RFC 6454's: scheme, host and port. The host name is the guard against DNS rebinding: a web page whose own
name is made to point at 127.0.0.1 has the same origin as this server to its browser, but can't change the `Host` that
the browser sends, the page's own name. Keys are from the settings, and from a file that is read again after a change.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import re
import stat
from collections.abc import Iterable
from pathlib import Path

LOCAL_NAMES = frozenset({"localhost", "host.docker.internal", "host.containers.internal"})
"""Names that nobody can point elsewhere: RFC 6761's, and those by which containers reach their host's loopback
(`.internal` is reserved, so no page can have such a name)."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:\[\]/@?#*,]+)(?::[0-9]{0,5})?")

_LOCAL = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@,*]+")

ANY = "*"

OWN_EXTENSION = "bmabaepnciiddgjdgemnefgkdbpcdidk"
"""Chromium's id of `clients/browser`: the hash of the `key` in its manifest, so that no other extension has it. Firefox
draws a random one for each profile."""


class Hosts:
    """The allowed host names, each without its port."""

    def __init__(self, allowed: Iterable[str]) -> None:
        """
        Raises:
            ValueError: something that is no name.
        """
        self._allowed = frozenset(_named(name) for name in allowed)

    def admits(self, host: str | None, *, at_loopback: bool) -> bool:
        """True for a request whose `Host` header names this server.

        A request at a loopback address must name one of `LOCAL_NAMES`, a loopback address or an allowed name. At other
        addresses, where the machine's names aren't known, any name is admitted, unless some are allowed: then only
        those, and addresses, which no page has as its name. No browser leaves the header out.
        """
        if host is None:
            return True
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match["name"].strip("[]").removesuffix(".")
        if name in self._allowed or name in LOCAL_NAMES or name.endswith(".localhost"):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return not at_loopback and not self._allowed
        return not at_loopback or address.is_loopback


def _named(name: str) -> str:
    match = _HOST.fullmatch(name.lower())
    if match is None or match["name"] != name.lower():
        raise ValueError(f"allowed_hosts: {name!r} is no host; give names without a port, such as tts.example.com")
    return match["name"].strip("[]").removesuffix(".")


class Origins:
    """Allowed origins: pages of this machine and our own extension always, others as configured."""

    def __init__(self, configured: Iterable[str]) -> None:
        """
        Raises:
            ValueError: something that is no origin.
        """
        self._configured = frozenset(map(_origin, configured))

    def shares(self, origin: str) -> bool:
        """True if pages of that origin may read the server's answers."""
        origin = origin.lower()
        ours = origin == f"chrome-extension://{OWN_EXTENSION}" or _LOCAL.fullmatch(origin) is not None
        return ours or ANY in self._configured or origin in self._configured

    def trusts(self, origin: str, host: str | None) -> bool:
        """True if pages of that origin may use the server: shared origins, and the server's own, by its `Host`
        header."""
        return self.shares(origin) or bool(host and origin.lower().partition("://")[2] == host.lower())


def _origin(text: str) -> str:
    text = text.lower()
    if text in (ANY, "null") or _ORIGIN.fullmatch(text):
        return text
    raise ValueError(
        f"cors_origins: {text!r} is no origin; give scheme and host, such as https://example.com or http://box:3000, "
        "null for pages without one, or * for all."
    )


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
