"""Unix sockets as macOS has them (no abstract names, short paths, no SOCK_SEQPACKET, 8 KiB between two ends), and one
address of loopback only."""

import errno
import os
import socket
from typing import Any

PATH_BYTES = 103
"""`sun_path` has 104, one of them the null at the end."""
BUFFER_BYTES = 8192
"""`net.local.stream.sendspace`."""


def imitate() -> None:
    begin, pair = socket.socket.__init__, socket.socketpair

    def init(self: socket.socket, family: int = -1, type: int = -1, *args: Any, **options: Any) -> None:
        if family == socket.AF_UNIX and type == socket.SOCK_SEQPACKET:
            raise OSError(errno.EPROTONOSUPPORT, os.strerror(errno.EPROTONOSUPPORT))
        begin(self, family, type, *args, **options)

    def small_pair(*args: Any, **options: Any) -> tuple[socket.socket, socket.socket]:
        if socket.SOCK_SEQPACKET in (*args, *options.values()):
            raise OSError(errno.EPROTONOSUPPORT, os.strerror(errno.EPROTONOSUPPORT))
        ends = pair(*args, **options)
        for end in ends:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES // 2)  # Linux doubles it
        return ends

    socket.socket.__init__ = init  # type: ignore[method-assign]
    socket.socketpair = small_pair
    for name in ("bind", "connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, _checked(name))


def _checked(name: str) -> Any:
    original = getattr(socket.socket, name)

    def call(self: socket.socket, *args: Any) -> Any:
        address = args[-1]
        if self.family == socket.AF_UNIX and isinstance(address, (str, bytes)):
            path = os.fsencode(address)
            if path.startswith(b"\0"):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            if len(path) > PATH_BYTES:
                raise OSError("AF_UNIX path too long")
        if self.family == socket.AF_INET and address[0].startswith("127.") and address[0] != "127.0.0.1":
            raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        return original(self, *args)

    return call
