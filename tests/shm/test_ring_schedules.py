"""Random schedules of a writer, a reader, slow pipes and deaths, against a list: every sample once and in order.

The model is the source itself: what was heard is always `numbered(0, n)`. Bytes on both pipes arrive as late and in as
small parts as the schedule wants. A writer may die at any step, also with half a block in the ring and half a commit
in the pipe; a new generation with a new arena goes on from what was sealed. Dead writers come back and write all the
room that they believe they have, as one does that was only stopped.
"""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from shm.audio import SAMPLE_BYTES, Pcm
from shm.frames import BrokenChannel, FrameReader, FrameWriter
from shm.memory import reserve
from shm.messages import Commit, Release, decode_commit, decode_order, encode
from shm.ring import Arena, RingReader, RingWriter
from tests.platforms import many_files
from tests.shm.children import joined, numbered

NEIGHBOUR = 21_845
RINGS = 3
USED = 1

sizes = st.integers(1, 30)
part_of_a_pipe = st.integers(1, 400)


class Wire:
    """A pipe that delivers when it is told to: two pipes, and what went into the first is carried to the second."""

    def __init__(self) -> None:
        self._out, into = os.pipe()
        out, self._into = os.pipe()
        for fd in (self._out, into, out, self._into):
            os.set_blocking(fd, False)
        self.writer = FrameWriter(into)
        self.reader = FrameReader(out)

    def deliver(self, count: int) -> list[bytes]:
        """Carry up to `count` bytes; the frames that are whole at the other end now."""
        try:
            data = os.read(self._out, count)
        except BlockingIOError:
            return []
        os.write(self._into, data)
        return self.reader.receive()

    def end(self) -> list[bytes]:
        """The writer is gone: the frames that come before the reader notices."""
        self.writer.close()
        frames: list[bytes] = []
        while data := os.read(self._out, 1 << 16):
            os.write(self._into, data)
        os.close(self._into)
        os.close(self._out)
        with pytest.raises(BrokenChannel, match="closed"):
            while True:
                frames += self.reader.receive()
        self.reader.close()
        return frames


class Generation:
    """A writer and a reader with an arena of their own, mapped by each for itself."""

    def __init__(self, number: int, source: int, capacity: int) -> None:
        fd = reserve(RINGS * capacity * SAMPLE_BYTES)
        theirs, ours = Arena(fd, RINGS, capacity), Arena(fd, RINGS, capacity)
        os.close(fd)
        self.neighbours = [ours.ring(ring) for ring in range(RINGS) if ring != USED]
        for neighbour in self.neighbours:
            neighbour[:] = NEIGHBOUR
        self.number = number
        self.memory = theirs.ring(USED)
        self.writer = RingWriter(self.memory)
        self.reader = RingReader(ours.ring(USED))
        self.commits = Wire()
        self.releases = Wire()
        self.source = source
        """The writer's next sample."""
        self.written = 0
        """Samples that the writer has put into the ring, and of those, what it knows to be read."""
        self.known_read = 0
        self.sealed = 0
        """Samples that the reader has found committed, heard, and said to have heard."""
        self.heard = 0
        self.released = 0


@dataclass
class Block:
    """Sealed and not heard yet."""

    generation: Generation
    end: int
    start: int
    pieces: tuple[Pcm, ...]


