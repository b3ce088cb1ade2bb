"""Health probes: `/health` shows that the process is alive, `/ready` that it can speak."""

from __future__ import annotations

from aiohttp import web

from frontend.contract.speaker import Speaker
from frontend.serving.errors import retry_after


class Health:
    """Handlers of `/health` and `/ready`."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    async def alive(self, request: web.Request) -> web.Response:
        """Answer 200 as long as the event loop runs, whatever the engine's state."""
        return web.json_response({"status": "ok"})

    async def test(self, request: web.Request) -> web.Response:
        """Answer as Kokoro-FastAPI does on the path by which wyoming_openai recognises it."""
        return web.json_response({"status": "ok"})

    async def ready(self, request: web.Request) -> web.Response:
        """Answer 200 with the engine in use; or 503 with the reason and the time after which to ask again."""
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
