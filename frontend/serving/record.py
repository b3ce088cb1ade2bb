"""A connection's record, as its front writes it: each byte that leaves is counted before it leaves.

The kernel knows how many bytes of a connection it has taken (`frontend/serving/acceptor.py`). What a front writes
goes through `Recorded`, which first keeps the bytes, and how far the answer is after them, in the connection's slot
(`shm/records.py`). So a successor finds the bytes that were to leave and didn't, and the place at which the answer goes
on.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic_ns
from typing import Any

from aiohttp import web
from msgspec.structs import replace

from frontend.contract.progress import Place, decode_place, encode_place
from shm.killpoint import killpoint
from shm.records import SegmentCut, Slot

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


CONTINUES = web.ResponseKey("CONTINUES", bool)
"""Set on a response that continues the one of a killed front: its head isn't sent again."""

DEATHS = 5
"""Fronts that die in a row without progress of an answer, until it is ended. A death after progress is none of its, nor
is a kill from outside, nor one at work on a text: that one is refused (`frontend/contract/in_flight.py`)."""

_PROGRESS = {"deaths": 0, "unexplained": 0, "progressed": True}


class Record:
    def __init__(self, slot: Slot, unsent: bytes | None = None) -> None:
        """`unsent`: bytes that a killed front has left; None: the connection is new."""
        self._slot = slot
        self._unsent = unsent
        self.progressed = asyncio.Event()
        """Set once there is progress, or the connection is closed: the front hasn't died of the answer so far."""
        self._transport: asyncio.Transport | None = None
        self._unit: list[bytes] | None = None
        """Bytes written in the unit at hand."""
        self._answering = False
        """True once the response in hand has begun."""
        entry = slot.entry
        self._is_replay = unsent is not None and bool(entry.serial) and not entry.done
        """True until the request of a killed front is handled again."""
        self.midway = self._is_replay and entry.begun
        """True until the answer of a killed front goes on: its head isn't written again."""
        self.again = False
        """True if the request in hand was a killed front's."""
        self._came = entry.received - entry.followed
        """Bytes of a socket's input: those that weren't followed before this front had it, and all that came since."""
        self._closed = False
        self._ends = False
        """True once the socket's last frames are written."""
        self.messages: MessageEnds | None = None
        """The ends of a WebSocket's messages in its input."""

    @property
    def replayed_id(self) -> str | None:
        """The id of the request that is handled again."""
        return self._slot.entry.request_id if self._is_replay else None

    @property
    def name(self) -> bytes:
        """The name of the request in hand, which no other request has."""
        entry = self._slot.entry
        return b"%d %d" % (entry.connection, entry.serial)

    @property
    def arrived(self) -> float:
        """Monotonic seconds at which the first front began with the request in hand."""
        return self._slot.entry.serial / 1e9

    @property
    def profile(self) -> list[float]:
        """The cost profile with which a killed front has planned an answer that hasn't begun; empty: none has."""
        place = self._slot.entry.place
        return decode_place(place).profile if place and self.again and not self.midway else []

    def keep_profile(self, profile: Sequence[float]) -> None:
        """Keep it for a successor, until the answer's own place has it."""
        entry = self._slot.entry
        if not (self._closed or entry.begun):
            self._slot.commit(replace(entry, place=encode_place(Place(profile=[*profile]))))

    @property
    def left(self) -> bytes:
        """The place at which a killed front has left the answer; empty: its beginning."""
        return self._slot.entry.place if self.midway else b""

    @property
    def notes(self) -> bytes:
        """Notes of a socket's input that a killed front has left; empty: none."""
        return self._slot.notes if self.midway else b""

    @property
    def cuts(self) -> list[SegmentCut]:
        """The segments of the text that a killed front has kept."""
        return self._slot.cuts if self.midway else []

    def keep_cut(self, index: int, cut: SegmentCut) -> bool:
        """Keep a segment of the text in hand, for a successor."""
        return self._slot.cut(index, cut)

    def moved(self, encoded: int = 0) -> bool:
        """Note that a worker has made more of the answer's sound, or that so many of its samples were encoded, which is
        progress where no front has encoded as many: True is returned then."""
        entry = self._slot.entry
        if self._closed:
            return False
        if encoded == entry.encoded and encoded and not entry.caught_up:
            self._slot.commit(replace(entry, caught_up=True))
        elif encoded > entry.encoded or not (encoded or entry.progressed):
            self._slot.commit(replace(entry, encoded=max(encoded, entry.encoded), **_PROGRESS))
            self.progressed.set()
        return encoded > entry.encoded

    # -- called by the connection

    def attach(self, transport: asyncio.Transport) -> Recorded:
        """The transport through which the connection writes."""
        self._transport = transport
        return Recorded(transport, self)

    def continued(self) -> bytes:
        """Send what a killed front has left; returns what it had received of the request in hand."""
        if self._unsent is None or self._transport is None:
            return b""
        unsent, self._unsent = self._unsent, None
        if unsent:
            self._transport.write(unsent)
        entry = self._slot.entry
        if entry.done and entry.closes:
            self._transport.close()
        return b"" if entry.done else self._slot.received

    def received(self, data: bytes, *, late: bool) -> None:
        """Keep what came. `late`: it follows a whole request whose answer isn't whole yet."""
        entry = self._slot.entry
        if entry.is_socket:
            self._came += len(data)
            if self.messages:
                self.messages.feed(data)
            self._slot.receive(data)
            return
        if entry.done and not late and self._has_all_taken:
            self._answering = False
            self._slot.next_request()
        elif entry.done or late:
            self._slot.commit(replace(entry, lost=True))
        self._slot.receive(data)

    def began(self, request_id: str, *, repeatable: bool) -> None:
        """Note that the request's head is whole, and its handler begins.

        Args:
            repeatable: the request may be handled again.
        """
        entry = self._slot.entry
        if entry.is_socket and entry.serial and not self._is_replay:
            return
        self.again = self._is_replay
        if self._is_replay:
            self._is_replay = False
            return
        # A second request in the bytes of the first one is handled, and not continued.
        self._slot.commit(
            replace(
                entry,
                serial=monotonic_ns(),
                request_id=request_id,
                repeatable=repeatable,
                begun=False,
                done=False,
                progressed=False,
                encoded=0,
                caught_up=False,
                lost=entry.lost or entry.done,
            )
        )

    def opens(self, *, head: int | None = None) -> None:
        """Note that from now on input is taken while it is answered. `head`: bytes of the input that stay; None: up to
        the end of a request's head."""
        slot = self._slot
        if slot.entry.is_socket or slot.entry.lost:
            return
        if head is None:
            head = slot.received.find(b"\r\n\r\n") + 4
        self._came = slot.entry.received - head
        slot.commit(replace(slot.entry, is_socket=True, head=head, followed=head, rests=True))

    def follow_frames(self) -> None:
        """Note that the socket's input is WebSocket frames."""
        if self._slot.entry.lost:
            return
        self.messages = MessageEnds()
        self.messages.feed(self._slot.received[self._slot.entry.head :])

    def ends(self) -> None:
        """Note that the socket ends with what is written next."""
        self._ends = True

    def goes_on(self) -> None:
        """Note that a socket whose front was killed has been set up as it was."""
        self.midway = False

    def answers(self) -> None:
        """Note that the response begins."""
        self._answering = True

    def forget_connection(self) -> None:
        """Forget all: the connection is closed."""
        self._closed = True
        self.progressed.set()
        self._slot.clear()

    # -- called by the answers

    @contextmanager
    def socket_unit(
        self, place: bytes, notes: bytes, *, anew: bool, followed: int | None, rests: bool
    ) -> Iterator[None]:
        """Have all that is written within the block leave at once, or not at all, together with its meaning.

        Args:
            place: how far the socket's contexts are; empty: that can't be told, and the socket can't be continued.
            notes: what the input led to, after the notes so far, or `anew` in place of them.
            followed: bytes of the socket's input that were followed; None: no more than before.
            rests: nothing is spoken.
        """
        with self._collected() as parts:
            yield
        slot = self._slot
        if self._closed:
            return
        changes: dict[str, Any] = {"place": place, "rests": rests}
        kept = slot.keep_notes(notes, anew=anew) if place and not slot.entry.lost else None
        changes |= kept if kept is not None else {"lost": True}
        if followed is not None:
            changes["followed"] = slot.entry.received - (self._came - followed)
        self._leave(b"".join(parts), goes_on=bool(parts), begun=True, **changes)
        killpoint("unit-sent")

    @contextmanager
    def unit(self, place: bytes = b"", encoded: int = 0) -> Iterator[None]:
        """Have all that is written within the block leave at once, or not at all. Afterwards the answer is at that
        place, and so many of its samples were encoded."""
        with self._collected() as parts:
            yield
        if parts:
            entry = self._slot.entry
            further = max(encoded, entry.encoded)
            self._leave(b"".join(parts), begun=True, place=place, encoded=further, lost=not place or entry.lost)
            killpoint("unit-sent")

    async def finish(self, request: web.Request, response: web.StreamResponse) -> None:
        """Write the rest of a response, at which its answer is whole."""
        with self._collected() as parts:
            await response.prepare(request)
            await response.write_eof()
        self._leave(b"".join(parts), begun=True, place=b"", done=True, closes=not response.keep_alive)
        killpoint("answer-sent")

    @contextmanager
    def _collected(self) -> Iterator[list[bytes]]:
        parts = self._unit = []
        try:
            yield parts
        finally:
            self._unit = None

    def write(self, data: bytes) -> None:
        """Write what the connection's protocol has written."""
        if self._closed:
            return
        if self._unit is not None:
            self._unit.append(data)
        elif self._slot.entry.is_socket and not self.midway:
            self._leave(data, goes_on=False, **self._followed_frames())
        elif not self.midway:  # else it precedes the answer, and was sent before
            self._leave(data, begun=self._answering or self._slot.entry.begun, place=b"")

    def _followed_frames(self) -> dict[str, int]:
        """A frame that is no message answers such a frame of the client's, or none."""
        if self.messages is None or self.messages.waiting:
            return {}
        return {"followed": self._slot.entry.received - (self._came - self.messages.whole)}

    def _leave(self, data: bytes, *, goes_on: bool = True, **changes: Any) -> None:
        """Send bytes, and note what they mean. `goes_on`: they are more of an answer."""
        assert self._transport is not None
        if goes_on:
            changes |= _PROGRESS
            self.progressed.set()
        if self._ends:
            changes |= {"done": True, "closes": True}
        if self.midway:
            self.midway = False
            data = data.partition(b"\r\n\r\n")[2]
        entry = replace(self._slot.entry, **changes)
        self._slot.send(data, entry, all_taken=self._has_all_taken)
        killpoint("unit-kept")
        if data:
            self._transport.write(data)

    @property
    def _has_all_taken(self) -> bool:
        return self._transport is not None and not self._transport.get_write_buffer_size()


class Recorded(asyncio.Transport):
    """A transport whose written bytes are recorded; in all else it is the one behind it."""

    def __init__(self, inner: asyncio.Transport, record: Record) -> None:
        super().__init__()
        self._inner = inner
        self._record = record

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._record.write(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self._record.write(b"".join(list_of_data))


def _passed_on(name: str) -> Callable[..., Any]:
    return lambda recorded, *arguments, **named: getattr(recorded._inner, name)(*arguments, **named)


for _name in (
    *("get_extra_info", "get_protocol", "set_protocol", "is_closing", "close", "abort", "can_write_eof", "write_eof"),
    *("is_reading", "pause_reading", "resume_reading"),
    *("set_write_buffer_limits", "get_write_buffer_limits", "get_write_buffer_size"),
):
    setattr(Recorded, _name, _passed_on(_name))
