"""What answers without a key, where keys are demanded. Whatever is not named here wants one."""

from __future__ import annotations

from enum import Enum

from aiohttp import hdrs


class Wants(Enum):
    """Who is answered."""

    NOTHING = "nothing"
    """Everybody: probes that have no key, and what is published anyway."""
    NEARNESS = "nearness"
    """Clients on this machine, and others with a key."""
    KEY = "key"
    """Whoever has a key."""


_OPEN = frozenset({"/health", "/ready", "/docs", "/openapi.json", "/", "/static/{name}", "/favicon.ico"})

_NEAR = frozenset(
    {"/models", "/models/{id}", "/audio/models", "/audio/voices", "/voices", "/metrics", "/status"},
)
"""Open WebUI asks for models and voices without the key that it was given."""


def wants(method: str, template: str) -> Wants:
    """What a request for a route, by its template, has to have."""
    path = template.removeprefix("/v1")
    if method in (hdrs.METH_GET, hdrs.METH_HEAD):
        if path in _OPEN:
            return Wants.NOTHING
        if path in _NEAR:
            return Wants.NEARNESS
    return Wants.KEY
