"""The texts that a front is answering, in memory that outlives it: after its death the supervisor reads them.

A board is anonymous shared memory with `SLOTS` places, written by the front and read by the supervisor after the
front's end:

    place n:  | state, 1 byte | digest of a text, 16 bytes |

    state 0: free     1: the text's answer is under way     2: a thread works on the text itself

The digest is written before the state, so a place that isn't free is whole, whenever the front was killed. A text for
which no place is left isn't recorded.
"""

from __future__ import annotations

import hashlib
import mmap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SLOTS = 256
DIGEST_BYTES = 16
_PLACE = 1 + DIGEST_BYTES
BOARD_BYTES = SLOTS * _PLACE

_FREE, _UNDER_WAY, _WORKING = 0, 1, 2


def digest_of(text: str) -> bytes:
    """`DIGEST_BYTES` bytes."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True, slots=True)
class TextsInFlight:
    """Digests of a dead front's texts."""

    working: frozenset[bytes] = frozenset()
    """Texts that a thread was working on."""
    waiting: frozenset[bytes] = frozenset()
    """The other texts whose answers were under way."""


class Board:
    """The memory. Its two users map it, and the descriptor is closed by whoever has it."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, BOARD_BYTES)
        self._free = list(range(SLOTS))

    def enter(self, digest: bytes) -> TextInFlight:
        """Record a text until `TextInFlight.leave`."""
        place = self._free.pop() if self._free else None
        if place is not None:
            at = place * _PLACE
            self._memory[at + 1 : at + _PLACE] = digest
            self.mark(place, _UNDER_WAY)
        return TextInFlight(self, place)

    def mark(self, place: int, state: int) -> None:
        self._memory[place * _PLACE] = state

    def release(self, place: int) -> None:
        """The place may be another text's."""
        self.mark(place, _FREE)
        self._free.append(place)

    def read(self) -> TextsInFlight:
        """The texts that are recorded now."""
        places = [self._memory[at : at + _PLACE] for at in range(0, BOARD_BYTES, _PLACE)]
        working = frozenset(place[1:] for place in places if place[0] == _WORKING)
        return TextsInFlight(working, frozenset(place[1:] for place in places if place[0] == _UNDER_WAY) - working)

    def close(self) -> None:
        self._memory.close()


class TextInFlight:
    """One text, from its request to its answer's end. `working` may be entered in several threads at once."""

    def __init__(self, board: Board | None = None, place: int | None = None) -> None:
        """Without a place nothing is recorded."""
        self._board = board
        self._place = place
        self._lock = threading.Lock()
        self._workers = 0
        self._left = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """A thread works on the text: if the process dies meanwhile, the text is the first to be suspected."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._workers += change
            if self._board is None or self._place is None:
                return
            if self._left and not self._workers:
                self._board.release(self._place)
            elif self._workers in (0, 1):
                self._board.mark(self._place, _WORKING if self._workers else _UNDER_WAY)

    def leave(self) -> None:
        """The answer has ended. A thread that still works on the text keeps its place until it is through."""
        with self._lock:
            self._left = True
            if self._board is not None and self._place is not None and not self._workers:
                self._board.release(self._place)
