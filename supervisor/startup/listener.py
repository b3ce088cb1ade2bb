"""The listening socket, opened here or passed by systemd (sd_listen_fds(3)). The supervisor holds it, so that no
connection is refused while a front is being restarted."""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping
from typing import Any

from shm.listeners import BACKLOG


class PortTaken(Exception):
    """The address can't be listened on. The message gives the address, the cause and the remedy."""


def listen(host: str, port: int, flag: str = "--port") -> socket.socket:
    """A listening TCP socket; port 0 takes any free one. `flag`: the option that chooses the port.

    Raises:
        PortTaken: another program listens there, or this machine doesn't have the address.
    """
    family, kind, protocol, _, address = resolved(host, port, flag)
    try:
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise _taken(host, port, flag, error) from error
    listener.setblocking(False)
    return listener


def resolved(host: str, port: int, flag: str = "--port") -> tuple[int, int, int, str, tuple[Any, ...]]:
    """The first address of `getaddrinfo` for a listening socket.

    Raises:
        PortTaken: there is none.
    """
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, ValueError) as error:  # ValueError: a label that is too long, or a NUL
        raise _taken(host, port, flag, error) from error


def _taken(host: str, port: int, flag: str, error: Exception) -> PortTaken:
    reason = getattr(error, "strerror", None) or error
    return PortTaken(
        f"can't listen on {host}:{port}: {reason}. Stop what listens there, or choose another with {flag}."
    )


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
