"""The host names under which clients may address the server: the guard against DNS rebinding.

A web page whose own name is made to point at 127.0.0.1 has the same origin as this server to its browser. The page
can't change the `Host` that the browser sends: the page's own name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

LOCAL_NAMES = frozenset({"localhost", "host.docker.internal", "host.containers.internal"})
"""Names that nobody can point elsewhere: RFC 6761's, and those by which containers reach their host's loopback
(`.internal` is reserved, so no page can have such a name)."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:\[\]/@?#*,]+)(?::[0-9]{0,5})?")


class Hosts:
    """The allowed host names, each without its port."""

    def __init__(self, allowed: Iterable[str]) -> None:
        """
        Raises:
            ValueError: something that is no name.
        """
        self._allowed = frozenset(_named(name) for name in allowed)

    def admits(self, host: str | None, *, at_loopback: bool) -> bool:
        """True for a request whose `Host` header names this server.

        A request at a loopback address must name one of `LOCAL_NAMES`, a loopback address or an allowed name. At other
        addresses, where the machine's names aren't known, any name is admitted, unless some are allowed: then only
        those, and addresses, which no page has as its name. No browser leaves the header out.
        """
        if host is None:
            return True
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match["name"].strip("[]").removesuffix(".")
        if name in self._allowed or name in LOCAL_NAMES or name.endswith(".localhost"):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return not at_loopback and not self._allowed
        return not at_loopback or address.is_loopback


def _named(name: str) -> str:
    match = _HOST.fullmatch(name.lower())
    if match is None or match["name"] != name.lower():
        raise ValueError(f"allowed_hosts: {name!r} is no host; give names without a port, such as tts.example.com")
    return match["name"].strip("[]").removesuffix(".")
