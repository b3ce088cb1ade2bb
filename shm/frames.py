"""Frames: length-prefixed records over a pipe or a socket, whole or not at all.

A frame is its payload's length (4 bytes, big-endian, as `multiprocess.Connection` writes it) and the payload. The
reader keeps an incomplete frame until the rest arrives, so a writer that is killed or stopped inside one causes neither
a wrong record nor a blocked event loop; `Connection.recv_bytes` would block it. The control socket (`shm.control`) and
the player's channel (`shm.duplex`) carry the same frames.
"""

from __future__ import annotations

import os
import socket
import struct
from collections import deque

from shm.killpoint import killpoint

_LENGTH = struct.Struct("!I")
HEADER_BYTES = _LENGTH.size
MAX_FRAME_BYTES = 1 << 20
"""Longest valid frame; a longer one is a fault of the sender."""

_READ_BYTES = 1 << 16


class BrokenChannel(Exception):
    """The other end of a channel is gone, or sends invalid data."""


def roomy_pair(room: int) -> tuple[socket.socket, socket.socket]:
    """A socket pair that holds `room` bytes in each direction: macOS gives one 8 KiB."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for end in pair:
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, buffer, room)
    return pair


def framed(payload: bytes) -> bytes:
    return _LENGTH.pack(len(payload)) + payload


class Frames:
    """Cuts the bytes that arrive into payloads."""

    def __init__(self, longest: int = MAX_FRAME_BYTES) -> None:
        """`longest`: longest valid payload in bytes."""
        self._longest = longest
        self._buffer = bytearray()

    def take(self, data: bytes) -> list[bytes]:
        """Payloads of the frames that are complete with `data`.

        Raises:
            BrokenChannel: a length is absurd.
        """
        self._buffer += data
        frames: list[bytes] = []
        at = 0
        while len(self._buffer) - at >= HEADER_BYTES:
            (length,) = _LENGTH.unpack_from(self._buffer, at)
            if length > self._longest:
                raise BrokenChannel(f"a frame of {length} bytes")
            end = at + HEADER_BYTES + length
            if len(self._buffer) < end:
                break
            frames.append(bytes(self._buffer[at + HEADER_BYTES : end]))
            at = end
        del self._buffer[:at]
        return frames


class FrameWriter:
    """Sending end of a pipe; a pipe has one writer."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._backlog: deque[memoryview] = deque()

    @property
    def pending(self) -> bool:
        """True if bytes are waiting for room in a non-blocking pipe: the caller must call `flush` once the pipe is
        writable."""
        return bool(self._backlog)

    def write_frame(self, payload: bytes) -> None:
        """Write a frame with one system call if the pipe has room; keep the rest, in order, for `flush` otherwise.

        Raises:
            BrokenChannel: the reader is gone.
        """
        self._backlog.append(memoryview(framed(payload)))
        self.flush()

    def flush(self) -> None:
        """Write the waiting bytes, as far as the pipe takes them.

        Raises:
            BrokenChannel: the reader is gone.
        """
        while self._backlog:
            chunk = self._backlog[0]
            killpoint("frame-half", self._write_half)
            try:
                written = os.write(self.fd, chunk)
            except BlockingIOError:
                return
            except OSError as error:
                raise BrokenChannel(str(error)) from error
            if written == len(chunk):
                self._backlog.popleft()
            else:
                self._backlog[0] = chunk[written:]

    def _write_half(self) -> None:
        os.write(self.fd, self._backlog[0][: len(self._backlog[0]) // 2])

    def close(self) -> None:
        os.close(self.fd)


class FrameReader:
    """Receiving end of a pipe; a pipe has one reader."""

    def __init__(self, fd: int, longest: int = MAX_FRAME_BYTES) -> None:
        """`longest`: longest valid frame in bytes."""
        self.fd = fd
        self._frames = Frames(longest)

    def receive(self) -> list[bytes]:
        """Payloads of the frames that are complete after one `read`; empty if only part of a frame has arrived.

        A blocking pipe blocks until bytes arrive; on a non-blocking pipe, call this when the pipe is readable.

        Raises:
            BrokenChannel: the writer is gone (an unfinished frame is dropped), or a length is absurd.
        """
        try:
            data = os.read(self.fd, _READ_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            raise BrokenChannel(str(error)) from error
        if not data:
            raise BrokenChannel("the other end closed")
        return self._frames.take(data)

    def close(self) -> None:
        os.close(self.fd)
