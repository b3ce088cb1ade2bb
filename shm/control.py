"""The socket between the supervisor and a child: control messages, and the file descriptors that some of them carry."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections import deque
from collections.abc import Sequence

from shm.frames import MAX_FRAME_BYTES, BrokenChannel
from shm.messages import ControlMessage, decode_control, encode

_HEADER = struct.Struct("!IB")  # payload's length, number of descriptors
_MAX_FDS = 16
_READ_BYTES = 1 << 16


class ControlSocket:
    """One end. Messages arrive whole and in order, each with the descriptors that were sent with it."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._buffer = bytearray()
        self._fds: deque[int] = deque()

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> None:
        """Send at once or not at all; the descriptors stay the sender's too.

        Raises:
            BrokenChannel: the other end is gone, or hasn't read for so long that the socket is full.
        """
        payload = encode(message)
        frame = _HEADER.pack(len(payload), len(fds)) + payload
        try:
            sent = socket.send_fds(self.socket, [frame], fds) if fds else self.socket.send(frame)
        except OSError as error:
            raise BrokenChannel(str(error)) from error
        if sent != len(frame):
            raise BrokenChannel("the other end doesn't read")

    def receive(self) -> list[tuple[ControlMessage, list[int]]]:
        """The messages that are whole after one read, each with its descriptors, which are now the caller's.

        Raises:
            BrokenChannel: the other end is gone.
        """
        try:
            data, fds, _, _ = socket.recv_fds(self.socket, _READ_BYTES, _MAX_FDS)
        except BlockingIOError:
            return []
        except OSError as error:
            raise BrokenChannel(str(error)) from error
        for fd in fds:
            os.set_inheritable(fd, False)
        self._fds.extend(fds)
        if not data:
            raise BrokenChannel("the other end closed")
        self._buffer += data
        return self._whole_messages()

    def _whole_messages(self) -> list[tuple[ControlMessage, list[int]]]:
        messages: list[tuple[ControlMessage, list[int]]] = []
        at = 0
        while len(self._buffer) - at >= _HEADER.size:
            length, count = _HEADER.unpack_from(self._buffer, at)
            if length > MAX_FRAME_BYTES:
                raise BrokenChannel(f"a control message of {length} bytes")
            end = at + _HEADER.size + length
            if len(self._buffer) < end:
                break
            # Descriptors travel with a message's first byte: they are here before its last one.
            fds = [self._fds.popleft() for _ in range(count)]
            messages.append((decode_control(bytes(self._buffer[at + _HEADER.size : end])), fds))
            at = end
        del self._buffer[:at]
        return messages

    def close(self) -> None:
        """Close the socket and the descriptors that nobody took."""
        while self._fds:
            with contextlib.suppress(OSError):
                os.close(self._fds.popleft())
        self.socket.close()


def control_pair() -> tuple[ControlSocket, socket.socket]:
    """The supervisor's end, non-blocking, and the child's, to be passed to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    ours.setblocking(False)
    return ControlSocket(ours), theirs
