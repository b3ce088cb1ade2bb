"""A connection's record: a front that is killed at any store leaves what held before the step, or what holds after."""

import os
import random
from collections.abc import Callable
from typing import NamedTuple

import msgspec
import pytest

from shm import records
from shm.records import ROOM, SLOT_BYTES, ConnectionEntry, Records, SegmentCut, Slot, reserve_records
from tests import platforms

pytestmark = platforms.linux_only("the records' memory is memfd_create's")


class Known(NamedTuple):
    entry: ConnectionEntry
    received: bytes
    unsent: bytes | None
    cuts: tuple[SegmentCut, ...]
    notes: bytes


def known(slot: Slot, taken: int) -> Known:
    return Known(slot.entry, slot.received, slot.unsent(taken), tuple(slot.cuts), slot.notes)


class RecordedSlot(Slot):
    """A slot that notes its stores before it makes them."""

    def __init__(self) -> None:
        self.stores: list[tuple[int, bytes]] = []
        self.bytes = bytearray(SLOT_BYTES)
        super().__init__(self.bytes, 0)

    def _store(self, at: int, data: bytes) -> None:
        self.stores.append((at, bytes(data)))
        super()._store(at, data)


def left_by_kills(before: bytearray, stores: list[tuple[int, bytes]], draw: random.Random) -> list[bytearray]:
    """The memory after a kill before each store, in the middle of each, and after the last."""
    memory, found = bytearray(before), []
    for at, data in stores:
        found.append(bytearray(memory))
        half = draw.randrange(len(data) + 1)
        memory[at : at + half] = data[:half]
        found.append(bytearray(memory))
        memory[at : at + len(data)] = data
    return [*found, memory]


class Front:
    """Makes random steps of a connection, and knows how many bytes its kernel has taken."""

    def __init__(self, slot: Slot, draw: random.Random) -> None:
        self.slot, self.draw, self.taken = slot, draw, 0

    def step(self) -> Callable[[], object]:
        entry, draw = self.slot.entry, self.draw
        data = draw.randbytes(draw.choice((1, 30, 700)))
        index = draw.randrange(4)
        steps: list[Callable[[], object]] = [
            lambda: self.slot.receive(data),
            lambda: self.slot.send(
                data,
                msgspec.structs.replace(entry, begun=True, place=draw.randbytes(20)),
                all_taken=self.taken == entry.sent,
            ),
            lambda: self.slot.cut(index, SegmentCut(draw.randrange(1, 9), draw.randbytes(6))),
        ]
        if entry.is_socket:
            steps += [self.follows, self.notes]
        elif self.taken == entry.sent:
            steps.append(self.slot.next_request)
        return draw.choice(steps)

    def follows(self) -> None:
        entry = self.slot.entry
        followed = self.draw.choice((entry.received, self.draw.randint(entry.followed, entry.received)))
        self.slot.commit(msgspec.structs.replace(entry, followed=followed))

    def notes(self) -> None:
        kept = self.slot.keep_notes(self.draw.randbytes(50), anew=self.draw.random() < 0.3)
        assert kept is not None
        self.slot.commit(msgspec.structs.replace(self.slot.entry, **kept))


@pytest.mark.parametrize("socket", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_kill_at_any_store_leaves_the_state_before_the_step_or_after_it(
    seed: int, socket: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if socket:
        monkeypatch.setattr(records, "ROOM", 2000)  # so that what was followed has to make room
    draw = random.Random(seed)
    slot = RecordedSlot()
    slot.commit(ConnectionEntry(7))
    if socket:
        slot.receive(b"GET")
        slot.commit(msgspec.structs.replace(slot.entry, is_socket=True, head=3, followed=3))
    front = Front(slot, draw)
    for _ in range(60):
        front.taken = draw.choice((front.taken, slot.entry.sent))
        before, bytes_before = known(slot, front.taken), bytearray(slot.bytes)
        slot.stores.clear()
        front.step()()
        after = known(slot, front.taken)
        for memory in left_by_kills(bytes_before, slot.stores, draw):
            left = known(Slot(memory, 0), front.taken)
            assert left.entry in (before.entry, after.entry)
            one = before if left.entry == before.entry else after
            assert (left.received, left.unsent, left.notes) == (one.received, one.unsent, one.notes)
            if before.entry == after.entry:  # a segment's cut, or bytes for which there was no room
                torn = zip(left.cuts, before.cuts, strict=False)
                assert sum(cut != earlier for cut, earlier in torn) <= 1


def test_bytes_that_the_kernel_has_taken_in_part_are_given_from_there() -> None:
    slot = RecordedSlot()
    slot.send(b"one", ConnectionEntry(7), all_taken=True)
    slot.send(b"three", slot.entry, all_taken=False)
    assert [slot.unsent(taken) for taken in (0, 2, 3, 8)] == [b"onethree", b"ethree", b"three", b""]
    slot.send(b"six", slot.entry, all_taken=True)
    assert [slot.unsent(taken) for taken in (7, 8, 10, 11)] == [None, b"six", b"x", b""]


def test_what_has_no_room_is_lost_and_says_so() -> None:
    slot = RecordedSlot()
    slot.receive(bytes(ROOM))
    assert not slot.entry.lost
    slot.receive(b"x")
    assert slot.entry.lost
    slot.next_request()
    assert not slot.entry.lost
    slot.send(bytes(ROOM + 1), slot.entry, all_taken=True)
    assert slot.entry.lost
    assert slot.entry.sent == ROOM + 1
    assert slot.cut(1 << 20, SegmentCut(1, b"")) is False


def test_cuts_are_the_request_s_own_and_the_plan_s_last() -> None:
    slot = RecordedSlot()
    first = [SegmentCut(units, b"abcdef") for units in (2, 3, 4, 5)]
    for index, cut in enumerate(first):
        slot.cut(index, cut)
    successor = Slot(slot.bytes, 0)
    for index, cut in enumerate(first[:2]):
        successor.cut(index, cut)
    assert successor.cuts == first, "what is planned as before keeps what follows it"
    successor.cut(2, SegmentCut(9, b"abcdef"))
    assert Slot(slot.bytes, 0).cuts == [*first[:2], SegmentCut(9, b"abcdef")]
    last = Slot(slot.bytes, 0)
    last.next_request()
    last.cut(0, SegmentCut(7, b"ghijkl"))
    assert Slot(slot.bytes, 0).cuts == [SegmentCut(7, b"ghijkl")]


def test_a_slot_belongs_to_its_connection_and_an_idle_one_takes_two_pages() -> None:
    fd = reserve_records()
    mapped = Records(fd)
    try:
        slot = mapped.begin(3, 70)
        assert slot
        slot.receive(b"GET")
        assert mapped.find(3, 71) is None
        found = Records(fd).find(3, 70)
        assert found
        assert found.received == b"GET"
        slot.receive(bytes(ROOM // 2))
        slot.clear()
        assert os.fstat(fd).st_blocks * 512 <= 8192
        assert mapped.begin(-1, 8) is None
        assert mapped.begin(1 << 20, 8) is None
    finally:
        os.close(fd)


def test_a_socket_s_input_stays_as_long_as_it_was_not_followed() -> None:
    slot = RecordedSlot()
    slot.receive(b"GET ")
    slot.commit(msgspec.structs.replace(slot.entry, is_socket=True, head=4, followed=4))
    for _ in range(5):
        slot.receive(bytes(ROOM // 3) + b"tail")
        slot.commit(msgspec.structs.replace(slot.entry, followed=slot.entry.received - 4))
        assert slot.received == b"GET tail"
    assert not slot.entry.lost
