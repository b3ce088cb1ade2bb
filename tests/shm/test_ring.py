"""The ring's two ends: what was sealed comes back to the bit, what wasn't is refused, nothing unread is overwritten."""

import itertools
import os
import signal
import zlib

import numpy as np
import pytest

from shm.audio import SAMPLE_BYTES, Pcm
from shm.frames import BrokenChannel
from shm.memory import reserve
from shm.ring import Arena, RingReader, RingWriter, TornBlock
from tests.shm import children
from tests.shm.children import BLOCK, RING, UNASKED, joined, numbered
from tests.shm.producer import producer

CAPACITY = 8


def fresh(capacity: int = CAPACITY) -> Pcm:
    return np.zeros(capacity, dtype=np.int16)


def filled(capacity: int, start: int) -> tuple[Pcm, RingWriter]:
    """A ring whose next block begins at position `start`, everything before it read and released."""
    memory = fresh(capacity)
    writer = RingWriter(memory)
    while start > 0:
        step = min(start, capacity)
        written, _ = writer.write(fresh(step))
        writer.release(written + step)
        start -= step
    return memory, writer


@pytest.mark.parametrize("capacity", [1, 2, 3, 7])
def test_every_block_at_every_offset_comes_back_whole(capacity: int) -> None:
    """Every length at every place of three rounds: one view where it fits, two where it wraps."""
    for start, length in itertools.product(range(3 * capacity), range(1, capacity + 1)):
        memory, writer = filled(capacity, start)
        samples = numbered(start, length)
        position, crc32 = writer.write(samples)
        assert position == start
        assert crc32 == zlib.crc32(samples.tobytes())
        pieces = RingReader(memory).sealed(position, length, crc32)
        assert joined(pieces) == list(samples)
        assert len(pieces) == (1 if start % capacity + length <= capacity else 2)


@pytest.mark.parametrize("start", range(2 * CAPACITY))
def test_a_block_touches_no_sample_but_its_own(start: int) -> None:
    """Every sealed sample stays as it was while the rest of the ring is filled."""
    memory, writer = filled(CAPACITY, start)
    first, crc32 = writer.write(numbered(0, 3))
    writer.write(numbered(100, CAPACITY - 3))
    assert joined(RingReader(memory).sealed(first, 3, crc32)) == list(numbered(0, 3))


def test_room_is_what_was_not_written_or_was_released() -> None:
    writer = RingWriter(fresh())
    assert writer.room == CAPACITY
    writer.write(numbered(0, 5))
    assert writer.room == CAPACITY - 5
    writer.release(2)
    assert writer.room == CAPACITY - 3
    writer.write(numbered(5, CAPACITY - 3))
    assert writer.room == 0
    writer.release(2 + CAPACITY)
    assert writer.room == CAPACITY


@pytest.mark.parametrize("start", range(CAPACITY))
def test_a_block_of_the_whole_capacity_fits_an_empty_ring_and_no_other(start: int) -> None:
    memory, writer = filled(CAPACITY, start)
    samples = numbered(7, CAPACITY)
    position, crc32 = writer.write(samples)
    assert writer.room == 0
    assert joined(RingReader(memory).sealed(position, CAPACITY, crc32)) == list(samples)
    writer.release(position + CAPACITY - 1)
    with pytest.raises(ValueError, match="8 samples don't fit into 7"):
        writer.write(samples)


@pytest.mark.parametrize(("used", "length"), [(0, CAPACITY + 1), (5, 4), (CAPACITY, 1), (0, 1000)])
def test_more_than_the_room_is_refused_and_changes_nothing(used: int, length: int) -> None:
    memory = fresh()
    writer = RingWriter(memory)
    writer.write(numbered(0, used))
    before = memory.copy()
    with pytest.raises(ValueError, match="don't fit"):
        writer.write(numbered(50, length))
    assert np.array_equal(memory, before)
    assert writer.room == CAPACITY - used
    assert writer.room == 0 or writer.write(numbered(used, 1))[0] == used


@pytest.mark.parametrize("position", [-1, 0, 1, 7, 1 << 63])
def test_a_release_backwards_or_of_what_was_not_written_is_refused(position: int) -> None:
    writer = RingWriter(fresh())
    writer.write(numbered(0, 6))
    writer.release(2)
    with pytest.raises(ValueError, match=r"outside 2\.\.6"):
        writer.release(position)
    assert writer.room == CAPACITY - 4


