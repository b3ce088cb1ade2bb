"""Socket activation: the listening socket that systemd opened before it started this program (sd_listen_fds(3))."""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping

FIRST_DESCRIPTOR = 3


class BadActivation(Exception):
    """The passed descriptors aren't a usable listening socket. The message gives the remedy."""


def activated_listener(environment: MutableMapping[str, str], pid: int) -> socket.socket | None:
    """The socket that was passed to this process; None if there is none.

    The activation variables are removed from the environment, so that no child mistakes its own descriptors for
    sockets.

    Raises:
        BadActivation: several were passed, or one that isn't a listening TCP socket. They are closed.
    """
    for_pid = environment.pop("LISTEN_PID", "")
    count = environment.pop("LISTEN_FDS", "")
    names = environment.pop("LISTEN_FDNAMES", "")
    if for_pid != str(pid) or count in ("", "0"):
        return None
    if not count.isdecimal():
        raise BadActivation(f"LISTEN_FDS={count} is no number of sockets.")
    if count != "1":
        for descriptor in range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + int(count)):
            os.close(descriptor)
        raise BadActivation(f"{count} sockets were passed ({names}). Give the .socket unit one ListenStream=.")
    try:
        os.set_inheritable(FIRST_DESCRIPTOR, False)
        listener = socket.socket(fileno=FIRST_DESCRIPTOR)
    except OSError as error:
        raise BadActivation(
            f"descriptor {FIRST_DESCRIPTOR}, which was passed, is no socket: {error.strerror}."
        ) from error
    if not _serves(listener):
        listener.close()
        raise BadActivation(
            f"the socket that was passed ({names}) is no listening TCP socket. Use ListenStream=HOST:PORT."
        )
    listener.setblocking(False)
    return listener


def _serves(listener: socket.socket) -> bool:
    if listener.family not in (socket.AF_INET, socket.AF_INET6) or listener.type != socket.SOCK_STREAM:
        return False
    return listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
