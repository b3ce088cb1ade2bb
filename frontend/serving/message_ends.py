"""Ends of messages in the bytes of a WebSocket (RFC 6455, section 5.2)."""

from __future__ import annotations

from collections import deque

_FINAL, _MASKED = 0x80, 0x80
_CONTROL, _CLOSE = 0x08, 0x08
_MASK_BYTES = 4
_LENGTH_BYTES = {126: 2, 127: 8}
"""Bytes of a frame's length, where it doesn't fit into the second byte."""


class MessageEnds:
    """Follows the frames of one side. All places are bytes from the first one that was fed."""

    def __init__(self) -> None:
        self.whole = 0
        """The end of the last whole frame, before a close frame."""
        self.waiting = deque[int]()
        """The ends of the messages that nobody has taken yet."""
        self._rest = bytearray()
        """Bytes after the last whole frame."""

    def feed(self, data: bytes) -> None:
        """Take more bytes."""
        self._rest += data
        while (length := self._first_frame()) <= len(self._rest):
            first = self._rest[0]
            if first & 0x0F == _CLOSE:
                return
            self.whole += length
            if first & _FINAL and not first & _CONTROL:
                self.waiting.append(self.whole)
            del self._rest[:length]

    def take(self) -> int:
        """The end of the next message, which is followed now."""
        return self.waiting.popleft()

    def _first_frame(self) -> int:
        """The length of the next frame; more than has come if its head isn't there whole."""
        size = 2
        if len(self._rest) < size:
            return size
        length = self._rest[1] & ~_MASKED
        if more := _LENGTH_BYTES.get(length, 0):
            length, size = int.from_bytes(self._rest[2 : 2 + more], "big"), 2 + more
        return size + length + (_MASK_BYTES if self._rest[1] & _MASKED else 0)
