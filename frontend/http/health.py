"""Is the process alive, and can it speak?"""

from __future__ import annotations

from aiohttp import web

from frontend.contract.speaker import Speaker
from frontend.http.errors import retry_after


class Health:
    """`/health` and `/ready`."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    async def alive(self, request: web.Request) -> web.Response:
        """200 as long as the event loop turns, whatever the engine does."""
        return web.json_response({"status": "ok"})

    async def ready(self, request: web.Request) -> web.Response:
        """200 and who speaks, or 503, the reason, and when to ask again."""
        engine = self._speaker.engine
        if engine is None or self._speaker.reason:
            return web.json_response(
                {"ready": False, "reason": self._speaker.reason},
                status=503,
                headers=retry_after(self._speaker.retry_after),
            )
        return web.json_response(
            {"ready": True, "engine": engine.name, "provider": engine.provider, "model": engine.model}
        )
