"""The channel over which a front gets its connections from the supervisor: fixed records, each with the duplicate of a
connection's descriptor if it goes to the front.

Unlike on the control socket (`shm.control`), a full channel is no fault: a busy front reads later, and meanwhile the
clients wait in the listening socket's backlog.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from enum import IntEnum
from typing import NamedTuple

from shm.frames import BrokenChannel, roomy_pair

PROTOCOL = 1
"""Version of the records, for a channel whose ends are of two versions (`supervisor.processes.succession`)."""

_BUFFER_BYTES = 1 << 15
"""Room for connections that a front hasn't taken yet."""

_RECORD = struct.Struct("!QBI")
"""Number, port or report, slot."""


class Port(IntEnum):
    """The listening socket that accepted a connection."""

    HTTP = 0
    WYOMING = 1


class Said(IntEnum):
    """A front's message about one of its connections."""

    CLOSED = 0
    """The front has closed it."""
    RETURNED = 1
    """The front has read nothing of it and won't: it has no descriptor left, or drains."""
    SERVES = 2
    """Another version's supervisor speaks, and takes the connections over; the record is about no connection."""


class Accepted(NamedTuple):
    """Supervisor -> front: a connection to serve."""

    number: int
    """Number of the connection, unique in the supervisor's life."""
    port: Port
    inherited: bool
    """True if another front had it, and died."""
    slot: int
    """A small number that no other open connection has: its descriptor's in the supervisor."""


class Report(NamedTuple):
    """Front -> supervisor: what has become of a connection."""

    number: int
    said: Said


_INHERITED = 0x80


class Handover:
    """One end of the channel; both are non-blocking."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._socket = end

    def fileno(self) -> int:
        return self._socket.fileno()

    def give(self, accepted: Accepted) -> None:
        """Send a connection with a duplicate of its descriptor, `slot`.

        Raises:
            BlockingIOError: the channel is full.
            BrokenChannel: the front is gone.
        """
        code = accepted.port | _INHERITED * accepted.inherited
        self._send(_RECORD.pack(accepted.number, code, accepted.slot), (accepted.slot,))

    def report(self, report: Report) -> None:
        """Send a report.

        Raises:
            BlockingIOError: the channel is full.
            BrokenChannel: the supervisor is gone.
        """
        self._send(_RECORD.pack(*report, 0))

    def _send(self, record: bytes, fds: tuple[int, ...] = ()) -> None:
        try:
            sent = socket.send_fds(self._socket, [record], fds)
        except BlockingIOError:
            raise
        except OSError as error:
            raise BrokenChannel(str(error)) from error
        assert sent == len(record), "the system took a part of a record"

    def take(self) -> tuple[Accepted, socket.socket | None] | None:
        """The next connection; None if there is none yet. It comes without a socket if this process may open no more
        files.

        Raises:
            BrokenChannel: the supervisor is gone, or its record makes no sense.
        """
        record, fds = self._receive()
        if record is None:
            return None
        number, code, slot = _RECORD.unpack(record)
        client = None
        if fds:
            os.set_inheritable(fds[0], False)
            client = socket.socket(fileno=fds[0])
        try:
            return Accepted(number, Port(code & ~_INHERITED), bool(code & _INHERITED), slot), client
        except ValueError as error:
            if client is not None:
                client.close()
            raise BrokenChannel(f"a record that makes no sense: {error}") from error

    def hear(self) -> Report | None:
        """The next report; None if there is none yet.

        Raises:
            BrokenChannel: the front is gone, or its report makes no sense.
        """
        record, fds = self._receive()
        if record is None:
            return None
        for fd in fds:
            os.close(fd)  # a report has none
        number, said, _ = _RECORD.unpack(record)
        try:
            return Report(number, Said(said))
        except ValueError as error:
            raise BrokenChannel(f"a report that makes no sense: {error}") from error

    def _receive(self) -> tuple[bytes | None, list[int]]:
        # A record is sent and received whole, because both ends write and read nothing but whole records; the system
        # joins no descriptor to another record's bytes.
        try:
            record, fds, _, _ = socket.recv_fds(self._socket, _RECORD.size, 1)
        except BlockingIOError:
            return None, []
        except OSError as error:
            raise BrokenChannel(str(error)) from error
        if len(record) != _RECORD.size:
            for fd in fds:
                os.close(fd)
            raise BrokenChannel("the other end closed, or a part of a record")
        return record, fds

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()


def handover_pair() -> tuple[Handover, socket.socket]:
    """The supervisor's end, and the front's end, to be passed to the front."""
    ours, theirs = roomy_pair(_BUFFER_BYTES)
    return Handover(ours), theirs
