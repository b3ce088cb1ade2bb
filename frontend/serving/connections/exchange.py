"""The requests of one connection, one after another: the time for each head, and the side that waits for the other."""

from __future__ import annotations

from typing import Protocol

from frontend.contract.countdown import Countdown


class Peer(Protocol):
    """The connection of an exchange."""

    def idle(self) -> None:
        """Note that the connection waits for its client: for a request, or for the rest of a request's head."""
        ...

    def busy(self) -> None:
        """Note that a request is being answered."""
        ...

    def overdue(self, reason: str) -> None:
        """Note that the connection is closed before its time."""
        ...

    def close(self) -> None:
        """Close the connection in order: written data is still sent."""
        ...


class Exchange:
    """`began` and `ended` are called around each request's handler, which starts when a head is whole.

    A head that isn't whole within `header_timeout` seconds of its first byte closes the connection; the first one's
    time runs from the connection's beginning.
    """

    def __init__(self, peer: Peer, header_timeout: float) -> None:
        self._peer = peer
        self._header_timeout = header_timeout
        self._head = Countdown(self._no_head)
        self._handling = False
        self._resting = False
        """True while the handler waits for its client."""
        self._answering = False
        """True once the present request's response has begun."""

    @property
    def waits(self) -> bool:
        """True while the client is the one to send: a request, the rest of its head, or what the handler waits for."""
        return self._resting or not self._handling

    def expects(self) -> None:
        """Note that the connection was made or that bytes have come: unless they are a handler's, a head begins."""
        if not (self._handling or self._head.running):
            self._head.start(self._header_timeout)
            self._peer.idle()

    def began(self) -> None:
        """Note that a request's head is whole and its handler begins."""
        self._handling = True
        self._answering = False
        self._head.stop()
        self._peer.busy()

    def answers(self) -> None:
        """Note that the request's response has begun."""
        self._answering = True

    def cancelled(self) -> None:
        """Note that the handler was cancelled: by the client's end, or because the server stops (a drain's end)."""
        if self._answering:
            self._peer.overdue("drain")

    def ended(self) -> None:
        """Note that the handler has returned or written its response."""
        self._handling = self._resting = False
        self._peer.idle()

    def rests(self) -> None:
        """Note that the handler waits for its client, who would lose nothing: on its WebSocket, nothing is spoken."""
        self._resting = True
        self._peer.idle()

    def works(self) -> None:
        """Note that the handler rests no more."""
        self._resting = False
        self._peer.busy()

    def close(self) -> None:
        """Stop the time for a head. Idempotent."""
        self._head.stop()

    def _no_head(self) -> None:
        self._peer.overdue("header_timeout")
        self._peer.close()
