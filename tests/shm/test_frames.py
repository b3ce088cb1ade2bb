"""Frames over a real pipe: whole, in order, once, whatever the pipe does to the bytes; or the channel is broken."""

import itertools
import os
import select
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shm.frames import HEADER_BYTES, MAX_FRAME_BYTES, BrokenChannel, FrameReader, FrameWriter


@contextmanager
def pipe() -> Iterator[tuple[FrameReader, FrameWriter]]:
    """Both ends of a pipe, non-blocking; closed at the end if the test hasn't done it."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    try:
        yield FrameReader(read), FrameWriter(write)
    finally:
        for fd in (read, write):
            with suppress(OSError):
                os.close(fd)


def readable(reader: FrameReader) -> bool:
    return bool(select.select([reader.fd], [], [], 0)[0])


def frame(payload: bytes) -> bytes:
    return struct.pack("!I", len(payload)) + payload


def pieces_of(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(stream) + 1) for cut in cuts} | {0, len(stream)})
    return [stream[start:end] for start, end in itertools.pairwise(places)]


@given(payloads=st.lists(st.binary(max_size=600), max_size=12), cuts=st.lists(st.integers(0, 1 << 14), max_size=30))
def test_payloads_come_whole_and_once_however_the_stream_is_split(payloads: list[bytes], cuts: list[int]) -> None:
    """Nothing comes before its last byte, and nothing waits longer than that."""
    stream = b"".join(map(frame, payloads))
    with pipe() as (reader, writer):
        received: list[bytes] = []
        sent = 0
        for piece in pieces_of(stream, cuts):
            sent += os.write(writer.fd, piece)
            received += reader.receive()
            whole = next(n for n in range(len(payloads), -1, -1) if sum(map(len, map(frame, payloads[:n]))) <= sent)
            assert received == payloads[:whole]
        assert received == payloads
        writer.close()
        with pytest.raises(BrokenChannel, match="closed"):
            reader.receive()


def test_what_a_writer_sends_is_what_a_reader_gets() -> None:
    with pipe() as (reader, writer):
        for payload in (b"", b"one", bytes(5000)):
            writer.write_frame(payload)
        assert not writer.pending
        assert reader.receive() == [b"", b"one", bytes(5000)]


def test_a_frame_goes_into_the_pipe_by_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed writer leaves all of a short frame in the pipe, or nothing of it (POSIX, PIPE_BUF)."""
    written: list[bytes] = []
    real = os.write

    def write(fd: int, chunk: bytes) -> int:
        written.append(bytes(chunk))
        return real(fd, chunk)

    with pipe() as (_, writer), monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        writer.write_frame(b"x" * 508)
    assert written == [frame(b"x" * 508)]


@pytest.mark.parametrize("lost", range(1, HEADER_BYTES + 6))
def test_part_of_a_frame_and_then_the_end_is_a_broken_channel_and_no_record(lost: int) -> None:
    """Scenario: a writer dies in a frame. The frames before it are delivered, what it began is not."""
    with pipe() as (reader, writer):
        os.write(writer.fd, frame(b"whole") + frame(b"begun!")[:-lost])
        writer.close()
        assert reader.receive() == [b"whole"]
        for _ in range(2):
            with pytest.raises(BrokenChannel):
                reader.receive()


def test_a_writer_that_stopped_in_a_frame_blocks_nobody() -> None:
    with pipe() as (reader, writer):
        os.write(writer.fd, frame(b"slow")[:-1])
        assert reader.receive() == []
        assert reader.receive() == []
        os.write(writer.fd, frame(b"slow")[-1:])
        assert reader.receive() == [b"slow"]


@pytest.mark.parametrize("length", [MAX_FRAME_BYTES + 1, 0x7FFFFFFF, 0xFFFFFFFF])
def test_an_absurd_length_breaks_the_channel_before_anything_is_awaited(length: int) -> None:
    with pipe() as (reader, writer):
        os.write(writer.fd, struct.pack("!I", length))
        with pytest.raises(BrokenChannel, match=str(length)):
            reader.receive()


def test_the_longest_frame_passes_a_pipe_that_holds_less() -> None:
    payload = os.urandom(MAX_FRAME_BYTES)
    with pipe() as (reader, writer):
        writer.write_frame(payload)
        received: list[bytes] = []
        while writer.pending:
            received += reader.receive()
            writer.flush()
        while readable(reader):
            received += reader.receive()
        assert received == [payload]


@given(
    sizes=st.lists(st.integers(0, 40_000), min_size=8, max_size=20),
    reads=st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_a_full_pipe_costs_no_frame_and_no_order(sizes: list[int], reads: list[bool]) -> None:
    """The writer never blocks; what the pipe has no room for waits in order until `flush` finds room."""
    payloads = [bytes([number]) * size for number, size in enumerate(sizes)]
    with pipe() as (reader, writer):
        received: list[bytes] = []
        for payload, read in zip(payloads, reads, strict=False):
            writer.write_frame(payload)
            if read:
                received += reader.receive()
        while readable(reader) or writer.pending:
            received += reader.receive()
            writer.flush()
        assert received == payloads


def test_pending_says_when_to_flush() -> None:
    with pipe() as (reader, writer):
        while not writer.pending:
            writer.write_frame(bytes(1000))
        while writer.pending:
            reader.receive()
            writer.flush()


def test_writing_to_nobody_is_a_broken_channel() -> None:
    with pipe() as (reader, writer):
        reader.close()
        with pytest.raises(BrokenChannel, match="pipe"):
            writer.write_frame(b"hello")


def test_flushing_to_nobody_is_a_broken_channel() -> None:
    with pipe() as (reader, writer):
        while not writer.pending:
            writer.write_frame(bytes(1000))
        reader.close()
        with pytest.raises(BrokenChannel, match="pipe"):
            writer.flush()


def test_an_empty_pipe_gives_nothing_and_stays_open() -> None:
    with pipe() as (reader, writer):
        assert reader.receive() == []
        writer.write_frame(b"late")
        assert reader.receive() == [b"late"]


def test_a_closed_end_reports_itself_broken() -> None:
    with pipe() as (reader, _):
        reader.close()
        with pytest.raises(BrokenChannel, match="descriptor"):
            reader.receive()
