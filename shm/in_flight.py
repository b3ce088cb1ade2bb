"""Record of the texts that the front (frontend process) is answering, in shared memory that the supervisor reads after
the front's death.

A board is anonymous shared memory with `SLOTS` places, written by the front and read by the supervisor after the
front's end:

  place n:  | state, 1 byte | digest of a text, 16 bytes | step of reading | step of encoding |, 16 bytes each

  state 0: free    1: the text's answer is under way    2: a thread works on the text itself
  + 4: a part of the answer has left

A step is the part of the work that a thread does: two unsigned numbers, its start and its end, in segments read or
samples encoded; both are 0 while no thread is at that work. Digest and steps are written before the state, so a place
that isn't free is complete at whatever moment the front is killed. A text that finds no free place isn't recorded.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

SLOTS = 256
DIGEST_BYTES = 16
_STEP = struct.Struct("<2Q")
_STEPS_FROM = 1 + DIGEST_BYTES
_PLACE = _STEPS_FROM + 2 * _STEP.size
BOARD_BYTES = SLOTS * _PLACE

_FREE, _UNDER_WAY, _WORKING = 0, 1, 2
_BEGUN = 4


class DeathCause(StrEnum):
    """A front's possible cause of death among its answers."""

    UNKNOWN = "unknown"
    """Any of its answers: no thread was at work on a text."""
    TEXT = "text"
    """A text on which a thread was at work. Such deaths are counted by the text."""
    OUTSIDE = "outside"
    """None of them: it was killed from outside."""


class WorkKind(IntEnum):
    READING = 0
    ENCODING = 1


class WorkStep(NamedTuple):
    """A part of some work: segments that are read, or samples that are encoded. The same text has the same ones."""

    work: WorkKind
    start: int
    end: int

    def shared(self, other: WorkStep) -> WorkStep | None:
        """The part that both steps have in common; None: they have none, or are of different kinds."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return WorkStep(self.work, start, end) if self.work == other.work and start < end else None


WHOLE_READING = WorkStep(WorkKind.READING, 0, 1)
"""The step of a text that is read in one piece."""

WorkSteps = frozenset[WorkStep]


def digest_of(text: str) -> bytes:
    """Digest of a text, `DIGEST_BYTES` bytes long."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True, slots=True)
class TextsInFlight:
    """Digests of the texts that a dead front was answering."""

    working: Mapping[bytes, WorkSteps] = field(default_factory=dict)
    """Texts that threads were working on, and their steps."""
    waiting: frozenset[bytes] = frozenset()
    """Texts whose answers were under way while no thread worked on the text itself."""
    begun: int = 0
    """Answers of which a part had left: their clients see them cut."""


class Board:
    """Mapping of a board's memory. The front and the supervisor both map it; each descriptor is closed by its owner."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, BOARD_BYTES)
        self._free = list(range(SLOTS))

    def enter(self, digest: bytes) -> TextInFlight:
        """Record a text until `TextInFlight.leave`."""
        place = self._free.pop() if self._free else None
        if place is not None:
            at = place * _PLACE
            self._memory[at + 1 : at + _PLACE] = digest + bytes(2 * _STEP.size)
            self.mark(place, _UNDER_WAY)
        return TextInFlight(self, place)

    def mark(self, place: int, state: int) -> None:
        """Write a place's state: one byte, as in the module's diagram."""
        self._memory[place * _PLACE] = state

    def step(self, place: int, step: WorkStep, *, ended: bool) -> None:
        """Write a step that a thread begins, or has ended."""
        at = place * _PLACE + _STEPS_FROM + step.work * _STEP.size
        _STEP.pack_into(self._memory, at, *((0, 0) if ended else (step.start, step.end)))

    def release(self, place: int) -> None:
        """Free the place for another text."""
        self.mark(place, _FREE)
        self._free.append(place)

    def read(self) -> TextsInFlight:
        places = [self._memory[at : at + _PLACE] for at in range(0, BOARD_BYTES, _PLACE)]
        working: dict[bytes, WorkSteps] = {}
        waiting = set()
        for place in places:
            state, digest = place[0] & ~_BEGUN, place[1:_STEPS_FROM]
            if state == _WORKING:
                working[digest] = working.get(digest, frozenset()) | _steps(place[_STEPS_FROM:])
            elif state == _UNDER_WAY:
                waiting.add(digest)
        begun = sum(bool(place[0] & _BEGUN) for place in places)
        return TextsInFlight(working, frozenset(waiting - working.keys()), begun)

    def close(self) -> None:
        self._memory.close()


def _steps(data: bytes) -> WorkSteps:
    found = (WorkStep(work, *_STEP.unpack_from(data, work * _STEP.size)) for work in WorkKind)
    return frozenset(step for step in found if step.end)


class TextInFlight:
    """One text, from its request to its answer's end. Several threads may be inside `working` at once."""

    def __init__(self, board: Board | None = None, place: int | None = None) -> None:
        """The text isn't recorded without a board or a place."""
        self._board = board
        self._place = place
        self._lock = threading.Lock()
        self._workers = 0
        self._begun = 0
        self._left = False

    @contextmanager
    def working(self, step: WorkStep = WHOLE_READING) -> Iterator[None]:
        """Mark the text as worked on by a thread: if the process dies in the meantime, this text is suspected first."""
        self._count(1, step)
        _at_work.set((self, step))
        try:
            yield
        finally:
            _at_work.set(None)
            self._count(-1, step)

    @contextmanager
    def resting(self, step: WorkStep) -> Iterator[None]:
        """Inside `working`, while the thread waits for a process that works on the text: no code of this one does."""
        self._count(-1, step)
        try:
            yield
        finally:
            self._count(1, step)

    def _count(self, change: int, step: WorkStep) -> None:
        with self._lock:
            self._workers += change
            if self._board is None or self._place is None:
                return
            self._board.step(self._place, step, ended=change < 0)
            if self._left and not self._workers:
                self._board.release(self._place)
            elif self._workers in (0, 1):
                self._mark()

    def audio_left(self) -> None:
        """Note that a part of the answer has left: if the process dies from now on, the answer is cut."""
        with self._lock:
            self._begun = _BEGUN
            if not self._left:
                self._mark()

    def _mark(self) -> None:
        if self._board is not None and self._place is not None:
            self._board.mark(self._place, self._begun | (_WORKING if self._workers else _UNDER_WAY))

    def leave(self) -> None:
        """End the text's record at its answer's end, or once the last thread that works on the text has finished.
        Idempotent."""
        with self._lock:
            if self._left:
                return
            self._left = True
            self._begun = 0  # a thread that still works on the text cuts no answer
            if self._workers:
                self._mark()
            if self._board is not None and self._place is not None and not self._workers:
                self._board.release(self._place)


_at_work: ContextVar[tuple[TextInFlight, WorkStep] | None] = ContextVar("text_at_work", default=None)


def resting() -> AbstractContextManager[None]:
    """`TextInFlight.resting` of the text that this thread works on, if any."""
    at_work = _at_work.get()
    return at_work[0].resting(at_work[1]) if at_work else nullcontext()
