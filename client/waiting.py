"""Waits for a server that says when it is to be asked again, so that nobody who can wait is told to try later."""

from __future__ import annotations

import math
from collections.abc import Callable

from client.answers import RequestRefused

MOST = 3600.0
"""Most seconds to wait for a server that serves others first."""

STARTING = 60.0
"""Most seconds to wait for a server that can't speak yet: loading an engine takes a few, fetching a model the rest."""


class Waiting:
    """The waits of one request."""

    def __init__(self, tell: Callable[[str], None], most: float = MOST) -> None:
        """
        Args:
            tell: called with the reason for waiting, for people; with an empty text once the request is answered.
            most: seconds of all waits together.
        """
        self._tell = tell
        self._most = most
        self._waited = 0.0
        self._told = ""

    def seconds(self, error: RequestRefused) -> float:
        """Seconds to wait before the same request is made again.

        Raises:
            RequestRefused: the given error: the request can't succeed later, or all has been waited already.
        """
        most = self._most if error.status == 429 else min(self._most, STARTING)
        if error.later is None or self._waited + error.later > most:
            raise error
        self._waited += error.later
        why = "" if error.status == 429 else f": {error}"
        self._say(f"waiting for the server, {math.ceil(error.later)} s{why}")
        return error.later

    def over(self) -> None:
        """Say that the request is answered, if it was waited for."""
        self._say("")

    def _say(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._tell(reason)


def silent(_reason: str) -> None:
    """Tell nobody."""
