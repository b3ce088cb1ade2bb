"""The origin of a request's connection, and the address of this machine at which it arrived."""

from __future__ import annotations

import ipaddress

from aiohttp import hdrs, web

_FORWARDED = (hdrs.FORWARDED, hdrs.X_FORWARDED_FOR, "X-Real-IP")
"""Headers that a reverse proxy adds. The connection's own address then says nothing about the client's."""


def is_loopback(address: str | None) -> bool:
    """True for an IP address of this machine; false for any other, and for text that is no IP address."""
    found = _parsed(address)
    return found is not None and found.is_loopback


def from_here(request: web.Request) -> bool:
    """True if the client runs on this machine, as far as can be told: a proxy that hides the client can't be
    detected."""
    return is_loopback(request.remote) and not any(name in request.headers for name in _FORWARDED)


def arrived_at_loopback(request: web.Request) -> bool:
    """True if the connection was made to a loopback address, whatever other addresses the server listens on."""
    transport = request.transport
    sockname = transport.get_extra_info("sockname") if transport is not None else None
    return is_loopback(sockname[0] if sockname else None)


def network(address: str | None) -> str:
    """The address by which a client without a key is counted: in IPv6 its /64, because one client has all of it."""
    found = _parsed(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def _parsed(address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found
