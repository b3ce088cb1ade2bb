"""The control socket: whole messages in order with their descriptors; a child that ends when its supervisor does."""

import os
import resource
import select
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import multiprocess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shm.control
from shm.control import ControlSocket, control_pair
from shm.frames import MAX_FRAME_BYTES, BrokenChannel
from shm.lifeline import ORPHANED
from shm.messages import Connect, ControlMessage, Distrust, Drain, Idle, encode
from shm.situation import Situation
from tests.platforms import limit, linux_only
from tests.shm.children import DEADLY, supervise, tied
from tests.shm.descriptors import open_descriptors

MOST = 16
"""Descriptors of one message."""


@contextmanager
def pair() -> Iterator[tuple[ControlSocket, ControlSocket]]:
    """Both ends, non-blocking, closed at the end."""
    ours, end = control_pair()
    end.setblocking(False)
    theirs = ControlSocket(end)
    try:
        yield ours, theirs
    finally:
        ours.close()
        theirs.close()


@contextmanager
def files() -> Iterator[list[int]]:
    """`MOST` descriptors of as many pipes."""
    ends: list[int] = []
    for _ in range(MOST):
        read, write = os.pipe()
        os.close(write)
        ends.append(read)
    try:
        yield ends
    finally:
        for fd in ends:
            os.close(fd)


def identity(fd: int) -> int:
    """The file's identity, whatever its descriptor's number."""
    return os.fstat(fd).st_ino


def taken(messages: list[tuple[ControlMessage, list[int]]]) -> list[tuple[ControlMessage, list[int]]]:
    """The messages with their descriptors' identities, the descriptors closed as a receiver does."""
    identities = [(message, [identity(fd) for fd in fds]) for message, fds in messages]
    for _, fds in messages:
        for fd in fds:
            os.close(fd)
    return identities


def frame(message: ControlMessage, descriptors: int = 0) -> bytes:
    payload = encode(message)
    return struct.pack("!IB", 1 + len(payload), descriptors) + payload


def everything(end: ControlSocket, count: int) -> list[tuple[ControlMessage, list[int]]]:
    """The next `count` messages, which were sent already: a socket pair delivers at once."""
    received: list[tuple[ControlMessage, list[int]]] = []
    while len(received) < count:
        assert select.select([end], [], [], 0)[0], f"{len(received)} of {count} messages came"
        received += end.receive()
    return received


def test_every_message_arrives_in_order_at_the_other_end() -> None:
    with pair() as (ours, theirs):
        ours.send(Idle(1))
        ours.send(Situation("ready", "", {"worker": 1}))
        theirs.send(Distrust(4, "CRC"))
        assert everything(theirs, 2) == [(Idle(1), []), (Situation("ready", "", {"worker": 1}), [])]
        assert everything(ours, 1) == [(Distrust(4, "CRC"), [])]


