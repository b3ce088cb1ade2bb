"""The client's identity by its API key: set by the gate, read by handlers."""

from __future__ import annotations

from aiohttp import web

API_KEY = web.RequestKey("API_KEY", str)
"""`request.get(API_KEY, "")`: the digest of the request's key, in hex; absent where no key was needed or sent."""
