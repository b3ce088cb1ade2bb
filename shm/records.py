"""Records of connections, in shared memory: what a front must know to continue the answers of one that was killed.

The supervisor reserves the memory once and gives it to each front. A connection has one slot, which only the front that
has the connection writes:

  slot n:  | entry, copy 0 | entry, copy 1 | cuts        | received    | written     | notes       |
           | 2 KiB         | 2 KiB         | 8 bytes each| up to 1 MiB | up to 1 MiB | 2 x 512 KiB |

An entry is a `ConnectionEntry` in MessagePack (`shm/memory.py`): a front that is killed at any instruction leaves
the entry before. What an entry refers to is written before it:

- `received`: the bytes of the request in hand, as they came. On a socket, which takes input while it answers, the
  request's head stays, and what was followed makes room for what comes;
- `written`: the bytes that the kernel may not have taken yet. They are written here before they are sent. Once all of
  them are taken, the next ones begin at the start again: the entry before needs none of those that they replace.
- `cuts`: the segments of the text in hand (`SegmentCut`). Each is one store of 8 bytes;
- `notes`: what a socket's input led to. Notes are appended to one half, until those that still matter are written into
  the other.

The memory is sparse: only pages that were written take any, and those of a closed connection are given back.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from typing import NamedTuple

import msgspec

from shm.decoding import msgpack_decoder
from shm.memory import HEAD_BYTES, copy_of, newest, sparse

SLOTS = 1024
"""Connections that have a record at a time."""

ROOM = 1 << 20
"""Bytes of a request that are kept, and of an answer that the kernel hasn't taken."""

_COPY = 2048
_CUT = struct.Struct("<H6s")
_CUTS_AT, _RECEIVED_AT = 2 * _COPY, 1 << 16
_WRITTEN_AT = _RECEIVED_AT + ROOM
_NOTES_AT = _WRITTEN_AT + ROOM
_HALF = ROOM // 2
SLOT_BYTES = _NOTES_AT + 2 * _HALF

MAX_CUTS = (_RECEIVED_AT - _CUTS_AT) // _CUT.size
"""Segments of one text that are kept."""

_KEPT = 1 << 16
"""Bytes of a log that a finished request may leave allocated."""


class ConnectionEntry(msgspec.Struct, array_like=True, frozen=True):
    """The facts of a connection and of the request in hand."""

    connection: int = -1
    """The connection's number, which no other connection ever has; -1: none."""
    serial: int = 0
    """Monotonic nanoseconds at which the request's handler began; 0: none has begun."""
    received: int = 0
    """Bytes of `received`."""
    sent: int = 0
    """Bytes that were written to the connection since it was accepted."""
    kept_from: int = 0
    """The first of them that `written` holds."""
    request_id: str = ""
    repeatable: bool = True
    """False if the request may have had its effect, and must not be handled again."""
    begun: bool = False
    """True once a part of the answer was written."""
    done: bool = False
    """True once the answer was written whole."""
    closes: bool = False
    """True if the connection ends with the answer."""
    lost: bool = False
    """True if the answer can't be continued: it or its request had no room, or its place isn't known."""
    deaths: int = 0
    """Fronts that died in a row without progress, not of a kill from outside."""
    unexplained: float = 0.0
    """Those of them of which any answer may be the cause (`DeathCause.UNKNOWN`); in part, if they came before the
    answer was as far as it had been."""
    progressed: bool = False
    """True once the present front has got further with the answer: sent a part, or encoded more than any front before,
    or a worker has made more of its sound."""
    place: bytes = b""
    """The answer's progress, in the terms of its sender; empty: unknown."""
    is_socket: bool = False
    """True if input is taken while it is answered."""
    head: int = 0
    """Bytes of `received` that a socket's input begins with, whatever was followed."""
    followed: int = 0
    """The end of what was followed in `received`, on a socket."""
    rests: bool = False
    """True if nothing is spoken on the socket."""
    notes_half: int = 0
    notes: int = 0
    """Bytes of notes, in that half."""
    encoded: int = 0
    """The most samples that a front has given to the answer's encoder."""
    caught_up: bool = False
    """True once the present front has encoded as many."""
    waited: int = 0
    """Fronts in a row at which the answer's turn to be continued alone didn't come."""