@pytest.mark.parametrize("system", ["this", "with 8 KiB for a socket pair"])
def test_a_child_may_be_told_much_before_it_reads(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It first imports its modules; the state of the whole server, which it is told at each change, has a few KiB."""
    made = socket.socketpair

    def small(*kind: int) -> tuple[socket.socket, socket.socket]:
        ends = made(*kind)
        for end in ends:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # Linux doubles it
        return ends

    if system != "this":
        monkeypatch.setattr(socket, "socketpair", small)
    states = [Situation("ready", "x" * 4000, {"worker": number}) for number in range(20)]
    with pair() as (ours, theirs):
        for state in states:
            ours.send(state)
        assert everything(theirs, len(states)) == [(state, []) for state in states]


@given(
    sent=st.lists(st.tuples(st.integers(0, MOST), st.integers(0, 400)), min_size=1, max_size=12),
    read_bytes=st.integers(1, 1200),
)
def test_descriptors_come_with_their_message_however_little_is_read_at_a_time(
    sent: list[tuple[int, int]], read_bytes: int
) -> None:
    with pair() as (ours, theirs), files() as fds, pytest.MonkeyPatch.context() as patched:
        patched.setattr(shm.control, "_READ_BYTES", read_bytes)
        messages = [(Distrust(number, "x" * length), count) for number, (count, length) in enumerate(sent)]
        for message, count in messages:
            ours.send(message, fds[MOST - count :])
        received = taken(everything(theirs, len(messages)))
        assert received == [(message, [identity(fd) for fd in fds[MOST - count :]]) for message, count in messages]
        assert theirs.receive() == []


@pytest.mark.parametrize("cut", range(1, len(frame(Connect(3, 4, 5), 3))))
def test_a_message_split_anywhere_keeps_its_descriptors(cut: int) -> None:
    """They travel with its first part; another message's, with the rest, are not taken for its own."""
    with pair() as (ours, theirs), files() as fds:
        whole = frame(Connect(3, 4, 5), 3)
        socket.send_fds(ours.socket, [whole[:cut]], fds[:3])
        assert theirs.receive() == []
        ours.socket.send(whole[cut:])
        ours.send(Connect(4, 4, 5), fds[3:5])
        assert taken(everything(theirs, 2)) == [
            (Connect(3, 4, 5), [identity(fd) for fd in fds[:3]]),
            (Connect(4, 4, 5), [identity(fd) for fd in fds[3:5]]),
        ]


def test_the_sender_keeps_its_descriptors_and_the_receiver_passes_none_on() -> None:
    with pair() as (ours, theirs), files() as fds:
        ours.send(Connect(1, 1, 1), fds[:3])
        ((_, received),) = everything(theirs, 1)
        assert not any(os.get_inheritable(fd) for fd in received)
        assert [identity(fd) for fd in received] == [identity(fd) for fd in fds[:3]]
        for fd in received:
            os.close(fd)


@pytest.mark.parametrize("cut", [1, None], ids=["before its message was whole", "of a message that nobody took"])
def test_close_closes_what_came_and_was_not_taken(cut: int | None) -> None:
    with files() as fds:
        before = open_descriptors()
        with pair() as (ours, theirs):
            socket.send_fds(ours.socket, [frame(Connect(1, 1, 1), 3)[:-cut] if cut else b"\0\0\0\1\3\xc1"], fds[:3])
            held = open_descriptors()
            if cut:
                assert theirs.receive() == []
            else:
                with pytest.raises(BrokenChannel, match="makes no sense"):
                    theirs.receive()
            assert open_descriptors() == held + 3
        assert open_descriptors() == before


def test_close_after_everything_was_taken_closes_nothing_else() -> None:
    with files() as fds:
        with pair() as (ours, theirs):
            ours.send(Connect(1, 1, 1), fds[:3])
            ((_, received),) = everything(theirs, 1)
        assert [identity(fd) for fd in received] == [identity(fd) for fd in fds[:3]]
        for fd in received:
            os.close(fd)


def test_what_was_sent_before_the_end_is_received_before_it_is_noticed() -> None:
    with pair() as (ours, theirs):
        ours.send(Idle(1))
        ours.send(Drain())
        ours.close()
        assert everything(theirs, 2) == [(Idle(1), []), (Drain(), [])]
        for _ in range(2):
            with pytest.raises(BrokenChannel, match="closed"):
                theirs.receive()


def test_part_of_a_message_and_then_the_end_is_no_message() -> None:
    with pair() as (ours, theirs):
        ours.socket.send(frame(Idle(1)) + frame(Idle(2))[:-1])
        ours.close()
        assert theirs.receive() == [(Idle(1), [])]
        with pytest.raises(BrokenChannel, match="closed"):
            theirs.receive()


def test_sending_to_nobody_is_a_broken_channel() -> None:
    with pair() as (ours, theirs), files() as fds:
        theirs.close()
        with pytest.raises(BrokenChannel):
            ours.send(Drain())
        with pytest.raises(BrokenChannel):
            ours.send(Connect(1, 1, 1), fds[:3])


def test_a_peer_that_closed_with_unread_messages_is_a_broken_channel() -> None:
    """The kernel says ECONNRESET then, not EOF."""
    with pair() as (ours, theirs):
        ours.send(Drain())
        theirs.close()
        with pytest.raises(BrokenChannel):
            ours.receive()


@pytest.mark.parametrize("length", [3, 3000, 90_000], ids=["short", "long", "longer than a kernel buffer"])
def test_a_full_socket_is_a_broken_channel_and_mixes_no_messages_up(length: int) -> None:
    """Scenario: the peer is stopped until the socket is full, then reads again. Messages sent without an error come
    whole, refused ones don't come at all, and later ones are refused too or come as they are."""
    with pair() as (ours, theirs):
        sent = 0
        with pytest.raises(BrokenChannel):
            while True:
                ours.send(Distrust(sent, "x" * length))
                sent += 1
        assert everything(theirs, sent) == [(Distrust(number, "x" * length), []) for number in range(sent)]
        try:
            ours.send(Drain())
            expected: list[tuple[ControlMessage, list[int]]] = [(Drain(), [])]
        except BrokenChannel:
            expected = []
        ours.close()
        received = []
        with pytest.raises(BrokenChannel, match="closed"):
            while True:
                received += theirs.receive()
        assert received == expected


@pytest.mark.parametrize("length", [MAX_FRAME_BYTES + 1, 0xFFFFFFFF])
def test_an_absurd_length_breaks_the_channel(length: int) -> None:
    with pair() as (ours, theirs):
        ours.socket.send(struct.pack("!IB", length, 0))
        with pytest.raises(BrokenChannel, match=str(length)):
            theirs.receive()


@pytest.mark.parametrize("payload", [b"\xc1", b"", b"\x81\xa4type\xa5dream", b"\x81\xa4type\xa2\xff\xfe"])
def test_a_message_that_makes_no_sense_breaks_the_channel(payload: bytes) -> None:
    with pair() as (ours, theirs):
        ours.socket.send(struct.pack("!IB", 1 + len(payload), 0) + payload)
        with pytest.raises(BrokenChannel, match="makes no sense"):
            theirs.receive()


def test_a_message_without_the_descriptors_that_it_announces_breaks_the_channel() -> None:
    with pair() as (ours, theirs), files() as fds:
        socket.send_fds(ours.socket, [frame(Connect(1, 1, 1), 3)], fds[:2])
        with pytest.raises(BrokenChannel, match="without the descriptors"):
            theirs.receive()


def test_descriptors_over_the_limit_of_open_files_break_the_channel_and_are_not_given_to_another_message() -> None:
    with files() as fds:
        with pair() as (ours, theirs):
            before = open_descriptors()
            ours.send(Connect(1, 1, 1), fds[:3])
            free = os.dup(fds[0])
            os.close(free)
            with limit(resource.RLIMIT_NOFILE, free + 1), pytest.raises(BrokenChannel, match="ulimit -n"):
                theirs.receive()
            assert open_descriptors() == before + 1
        assert open_descriptors() == before - 2


spawn = multiprocess.get_context("spawn")
FAILS_AFTER = 30
"""Seconds after which a child counts as one that stays."""


def test_the_end_of_the_lifeline_ends_the_child_and_nothing_less_does() -> None:
    """Scenario: signals that a terminal sends to the group, and bytes in the lifeline, are no end; its EOF is."""
    lifeline_end, lifeline = spawn.Pipe(duplex=False)
    talk, talk_end = spawn.Pipe()
    process = spawn.Process(target=tied, args=(lifeline_end, talk_end))
    process.start()
    lifeline_end.close()
    talk_end.close()
    assert talk.recv() == "tied"
    for number in DEADLY:
        os.kill(process.pid, number)
    os.write(lifeline.fileno(), b"no end")
    talk.send("alive?")
    assert talk.recv() == "alive?"
    lifeline.close()
    process.join(FAILS_AFTER)
    status = process.exitcode
    process.kill()
    assert status == ORPHANED
    talk.close()


@pytest.mark.parametrize(
    "how",
    [
        "without PDEATHSIG",
        pytest.param("stopped", marks=linux_only("only PDEATHSIG reaches a stopped process")),
    ],
)
def test_a_child_dies_with_its_supervisor(how: str) -> None:
    """Scenario: supervisor and child are processes of their own; the supervisor is killed without warning while the
    child is in a loop without a system call, or stopped. The child's death shows by the EOF of a pipe that only it
    holds."""
    report, report_end = spawn.Pipe(duplex=False)
    witness, witness_end = spawn.Pipe(duplex=False)
    supervisor = spawn.Process(target=supervise, args=(report_end, witness_end, how))
    supervisor.start()
    report_end.close()
    witness_end.close()
    child: int = report.recv()
    try:
        assert not witness.poll(0)
        supervisor.kill()
        assert witness.poll(FAILS_AFTER)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        supervisor.kill()
        supervisor.join()
    with pytest.raises(EOFError):
        witness.recv()
    report.close()
    witness.close()
