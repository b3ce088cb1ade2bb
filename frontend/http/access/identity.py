"""Who asks, as far as a key tells: set by the gate, for handlers to read."""

from __future__ import annotations

from aiohttp import web

API_KEY = web.RequestKey("API_KEY", str)
"""`request.get(API_KEY, "")`: the digest of the request's key, in hex; absent where no key was needed or sent."""
