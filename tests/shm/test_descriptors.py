"""Each end of a channel is held by one process and once: else its death is not an EOF to the other side."""

import gc
import os

import pytest

from shm.frames import BrokenChannel
from tests.platforms import linux_only
from tests.shm.children import KILLED_AFTER_COMMIT, UNASKED
from tests.shm.descriptors import arenas, holders
from tests.shm.producer import producer

pytestmark = linux_only("each descriptor of another process is looked at in /proc")


def test_nobody_holds_an_end_that_is_not_its_own() -> None:
    """Scenario: two producers, the second spawned while the first's channel is open here. Nothing of the first
    reaches the second; the first's death is noticed although the second lives; after it only we hold anything."""
    me = os.getpid()
    gc.collect()
    before = arenas(me)
    with producer(KILLED_AFTER_COMMIT) as first, producer(KILLED_AFTER_COMMIT) as second:
        for worker in (first, second):
            worker.committed(UNASKED)
            other = worker.process.pid
            assert holders(worker.orders.fd) == sorted([(me, "write"), (other, "read")])
            assert holders(worker.commits.fd) == sorted([(me, "read"), (other, "write")])
            assert holders(worker.control.fileno()) == [(me, "both")]
            assert arenas(other) == 1
        assert arenas(me) == before + 2
        first.process.kill()
        with pytest.raises(BrokenChannel, match="closed"):
            first.receive()
        first.process.join()
        with pytest.raises(BrokenChannel):
            first.release(1)
        with pytest.raises(BrokenChannel):
            first.control.receive()
        assert holders(first.orders.fd) == [(me, "write")]
        assert holders(first.commits.fd) == [(me, "read")]
        assert second.process.is_alive()
        assert len(holders(second.commits.fd)) == 2


def test_a_front_that_is_gone_is_an_end_to_its_worker() -> None:
    """Scenario: the reader's descriptors close while the producer waits for a `Release`. It must not wait for ever."""
    with producer(KILLED_AFTER_COMMIT) as worker:
        worker.committed(UNASKED)
        worker.hang_up()
        worker.process.join()
        assert worker.process.exitcode == 1
