"""The listening sockets. The supervisor holds them, so that no connection is refused while a front is restarted."""

from __future__ import annotations

import ipaddress
import logging
import mmap
import resource
import socket
from dataclasses import dataclass, fields
from typing import Any

BACKLOG = 1024
"""Connections that may wait at a socket for their acceptance."""

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class Listeners:
    """One server's listening TCP sockets; each front inherits them."""

    http: socket.socket
    wyoming: socket.socket | None = None
    """None if the server doesn't answer Wyoming's clients."""
    tls: socket.socket | None = None
    """The one at which the process `tls` accepts; None if the server doesn't answer over TLS."""
    behind_tls: socket.socket | None = None
    """On a loopback address: that process connects to it for each of its clients."""

    def named(self) -> dict[str, socket.socket]:
        """Those that there are, by the names of their fields."""
        return {each.name: found for each in fields(self) if (found := getattr(self, each.name)) is not None}

    def close(self) -> None:
        for listener in self.named().values():
            listener.close()


def own_address(listener: socket.socket) -> tuple[Any, ...]:
    """The address at which processes of this machine reach a listening socket: the loopback address if the socket
    accepts connections on all addresses."""
    host, *rest = listener.getsockname()
    return _LOOPBACK.get(host, host), *rest


_ADDRESS = 16
"""Bytes of an IPv6 address; IPv4's are mapped into those."""


class TlsClients:
    """The addresses of the clients that came by TLS, in shared memory: two at the place of each port from which the
    process `tls` connects to `behind_tls`, the client's own and the one that it connected to. It writes them before it
    connects, and they outlive it and the fronts, as the connections do."""

    BYTES = 2 * _ADDRESS << 16

    def __init__(self, memory: int, behind_tls: socket.socket) -> None:
        """`memory`: descriptor of `BYTES` bytes, which stays the caller's."""
        self._memory = mmap.mmap(memory, self.BYTES)
        self._behind = behind_tls.getsockname()[1]

    def note(self, port: int, client: str, reached: str) -> None:
        """Write the addresses of the client for which a connection from this port is to be made."""
        at = 2 * _ADDRESS * port
        self._memory[at : at + 2 * _ADDRESS] = _packed(client) + _packed(reached)

    def find(self, sockname: Any, peername: Any) -> tuple[str, str] | None:
        """The client's address and the one that it connected to, by the ends of a connection that a front has; None if
        it didn't come by TLS. Both are `::`, which is nobody's, if they aren't known."""
        if not sockname or sockname[1] != self._behind:
            return None
        at = 2 * _ADDRESS * (peername[1] if peername else 0)
        return _written(self._memory[at : at + _ADDRESS]), _written(self._memory[at + _ADDRESS : at + 2 * _ADDRESS])


def _packed(address: str) -> bytes:
    found = ipaddress.ip_address(address.partition("%")[0])
    return found.packed if found.version == 6 else bytes(10) + b"\xff\xff" + found.packed


def _written(packed: bytes) -> str:
    found = ipaddress.IPv6Address(packed)
    return str(found.ipv4_mapped or found)


log = logging.getLogger(__name__)


def allowed_files(needed: int) -> int | None:
    """The number of files that this process may have open; None if there is no limit. Raises the soft limit to
    `needed`, or as far as the hard one allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = _raised(soft, hard, needed)
    return None if soft == resource.RLIM_INFINITY else soft


def _raised(soft: int, hard: int, needed: int) -> int:
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return soft
    target = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    except (OSError, ValueError) as error:  # macOS has a lower limit of its own behind an unlimited one
        log.warning("the limit on open files stays at %d: %s", soft, error)
        return soft
    return target
