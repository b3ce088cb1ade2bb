"""What one process of the server sends another, and what Speech Dispatcher sends its module."""

from __future__ import annotations

import io
import mmap
import os
import socket
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np

from shm.audio import Pcm
from shm.control import ControlSocket
from shm.espeak.messages import decode_speech, decode_spoken
from shm.frames import BrokenChannel, Frames, framed
from shm.handover import Handover, handover_pair
from shm.in_flight import BOARD_BYTES, Board
from shm.memory import reserve
from shm.messages import (
    BooksNews,
    Commit,
    CommitMessage,
    Connect,
    ControlMessage,
    Done,
    Failed,
    Forget,
    Marks,
    OrderMessage,
    Release,
    SegmentOrder,
    Suspects,
    decode_commit,
    decode_control,
    decode_order,
    encode,
)
from shm.playing import (
    Item,
    Play,
    PlayerAnswer,
    PlayerState,
    Steer,
    Verb,
    WhenBusy,
    decode_from_player,
    decode_to_player,
)
from shm.ring import RingReader, RingWriter
from shm.timing import pack_marks, unpack_marks
from supervisor.speechd import __main__ as speechd
from supervisor.speechd.config import ModuleConfig
from supervisor.speechd.document import SpokenText, spelled
from supervisor.speechd.manner import Manner, VoiceList
from supervisor.speechd.wire import Wire
from tests.engine_infos import kokoro

RING = 64
ORDER = SegmentOrder(
    generation=1, stream=2, segment=0, ring=0, script="a", language="en-us", voice=(("af_heart", 1.0),), speed=1.0,
    seed=0, first_deadline=1.0,
)  # fmt: skip
_Decode = Callable[[bytes], Any]


def frames(data: bytes) -> None:
    """Frames give the same payloads however they are cut; each is decoded as every conversation would."""
    whole = Frames(4096).take(data)
    pieces = Frames(4096)
    assert [each for byte in data for each in pieces.take(bytes([byte]))] == whole
    for payload in whole:
        messages(payload)


_DECODERS: tuple[_Decode, ...] = (
    decode_order,
    decode_commit,
    decode_control,
    decode_to_player,
    decode_from_player,
    decode_speech,
    decode_spoken,
)


def messages(data: bytes) -> None:
    """A message of one conversation, which its first byte chooses; what is decoded can be encoded."""
    decode = _DECODERS[(data[:1] or b"\0")[0] % len(_DECODERS)]
    try:
        message = decode(data[1:])
    except msgspec.DecodeError:
        return
    encode(message)


@contextmanager
def _lent() -> Iterator[int]:
    """A descriptor to send: none of its duplicates may be open in the end. Others of this process come and go."""
    kept, lent = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with kept, lent:
        yield lent.fileno()
        lent.close()
        kept.settimeout(1)  # a process that another thread has just forked may hold one until it executes
        assert kept.recv(1) == b""