class Schedule(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[int] = []
        self.unheard: deque[Block] = deque()
        self.sealed = 0
        self.dead: list[Generation] = []

    @initialize(capacity=st.integers(1, 24))
    def begin(self, capacity: int) -> None:
        self.capacity = capacity
        self.now = Generation(0, 0, capacity)

    @precondition(lambda self: self.now.writer.room)
    @rule(size=sizes)
    def write(self, size: int) -> None:
        now = self.now
        count = min(size, now.writer.room)
        position, crc32 = now.writer.write(numbered(now.source, count))
        assert position == now.written
        now.commits.writer.write_frame(encode(Commit(now.number, 1, 0, now.source, position, count, crc32)))
        now.source += count
        now.written += count

    @rule(too_much=sizes)
    def write_too_much(self, too_much: int) -> None:
        with pytest.raises(ValueError, match="don't fit"):
            self.now.writer.write(numbered(0, self.now.writer.room + too_much))

    @rule(count=part_of_a_pipe)
    def deliver_commits(self, count: int) -> None:
        self._take_in(self.now.commits.deliver(count))

    def _take_in(self, frames: list[bytes]) -> None:
        now = self.now
        for commit in map(decode_commit, frames):
            assert isinstance(commit, Commit)
            assert (commit.generation, commit.offset, commit.position) == (now.number, self.sealed, now.sealed)
            pieces = now.reader.sealed(commit.position, commit.samples, commit.crc32)
            now.sealed += commit.samples
            self.unheard.append(Block(now, now.sealed, self.sealed, pieces))
            self.sealed += commit.samples

    @precondition(lambda self: self.unheard)
    @rule(blocks=st.integers(1, 4))
    def listen(self, blocks: int) -> None:
        for _ in range(min(blocks, len(self.unheard))):
            block = self.unheard.popleft()
            self.heard += joined(block.pieces)
            block.generation.heard = block.end

    @precondition(lambda self: self.now.heard > self.now.released)
    @rule()
    def release(self) -> None:
        """Late or early; all that was heard by then at once."""
        now = self.now
        now.released = now.heard
        now.releases.writer.write_frame(encode(Release(1, now.released)))

    @rule(count=part_of_a_pipe)
    def deliver_releases(self, count: int) -> None:
        now = self.now
        for message in map(decode_order, now.releases.deliver(count)):
            assert isinstance(message, Release)
            now.writer.release(message.position)
            now.known_read = message.position

    @rule(beyond=sizes)
    def release_what_was_not_written(self, beyond: int) -> None:
        with pytest.raises(ValueError, match="outside"):
            self.now.writer.release(self.now.written + beyond)

    @rule(copied=st.integers(0, 30), of_a_commit=st.integers(0, 60), noticed=st.booleans())
    def kill_the_writer(self, copied: int, of_a_commit: int, noticed: bool) -> None:
        """A death in the middle of a block, of its commit, or of nothing. `noticed`: by the pipe's EOF, so that what it
        had committed comes first; else by somebody who says that it is dead, and what was on its way is dropped."""
        now = self.now
        size = max(now.writer.room, 1)
        begun = numbered(now.source, size)[:copied]
        for index, sample in enumerate(begun[: now.writer.room]):
            now.memory[(now.written + index) % self.capacity] = sample
        frame = encode(Commit(now.number, 1, 0, now.source, now.written, size, 0))
        whole = len(frame).to_bytes(4, "big") + frame
        if of_a_commit:
            os.write(now.commits.writer.fd, whole[: min(of_a_commit, len(whole) - 1)])
        committed = now.commits.end()
        if noticed:
            self._take_in(committed)
            assert self.sealed == now.source
        now.releases.end()
        self.dead.append(now)
        self.now = Generation(now.number + 1, self.sealed, self.capacity)

    @precondition(lambda self: self.dead)
    @rule(which=st.integers(0, 7))
    def wake_a_dead_writer(self, which: int) -> None:
        late = self.dead[which % len(self.dead)]
        if late.writer.room:
            late.writer.write(np.full(late.writer.room, -1, dtype=np.int16))

    @invariant()
    def what_was_heard_is_the_source(self) -> None:
        assert self.heard == list(numbered(0, len(self.heard)))

    @invariant()
    def what_is_sealed_stays_as_it_is(self) -> None:
        for block in self.unheard:
            assert joined(block.pieces) == list(numbered(block.start, sum(map(len, block.pieces))))

    @precondition(lambda self: hasattr(self, "now"))
    @invariant()
    def the_room_is_what_was_released(self) -> None:
        assert self.now.writer.room == self.capacity - (self.now.written - self.now.known_read)

    @precondition(lambda self: hasattr(self, "now"))
    @invariant()
    def other_rings_are_untouched(self) -> None:
        for generation in (self.now, *self.dead):
            assert all((neighbour == NEIGHBOUR).all() for neighbour in generation.neighbours)

    def teardown(self) -> None:
        """Let everything arrive: what was heard then is all that was written since the last death, and before it."""
        if not hasattr(self, "now"):
            return
        self._take_in(self.now.commits.end())
        self.now.releases.end()
        while self.unheard:
            self.listen(4)
        assert self.sealed == self.now.source
        assert self.heard == list(numbered(0, self.now.source))


@pytest.fixture(autouse=True)
def enough_files() -> Iterator[None]:
    """Each generation has two mappings, and dead ones are kept."""
    with many_files(2000):
        yield


TestSchedules = Schedule.TestCase
TestSchedules.settings = settings(stateful_step_count=60)
