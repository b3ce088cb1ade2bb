"""Texts that are being answered: recorded for the supervisor, and refused if they have killed fronts before.

The G2P, the codecs and the text's other libraries are native code that runs in this process. A text that crashes one
of them takes every listener's connection with it, and its client will try again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from frontend.contract.errors import ApiError
from shm.in_flight import Board, DeathCause, TextInFlight, digest_of
from shm.messages import Cleared, ControlMessage, Suspects

current: ContextVar[TextInFlight] = ContextVar("text_in_flight", default=TextInFlight())  # noqa: B039 - records nothing
"""The text of the request that is being handled. Code that works on it in a thread of its own says so by `working`."""


class InFlight:
    """The front's texts. Without a board nothing is recorded."""

    def __init__(self, tell: Callable[[ControlMessage], None] = lambda _: None) -> None:
        """`tell` sends a control message to the supervisor."""
        self._tell = tell
        self._board: Board | None = None
        self._suspects = Suspects()

    def record_on(self, board: Board) -> None:
        """The supervisor has given this front its board."""
        self._board = board

    def heed(self, suspects: Suspects) -> None:
        """The supervisor says which texts are under suspicion."""
        self._suspects = suspects

    @property
    def cause(self) -> DeathCause:
        """The cause of which the last front may have died."""
        return self._suspects.cause

    def enter(self, text: str) -> TextInFlight:
        """Record the text until `TextInFlight.leave`.

        Raises:
            ApiError: 400, fronts have died of this text, and it isn't tried again for a while.
        """
        digest = digest_of(text)
        left = self._suspects.refused.get(digest, 0.0) - time.monotonic()
        if left > 0:
            message = (
                "This text has ended the server's process each time that it was tried. "
                f"It is not tried again for {math.ceil(left / 60)} minutes."
            )
            retry = {"Retry-After": str(math.ceil(left))}
            raise ApiError(400, message, param="input", code="text_refused", headers=retry)
        return self._board.enter(digest) if self._board else TextInFlight()

    def clear(self, text: str) -> None:
        """Note that the text was answered: the supervisor suspects it no more."""
        digest = digest_of(text)
        if digest in self._suspects.suspected or digest in self._suspects.refused:
            self._tell(Cleared(digest))

    @contextmanager
    def answering(self, text: str) -> Iterator[None]:
        """Around the handling of a request with that text, from its first look at the text to the answer's end.

        Raises:
            ApiError: 400, fronts have died of this text, and it isn't tried again for a while.
        """
        entry = self.enter(text)
        token = current.set(entry)
        try:
            yield
            self.clear(text)
        finally:
            current.reset(token)
            entry.leave()
