"""Channels between a front and a worker: memory of their own, and nothing that the supervisor keeps."""

import os

import pytest

from supervisor.processes.fronts import channel


def test_every_channel_has_memory_of_its_own() -> None:
    with channel(1, 100) as one, channel(1, 100) as other:
        assert os.fstat(one.front[2]).st_ino == os.fstat(one.worker[2]).st_ino
        assert os.fstat(one.front[2]).st_ino != os.fstat(other.front[2]).st_ino


@pytest.mark.parametrize("end", ["commits", "orders"])
def test_when_the_writer_of_a_pipe_closes_its_end_the_reader_hears_it(end: str) -> None:
    """The supervisor's own copy of a write end would keep every death unheard."""
    with channel(1, 100) as ends:
        reader = os.dup(ends.front[1] if end == "commits" else ends.worker[0])
        writer = os.dup(ends.worker[1] if end == "commits" else ends.front[0])
    os.close(writer)
    os.set_blocking(reader, False)
    try:
        assert os.read(reader, 1) == b"", "the end of the file"
    finally:
        os.close(reader)
