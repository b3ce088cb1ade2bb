"""GET /metrics: all counts of the server, for Prometheus."""

from __future__ import annotations

from aiohttp import hdrs, web

from frontend.monitoring.metrics import Metrics


class Scrape:
    """The handler of `GET /metrics`."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def get(self, request: web.Request) -> web.Response:
        """The metrics in the text format that the request's `Accept` names."""
        body, content_type = self._metrics.exposition(request.headers.get(hdrs.ACCEPT, ""))
        return web.Response(body=body, headers={hdrs.CONTENT_TYPE: content_type})