def test_a_release_may_be_said_twice() -> None:
    writer = RingWriter(fresh())
    writer.write(numbered(0, 6))
    writer.release(6)
    writer.release(6)
    assert writer.room == CAPACITY


@pytest.mark.parametrize("start", [0, 5], ids=["in one piece", "wrapped"])
@pytest.mark.parametrize("byte", range(6 * SAMPLE_BYTES))
def test_one_wrong_byte_anywhere_tears_the_block(start: int, byte: int) -> None:
    memory, writer = filled(CAPACITY, start)
    position, crc32 = writer.write(numbered(0, 6))
    octets = memory.view(np.uint8)
    octets[(start * SAMPLE_BYTES + byte) % len(octets)] ^= 0x10
    with pytest.raises(TornBlock, match=f"committed as {crc32:08x}"):
        RingReader(memory).sealed(position, 6, crc32)


@pytest.mark.parametrize("start", [0, 5], ids=["in one piece", "wrapped"])
@pytest.mark.parametrize("written", range(6))
def test_a_block_written_in_part_is_torn(start: int, written: int) -> None:
    """The ring of a writer that is killed after `written` samples, if a commit came all the same."""
    memory, writer = filled(CAPACITY, start)
    samples = numbered(0, 6)
    writer.write(samples[:written])
    with pytest.raises(TornBlock):
        RingReader(memory).sealed(start, 6, zlib.crc32(samples.tobytes()))


def test_a_block_at_another_place_or_of_another_length_is_torn() -> None:
    memory = fresh()
    position, crc32 = RingWriter(memory).write(numbered(0, 6))
    reader = RingReader(memory)
    for wrong_position, wrong_samples in [(position + 1, 6), (position, 5), (position, 7)]:
        with pytest.raises(TornBlock):
            reader.sealed(wrong_position, wrong_samples, crc32)
    for wrong_crc32 in [crc32 ^ 1, 0, -1, crc32 + (1 << 32)]:
        with pytest.raises(TornBlock):
            reader.sealed(position, 6, wrong_crc32)


@pytest.mark.parametrize(
    ("position", "samples"),
    [(-1, 1), (-CAPACITY, 1), (0, 0), (0, -1), (0, CAPACITY + 1), (3, CAPACITY + 1), (0, 1 << 63), (-(1 << 63), 8)],
)
def test_a_commit_that_makes_no_sense_is_refused_whatever_its_crc(position: int, samples: int) -> None:
    """The CRC is that of the samples which a careless reader would take for the block."""
    memory = numbered(0, CAPACITY)
    start = position % CAPACITY
    careless = np.concatenate([memory, memory])[start : start + max(samples, 0)]
    with pytest.raises(TornBlock, match=f"a block of {samples} samples at {position} in a ring of 8"):
        RingReader(memory).sealed(position, samples, zlib.crc32(careless.tobytes()))


def test_positions_grow_without_bound() -> None:
    memory = numbered(0, CAPACITY)
    far = (1 << 62) + 6
    expected = np.concatenate([memory[6:], memory[:3]])
    assert joined(RingReader(memory).sealed(far, 5, zlib.crc32(expected.tobytes()))) == list(expected)


@pytest.mark.parametrize("start", [0, 6])
def test_samples_that_are_not_contiguous_are_sealed_as_they_are_heard(start: int) -> None:
    for samples in (numbered(0, 10)[::2], numbered(0, 5)[::-1], numbered(0, 15).reshape(5, 3)[:, 1]):
        memory, writer = filled(CAPACITY, start)
        position, crc32 = writer.write(samples)
        assert joined(RingReader(memory).sealed(position, 5, crc32)) == list(samples)


def test_rings_of_an_arena_do_not_overlap() -> None:
    fd = reserve(3 * CAPACITY * SAMPLE_BYTES)
    arena = Arena(fd, 3, CAPACITY)
    os.close(fd)
    commits = [RingWriter(arena.ring(ring)).write(numbered(1000 * ring, CAPACITY)) for ring in range(3)]
    for ring, (position, crc32) in enumerate(commits):
        pieces = RingReader(arena.ring(ring)).sealed(position, CAPACITY, crc32)
        assert joined(pieces) == list(numbered(1000 * ring, CAPACITY))


