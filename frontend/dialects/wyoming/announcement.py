"""The announcement of the Wyoming port by DNS-SD over multicast DNS, by which Home Assistant finds it."""

from __future__ import annotations

import ipaddress
import logging
import socket
from itertools import chain

import psutil
from zeroconf import Error as ZeroconfError
from zeroconf import InterfaceChoice
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

SERVICE = "_wyoming._tcp.local."

_LONGEST_NAME = 63
"""Bytes of a DNS label (RFC 1035, section 2.3.4)."""

log = logging.getLogger(__name__)


class Announcement:
    """One listening socket's announcement. A socket on all addresses is announced on all interfaces."""

    def __init__(self, listener: socket.socket) -> None:
        host, self._port = listener.getsockname()[:2]
        self._everywhere = ipaddress.ip_address(host).is_unspecified
        self._addresses = _own_addresses() if self._everywhere else [host]
        self._zeroconf: AsyncZeroconf | None = None

    async def start(self) -> None:
        """Announce the service. A machine that can't is served without: its log has the reason."""
        here = socket.gethostname().partition(".")[0]
        name = f"kokoro-live on {here}".encode()[:_LONGEST_NAME].decode(errors="ignore")
        info = AsyncServiceInfo(SERVICE, f"{name}.{SERVICE}", port=self._port, parsed_addresses=self._addresses)
        try:
            self._zeroconf = AsyncZeroconf(InterfaceChoice.All if self._everywhere else self._addresses)
            # A front announces the service again while its predecessor, which drains, still answers for it.
            await (await self._zeroconf.async_register_service(info, cooperating_responders=True))
        except (ZeroconfError, OSError, RuntimeError) as error:  # RuntimeError: an address that no interface has
            log.error("the Wyoming port isn't announced: %s", error)
        else:
            log.info("the Wyoming port is announced as %r", name)

    async def withdraw(self) -> None:
        """Tell the network that the service ends."""
        if self._zeroconf is not None:
            await self._zeroconf.async_close()


def _own_addresses() -> list[str]:
    """This machine's IPv4 addresses that others may reach."""
    found = (each.address for each in chain(*psutil.net_if_addrs().values()) if each.family == socket.AF_INET)
    return [address for address in found if not ipaddress.ip_address(address).is_loopback]
