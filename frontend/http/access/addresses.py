"""From where a request comes, and at which of this machine's addresses it arrived."""

from __future__ import annotations

import ipaddress

from aiohttp import hdrs, web

_FORWARDED = (hdrs.FORWARDED, hdrs.X_FORWARDED_FOR, "X-Real-IP")
"""What a reverse proxy adds: its own address says nothing about who asks."""


def is_loopback(address: str | None) -> bool:
    """Whether an IP address is this machine's own; false for what is no IP address."""
    found = _parsed(address)
    return found is not None and found.is_loopback


def from_here(request: web.Request) -> bool:
    """The client runs on this machine, as far as can be told: a proxy that hides it can't be."""
    return is_loopback(request.remote) and not any(name in request.headers for name in _FORWARDED)


def arrived_at_loopback(request: web.Request) -> bool:
    """The connection was made to a loopback address, whatever else the server listens on."""
    transport = request.transport
    sockname = transport.get_extra_info("sockname") if transport is not None else None
    return is_loopback(sockname[0] if sockname else None)


def network(address: str | None) -> str:
    """By what a client without a key is counted: its address, or in IPv6 its /64, which one client has whole."""
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