def test_two_mappings_of_an_arena_are_the_same_memory() -> None:
    """Rings come at the same place to both, so that writer and reader agree."""
    fd = reserve(3 * CAPACITY * SAMPLE_BYTES)
    written, read = Arena(fd, 3, CAPACITY), Arena(fd, 3, CAPACITY)
    os.close(fd)
    position, crc32 = RingWriter(written.ring(1)).write(numbered(0, 4))
    assert joined(RingReader(read.ring(1)).sealed(position, 4, crc32)) == list(numbered(0, 4))


def test_an_arena_larger_than_its_memory_is_refused() -> None:
    fd = reserve(3 * CAPACITY * SAMPLE_BYTES)
    held = os.fstat(fd).st_size  # macOS rounds it up to pages
    with pytest.raises(ValueError, match="length is greater than file size"):
        Arena(fd, 1, held // SAMPLE_BYTES + 1)
    os.close(fd)


def test_a_sealed_block_is_no_copy_and_outlives_descriptor_arena_and_writer() -> None:
    fd = reserve(CAPACITY * SAMPLE_BYTES)
    arena = Arena(fd, 1, CAPACITY)
    os.close(fd)
    writer = RingWriter(arena.ring(0))
    writer.release(writer.write(fresh(5))[0] + 5)
    position, crc32 = writer.write(numbered(0, 6))
    pieces = RingReader(arena.ring(0)).sealed(position, 6, crc32)
    assert all(np.shares_memory(piece, arena.ring(0)) for piece in pieces)
    del arena, writer
    assert joined(pieces) == list(numbered(0, 6))


FIRST_PIECE = RING - UNASKED * BLOCK
"""Samples of the block in which it is killed that come before the ring's end."""


@pytest.mark.parametrize(
    ("kill_point", "samples_left", "commits"),
    [
        (children.KILLED_BEFORE_WRITING, 0, UNASKED),
        (children.KILLED_IN_FIRST_PIECE, FIRST_PIECE // 2, UNASKED),
        (children.KILLED_BETWEEN_PIECES, FIRST_PIECE, UNASKED),
        (children.KILLED_BEFORE_COMMIT, BLOCK, UNASKED),
        (children.KILLED_IN_COMMIT, BLOCK, UNASKED),
        (children.KILLED_AFTER_COMMIT, BLOCK, UNASKED + 1),
    ],
)
def test_exactly_what_was_committed_survives(kill_point: str, samples_left: int, commits: int) -> None:
    """Scenario: three blocks are committed, the first is read and released; the fourth, which wraps into its room,
    is where the producer kills itself. The second and third were not read until after its death."""
    with producer(kill_point) as worker:
        received = worker.committed(UNASKED)
        first = received[0]
        heard = joined(worker.ring.sealed(first.position, first.samples, first.crc32))
        worker.release(first.position + first.samples)
        with pytest.raises(BrokenChannel, match="closed"):
            while True:
                received += worker.receive()
        worker.process.join()
        assert worker.process.exitcode == -signal.SIGKILL
        assert [(commit.offset, commit.samples) for commit in received] == [(n * BLOCK, BLOCK) for n in range(commits)]
        for commit in received[1:]:
            heard += joined(worker.ring.sealed(commit.position, commit.samples, commit.crc32))
        assert heard == list(numbered(0, commits * BLOCK))
        # It was killed where it was meant to be: so much of the fourth block is in the ring.
        fourth = np.roll(worker.arena.ring(0), -UNASKED * BLOCK)[:BLOCK]
        intended = numbered(UNASKED * BLOCK, BLOCK)
        assert np.array_equal(fourth[:samples_left], intended[:samples_left])
        assert not np.any(fourth[samples_left:] == intended[samples_left:])
        with pytest.raises(BrokenChannel):
            worker.release(2 * BLOCK)


def test_blocks_stay_readable_when_writer_descriptor_and_channel_are_gone() -> None:
    with producer(children.KILLED_AFTER_COMMIT) as worker:
        commits = worker.committed(UNASKED)
        blocks = [worker.ring.sealed(commit.position, commit.samples, commit.crc32) for commit in commits]
        worker.process.kill()
        worker.process.join()
        del worker.arena
    assert [sample for block in blocks for sample in joined(block)] == list(numbered(0, UNASKED * BLOCK))