def control(data: bytes) -> None:
    """The control socket with a message and up to three descriptors: none leaks, however wrong the message is."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    count, payload = (data[:1] or b"\0")[0] % 4, data[1:]
    ours.setblocking(False)
    end = ControlSocket(ours)
    with _lent() as lent:
        try:
            socket.send_fds(theirs, [payload or b"\0"], [lent] * count)
            with suppress(BrokenChannel):
                for _, fds in end.receive():
                    for fd in fds:
                        os.close(fd)
        finally:
            end.close()
            theirs.close()


def handover(data: bytes) -> None:
    """Records of the channel for connections, with up to three descriptors, read by both ends: none leaks."""
    count = (data[:1] or b"\0")[0] % 4
    for read in (Handover.take, Handover.hear):
        with _lent() as lent:
            ours, theirs = handover_pair()
            with suppress(BrokenChannel):
                socket.send_fds(theirs, [data[1:] or b"\0"], [lent] * count)
                while (found := read(ours)) is not None:
                    if isinstance(found[1], socket.socket):
                        found[1].close()
            ours.close()
            theirs.close()


def commits(data: bytes) -> None:
    """A commit as a worker sends it, about a ring of 64 known samples: it is refused, or gives its block."""
    try:
        message = decode_commit(data)
    except msgspec.DecodeError:
        return
    if isinstance(message, Marks):
        with suppress(ValueError):
            assert all(place >= 0 and sample >= 0 for place, sample in unpack_marks(message.packed))
    if not isinstance(message, Commit):
        return
    ring: Pcm = np.arange(RING, dtype=np.int16)
    pieces = RingReader(ring).sealed(message.position, message.samples, message.crc32)
    assert zlib.crc32(b"".join(piece.tobytes() for piece in pieces)) == message.crc32
    assert sum(map(len, pieces)) == message.samples


def orders(data: bytes) -> None:
    """Releases as a front sends them, between zero bytes, to a ring in use."""
    ring = RingWriter(np.zeros(RING, np.int16))
    ring.write(np.zeros(10, np.int16))
    try:
        message = decode_order(data)
    except msgspec.DecodeError:
        return
    if isinstance(message, Release):
        ring.release(message.position)
    assert 0 <= ring.room <= RING


def board(data: bytes) -> None:
    """A board of texts in flight with any bytes in it."""
    fd = reserve(BOARD_BYTES)
    try:
        with mmap.mmap(fd, BOARD_BYTES) as memory:
            memory[: len(data[:BOARD_BYTES])] = data[:BOARD_BYTES]
        found = Board(fd)
        texts = found.read()
        found.close()
    finally:
        os.close(fd)
    assert not texts.working.keys() & texts.waiting


class _Quiet:
    """Speech that ends as soon as it begins: only what is read matters."""

    is_busy = False

    def __init__(self, *_: object) -> None:
        pass

    def start(self) -> None: ...

    def end_helpers(self) -> None: ...

    def stop(self) -> None: ...

    def voices(self) -> VoiceList:
        return VoiceList()

    def begin(self, command: str, message: str, manner: Manner) -> None:
        assert manner.speed > 0 and manner.range_factor > 0 and manner.loudness >= 0
        voices = self.voices()
        voices.chosen(manner)
        if command == "SPEAK":
            text = SpokenText.of(message)
            text.plain()
            text.after(len(text.marks) // 2).ssml(spelled)
        else:
            spelled(message)


def speech_dispatcher(data: bytes) -> None:
    """Commands of Speech Dispatcher: each is answered with lines of the protocol, and the module goes on to the end."""
    answers = _Answers()
    with patch.object(speechd, "Speaking", _Quiet), patch.object(speechd, "leave"):
        speechd.Module(Wire(io.BytesIO(data), answers), ModuleConfig()).run()
    for line in answers.getvalue().splitlines():
        assert line[:3].isdigit() and line[3:4] in (b" ", b"-"), line


class _Answers(io.BytesIO):
    def fileno(self) -> int:
        raise OSError("no pipe")


_CONTROL: tuple[ControlMessage, ...] = (
    Connect(3, 2, 48, kokoro()),
    Suspects((b"d" * 16,), {b"e" * 16: 1.0}),
    BooksNews("http://a", "k"),
)
_TO_PLAYER = (Play(1, Item(id="a", input="Hello.", voice="af_heart", speed=1.0), WhenBusy.QUEUE), Steer(2, Verb.PAUSE))
_FROM_PLAYER = (PlayerState(id="a", seconds=1.5), PlayerAnswer(1))


def records() -> Iterator[bytes]:
    yield b"\1" + bytes(7) + b"\1\x80" + bytes(4)
    yield bytes(8) + b"\7" + bytes(5)


def control_messages() -> Iterator[bytes]:
    for message in _CONTROL:
        yield bytes([0]) + framed(bytes([0]) + encode(message))


def order_messages() -> Iterator[bytes]:
    known: list[OrderMessage] = [ORDER, Release(2, 8), Forget(2)]
    yield from map(encode, known)


def commit_messages() -> Iterator[bytes]:
    samples: Pcm = np.arange(RING, dtype=np.int16)
    known: list[CommitMessage] = [
        Commit(1, 2, 0, 0, 4, 8, zlib.crc32(samples[4:12].tobytes())),
        Marks(1, 2, 0, pack_marks([(0, 0), (4, 9)])),
        Done(1, 2, 0, 8, 0.5),
        Failed(1, 2, 0, "no"),
    ]
    yield from map(encode, known)


def each_message() -> Iterator[bytes]:
    several = (
        order_messages(),
        commit_messages(),
        map(encode, _CONTROL),
        map(encode, _TO_PLAYER),
        map(encode, _FROM_PLAYER),
    )
    for which, conversation in enumerate(several):
        yield from (bytes([which]) + each for each in conversation)


def framed_messages() -> Iterable[bytes]:
    chosen = ((0, order_messages()), (1, commit_messages()))
    return [framed(bytes([which]) + each) for which, several in chosen for each in several]


SPEECHD = (
    b"INIT\nSET\nvoice=MALE1\nlanguage=en\nrate=10\npitch=-3\nvolume=100\npunctuation_mode=some\n.\nAUDIO\n"
    b'audio_output_method=server\n.\nLOGLEVEL\nlog_level=3\n.\nLIST VOICES\nSPEAK\n<speak>Hello <mark name="1"/> you'
    b"</speak>\n.\nCHAR\na\n.\nKEY\ncontrol_a\n.\nSOUND_ICON\nbell\n.\nSTOP\nPAUSE\nDEBUG ON /tmp\nQUIT\n"
)
