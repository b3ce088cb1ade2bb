"""The client's identity by its API key: set by the gate, read by handlers."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

API_KEY = web.RequestKey("API_KEY", str)
"""`request.get(API_KEY, "")`: the digest of the request's key, in hex; absent where no key was needed or sent."""


class DueKey:
    """The key that a socket's first message must have."""

    def __init__(self, matches: Callable[[str], bool]) -> None:
        self.matches = matches
        """Tells if a key is one of the server's."""


KEY_DUE = web.RequestKey("KEY_DUE", DueKey)
"""`request.get(KEY_DUE)`: present on a socket that was opened without a key."""
