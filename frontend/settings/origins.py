"""The web pages that may use the server, by their origin (RFC 6454: scheme, host and port)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LOCAL = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@,*]+")

ANY = "*"


class Origins:
    """Allowed origins: pages of this machine always, others as configured."""

    def __init__(self, configured: Iterable[str]) -> None:
        """
        Raises:
            ValueError: something that is no origin.
        """
        self._configured = frozenset(map(_origin, configured))

    def shares(self, origin: str) -> bool:
        """True if pages of that origin may read the server's answers."""
        origin = origin.lower()
        return ANY in self._configured or origin in self._configured or _LOCAL.fullmatch(origin) is not None

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