class SegmentCut(NamedTuple):
    """One segment of a text: the number of its units, and the beginning of its key."""

    units: int
    key: bytes


def reserve_records() -> int:
    """Reserve the memory of all slots; returns its descriptor, which children don't inherit unless it is passed on.

    Raises:
        OSError: the system has no such memory.
    """
    fd = sparse("records")
    try:
        os.ftruncate(fd, SLOTS * SLOT_BYTES)
    except OSError:
        os.close(fd)
        raise
    return fd


class Records:
    """Mapping of all slots."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, SLOTS * SLOT_BYTES)

    def begin(self, slot: int, connection: int) -> Slot | None:
        """The slot for a connection that was just accepted; None if there is none of that number."""
        if not 0 <= slot < SLOTS:
            return None
        begun = Slot(self._memory, slot * SLOT_BYTES)
        begun.clear(connection)
        return begun

    def find(self, slot: int, connection: int) -> Slot | None:
        """The slot that a killed front has left for a connection; None if it has none."""
        if not 0 <= slot < SLOTS:
            return None
        found = Slot(self._memory, slot * SLOT_BYTES)
        return found if found.entry.connection == connection else None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgpack_decoder(ConnectionEntry)


class Slot:
    def __init__(self, memory: mmap.mmap | bytearray, at: int) -> None:
        """`at`: the slot's first byte in the memory."""
        self._memory = memory
        self._at = at
        self._generation, self.entry = self._read()

    # -- the entry

    def _read(self) -> tuple[int, ConnectionEntry]:
        generation, payload = newest(self._memory, self._at, _COPY)
        return generation, _decode(payload) if payload else ConnectionEntry()

    def commit(self, entry: ConnectionEntry) -> None:
        """Replace the entry. What it refers to has been written before."""
        payload = _encode(entry)
        if HEAD_BYTES + len(payload) > _COPY:
            entry = msgspec.structs.replace(entry, place=b"", lost=True)
            payload = _encode(entry)
        self.entry = entry
        self._generation += 1
        self._store(*copy_of(self._generation, payload, _COPY))

    def clear(self, connection: int = -1) -> None:
        """Forget all that the slot holds, and give its memory back."""
        self._generation, self.entry = self._read()
        self.commit(ConnectionEntry(connection))
        self._give_back(_CUTS_AT, SLOT_BYTES)

    def next_request(self) -> None:
        """Forget the request in hand, whose answer is whole."""
        self._store(_CUTS_AT, bytes(_CUT.size))
        long = self.entry.received > _KEPT
        self.commit(ConnectionEntry(self.entry.connection, sent=self.entry.sent, kept_from=self.entry.sent))
        if long:
            self._give_back(_RECEIVED_AT + _KEPT, _WRITTEN_AT)

    # -- the request

    def receive(self, data: bytes) -> None:
        """Keep more of the request."""
        entry = self.entry
        if entry.lost:
            return
        at, followed = entry.received, entry.followed
        if entry.is_socket and (moved := self._unfollowed + data) and self._can_move(len(moved)):
            at, followed, data = entry.head, entry.head, moved
        if at + len(data) > ROOM:
            self.commit(msgspec.structs.replace(entry, lost=True))
            return
        self._store(_RECEIVED_AT + at, data)
        self.commit(msgspec.structs.replace(entry, received=at + len(data), followed=followed))

    def _can_move(self, length: int) -> bool:
        """True if so many bytes after the head replace none that the entry needs."""
        entry = self.entry
        return entry.followed == entry.received or entry.head + length <= entry.followed

    @property
    def received(self) -> bytes:
        """All that came of the request in hand, less what was followed."""
        entry = self.entry
        if not entry.is_socket:
            return self._bytes(_RECEIVED_AT, entry.received)
        return self._bytes(_RECEIVED_AT, entry.head) + self._unfollowed

    @property
    def _unfollowed(self) -> bytes:
        entry = self.entry
        return self._bytes(_RECEIVED_AT + entry.followed, entry.received - entry.followed)

    # -- the notes

    def keep_notes(self, notes: bytes, *, anew: bool = False) -> dict[str, int] | None:
        """Write notes after those of the entry; the fields by which an entry includes them. None: there is no room.

        Args:
            anew: they replace all earlier ones.
        """
        half, length = self.entry.notes_half, self.entry.notes
        if anew:
            half, length = 1 - half, 0
        if length + len(notes) > _HALF:
            return None
        self._store(_NOTES_AT + half * _HALF + length, notes)
        return {"notes_half": half, "notes": length + len(notes)}

    @property
    def notes(self) -> bytes:
        return self._bytes(_NOTES_AT + self.entry.notes_half * _HALF, self.entry.notes)

    # -- the answer

    def send(self, data: bytes, entry: ConnectionEntry, *, all_taken: bool) -> None:
        """Keep bytes that are sent next, and replace the entry by one in which they are counted.

        Args:
            entry: the new entry, whose `sent` and `kept_from` are set here.
            all_taken: the kernel has taken all earlier bytes.
        """
        before = self.entry
        kept_from = before.sent if all_taken else before.kept_from
        sent = before.sent + len(data)
        if sent - kept_from > ROOM:
            self.commit(msgspec.structs.replace(entry, sent=sent, kept_from=sent, lost=True))
            return
        self._store(_WRITTEN_AT + before.sent - kept_from, data)
        self.commit(msgspec.structs.replace(entry, sent=sent, kept_from=kept_from))

    def unsent(self, taken: int) -> bytes | None:
        """The written bytes that the kernel hasn't taken; None if the slot doesn't hold all of them.

        Args:
            taken: bytes that the kernel has taken of all that was written to the connection.
        """
        entry = self.entry
        if not entry.kept_from <= taken <= entry.sent:
            return b"" if taken == entry.sent else None
        return self._bytes(_WRITTEN_AT + taken - entry.kept_from, entry.sent - taken)

    # -- the text's segments

    def cut(self, index: int, cut: SegmentCut) -> bool:
        """Keep the text's segment of that index, and forget what followed another one there: it is of another plan, or
        of the request before. Returns False if there is no room for it."""
        if index >= MAX_CUTS or cut.units > 0xFFFF:
            return False
        at, kept = _CUTS_AT + index * _CUT.size, _CUT.pack(cut.units, cut.key[:6])
        if self._bytes(at, _CUT.size) != kept:
            if index + 1 < MAX_CUTS:
                self._store(at + _CUT.size, bytes(_CUT.size))
            self._store(at, kept)
        return True

    @property
    def cuts(self) -> list[SegmentCut]:
        """The segments that are kept, from the text's first one on."""
        found: list[SegmentCut] = []
        for at in range(self._at + _CUTS_AT, self._at + _RECEIVED_AT, _CUT.size):
            units, key = _CUT.unpack_from(self._memory, at)
            if not units:
                break
            found.append(SegmentCut(units, key))
        return found

    def _bytes(self, at: int, length: int) -> bytes:
        return bytes(self._memory[self._at + at : self._at + at + length])

    def _store(self, at: int, data: bytes) -> None:
        self._memory[self._at + at : self._at + at + len(data)] = data

    def _give_back(self, start: int, end: int) -> None:
        if sys.platform == "linux" and isinstance(self._memory, mmap.mmap):
            self._memory.madvise(mmap.MADV_REMOVE, self._at + start, end - start)
