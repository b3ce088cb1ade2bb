"""The memory that bodies take while they are read, of all protocols together: HTTP's bodies and Wyoming's events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from frontend.contract.errors import Unavailable

_SOON = 1.0
"""Seconds after which a client that found no room should try again: most bodies arrive at once."""


class BodyMemory:
    """Counts the bytes that the bodies being read have announced. One per front."""

    def __init__(self, most: int) -> None:
        """`most`: bytes that all bodies together may have."""
        self._most = most
        self._announced = 0

    @contextmanager
    def reading(self, length: int) -> Iterator[None]:
        """A block in which a body of `length` bytes is read.

        Raises:
            Unavailable: the bodies that are being read leave no room for this one.
        """
        if self._announced + length > self._most:
            raise Unavailable("too many long requests are being read already", _SOON)
        self._announced += length
        try:
            yield
        finally:
            self._announced -= length
