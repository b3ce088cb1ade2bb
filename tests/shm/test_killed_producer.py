"""A producer killed at each step of a block: what it had committed is whole, what it hadn't is not there."""

import signal

import numpy as np
import pytest

from shm.frames import BrokenChannel
from tests.shm import children
from tests.shm.children import BLOCK, RING, UNASKED
from tests.shm.numbered import joined, numbered
from tests.shm.producer import producer

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
