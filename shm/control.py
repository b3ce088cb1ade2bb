"""The control socket between the supervisor and a child: control messages, and the file descriptors that some of them
carry. A frame's payload is the number of its descriptors (one byte) and the message."""

from __future__ import annotations

import contextlib
import os
import socket
from collections import deque
from collections.abc import Sequence

import msgspec

from shm.frames import BrokenChannel, Frames, framed, roomy_pair
from shm.messages import ControlMessage, decode_control, encode

_MAX_FDS = 16
_READ_BYTES = 1 << 16
_BUFFER_BYTES = 1 << 18
"""Room for what a child is told before it reads: a full socket counts as broken."""


class ControlSocket:
    """One end of a control socket. Messages arrive whole and in order, each with the descriptors that were sent with
    it."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._frames = Frames()
        self._fds: deque[int] = deque()

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> None:
        """Send a message at once or not at all. The sender keeps its own copies of the descriptors.

        Raises:
            BrokenChannel: the other end is gone, or hasn't read for so long that the socket is full.
        """
        frame = framed(bytes([len(fds)]) + encode(message))
        try:
            sent = socket.send_fds(self.socket, [frame], fds) if fds else self.socket.send(frame)
            if sent != len(frame):
                # The receiver would read the next frame as the rest of this one, so it gets end of file instead.
                self.socket.shutdown(socket.SHUT_WR)
                raise BrokenChannel("the other end doesn't read")
        except OSError as error:
            raise BrokenChannel(str(error)) from error

    def receive(self) -> list[tuple[ControlMessage, list[int]]]:
        """Messages that are complete after one read, each with its descriptors, which the caller now owns.

        Raises:
            BrokenChannel: the other end is gone or sent an invalid message, or descriptors were lost because this
                process may open no more.
        """
        try:
            data, fds, flags, _ = socket.recv_fds(self.socket, _READ_BYTES, _MAX_FDS)
        except BlockingIOError:
            return []
        except OSError as error:
            raise BrokenChannel(str(error)) from error
        for fd in fds:
            os.set_inheritable(fd, False)
        self._fds.extend(fds)
        if flags & socket.MSG_CTRUNC:
            raise BrokenChannel("descriptors were lost on the way: raise the limit on open files (ulimit -n)")
        if not data:
            raise BrokenChannel("the other end closed")
        try:
            messages = [(decode_control(frame[1:]), frame[0]) for frame in self._frames.take(data)]
        except (msgspec.MsgspecError, IndexError) as error:
            raise BrokenChannel(f"a control message that makes no sense: {error}") from error
        # Descriptors travel with a message's first byte: they are here before its last one.
        if sum(count for _, count in messages) > len(self._fds):
            raise BrokenChannel("a control message without the descriptors that it announces")
        return [(message, [self._fds.popleft() for _ in range(count)]) for message, count in messages]

    def close(self) -> None:
        """Close the socket and the received descriptors that no caller has taken."""
        while self._fds:
            with contextlib.suppress(OSError):
                os.close(self._fds.popleft())
        self.socket.close()


def control_pair() -> tuple[ControlSocket, socket.socket]:
    """A socket pair: the supervisor's end, non-blocking, and the child's end, to be passed to the child."""
    ours, theirs = roomy_pair(_BUFFER_BYTES)
    ours.setblocking(False)
    return ControlSocket(ours), theirs
