"""The service whose client asks, by the header in which its clients send their key or their version."""

from __future__ import annotations

from typing import Literal

from aiohttp import hdrs, web

Service = Literal["elevenlabs", "cartesia", "deepgram", "openai"]


def service_of(request: web.Request) -> Service:
    """The service; OpenAI's for a client that can't be told from others."""
    if "xi-api-key" in request.headers:
        return "elevenlabs"
    if "Cartesia-Version" in request.headers:
        return "cartesia"
    if request.headers.get(hdrs.AUTHORIZATION, "").lower().startswith("token "):
        return "deepgram"
    return "openai"
