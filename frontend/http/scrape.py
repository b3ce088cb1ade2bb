"""GET /metrics: all counts of the server, for Prometheus."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web

from frontend.monitoring.metrics import Metrics


class Scrape:
    """The handler of `GET /metrics`."""

    def __init__(self, metrics: Metrics, refresh: Callable[[], Awaitable[None]] | None = None) -> None:
        """`refresh` is awaited before each answer: figures that can't be read without waiting."""
        self._metrics = metrics
        self._refresh = refresh

    async def get(self, request: web.Request) -> web.Response:
        """The metrics in the text format that the request's `Accept` names."""
        if self._refresh:
            await self._refresh()
        body, content_type = self._metrics.exposition(request.headers.get(hdrs.ACCEPT, ""))
        return web.Response(body=body, headers={hdrs.CONTENT_TYPE: content_type})
