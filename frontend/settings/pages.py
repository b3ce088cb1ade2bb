"""The web pages that may use the server: by their origin (RFC 6454: scheme, host and port), and by the host names under
which they may address it, the guard against DNS rebinding.

A web page whose own name is made to point at 127.0.0.1 has the same origin as this server to its browser. The page
can't change the `Host` that the browser sends: the page's own name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

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
