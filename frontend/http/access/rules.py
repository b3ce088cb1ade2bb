"""The three degrees of access that a route can demand where API keys are configured."""

from __future__ import annotations

from enum import Enum


class Access(Enum):
    """The clients that a route answers."""

    OPEN = "open"
    """Everybody: probes that have no key, and public pages."""
    NEAR = "near"
    """Clients on this machine, and others with a key. Open WebUI asks for models and voices without its key."""
    KEY = "key"
    """Clients with a key."""
