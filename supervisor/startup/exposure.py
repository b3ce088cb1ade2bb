"""The check that a server which other machines can reach has a key, or is open on purpose."""

from __future__ import annotations

import ipaddress

from frontend.settings.keys import read_keys
from supervisor.settings.composition import Settings


def assert_wanted(address: str, settings: Settings) -> None:
    """Check an address; `address` is the IP address on which the server listens.

    Raises:
        ValueError: others can reach it without a key, or the file of keys can't be used. The message says what to do.
    """
    front = settings.front
    if front.api_key_file is not None:
        read_keys(front.api_key_file)
    allowed = front.api_keys or front.api_key_file or settings.supervisor.allow_unauthenticated
    if not allowed and not ipaddress.ip_address(address).is_loopback:
        raise ValueError(
            f"whoever can reach {address} could use this server, as it has no API key. Give it one (--api-key-file or "
            "KOKORO_LIVE_API_KEYS), listen on 127.0.0.1, or say --allow-unauthenticated."
        )
