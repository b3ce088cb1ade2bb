"""The aiohttp application: routes, and what happens around every request."""

from __future__ import annotations

import asyncio
import logging
import time

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from frontend.contract.speaker import Speaker
from frontend.contract.stages import STAGES, Stages
from frontend.http import request_id
from frontend.http.access.gate import Gate
from frontend.http.catalog import Catalog
from frontend.http.connections.connection import announce_end, attend
from frontend.http.errors import ERROR_CODE, asked, openai_errors
from frontend.http.health import Health
from frontend.http.openapi.handlers import docs, openapi
from frontend.http.page import ROUTES as PAGE
from frontend.http.speech import SpeechHandler
from frontend.monitoring.metrics import UNMATCHED, Metrics
from frontend.monitoring.readings import engine_readings
from frontend.settings.front import FrontSettings

CLIENT_LEFT = 499
"""The status that is logged and counted where the handler was cancelled: the client left, or the server stopped."""

log = logging.getLogger(__name__)


def make_app(speaker: Speaker, settings: FrontSettings, metrics: Metrics) -> web.Application:
    """The HTTP surface over a speaker.

    Run it with `handler_cancellation=True`, so that a client that leaves gives its stream back at once; with
    `auto_decompress=False`, as compressed bodies are refused and a decompression bomb should cost nothing; and with
    `access_log=None`, as each request is logged here.
    """
    gate = Gate(settings)
    app = web.Application(
        client_max_size=settings.max_body_bytes, middlewares=[_observe(metrics), openai_errors, attend, gate.admit]
    )
    app.on_response_prepare.append(_name_response)
    app.on_response_prepare.append(gate.mark)
    app.on_response_prepare.append(announce_end)

    metrics.readings.add(lambda: engine_readings(speaker.engine))

    async def scrape(request: web.Request) -> web.Response:
        body, content_type = metrics.exposition(request.headers.get(hdrs.ACCEPT, ""))
        return web.Response(body=body, headers={hdrs.CONTENT_TYPE: content_type})

    speech = SpeechHandler(speaker, settings, metrics)
    app.on_cleanup.append(speech.close)
    catalog = Catalog(speaker)
    health = Health(speaker)
    for version in ("/v1", ""):
        app.add_routes(
            [
                web.post(f"{version}/audio/speech", speech.post),
                web.get(f"{version}/models", catalog.models),
                web.get(f"{version}/models/{{id:.+}}", catalog.model),
                web.get(f"{version}/audio/models", catalog.audio_models),
                web.get(f"{version}/audio/voices", catalog.voices),
            ]
        )
    app.add_routes(PAGE)
    app.add_routes(
        [
            web.post("/dev/captioned_speech", speech.captioned),
            web.get("/openapi.json", openapi),
            web.get("/docs", docs),
            web.get("/voices", catalog.voices),
            web.get("/health", health.alive),
            web.get("/ready", health.ready),
            web.get("/metrics", scrape),
        ]
    )
    return app


def _observe(metrics: Metrics) -> Middleware:
    """Name, time, count and log each request: one line, without its text."""

    @web.middleware
    async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
        request_id.current.set(request_id.choose(request.headers.get(request_id.HEADER)))
        resource = request.match_info.route.resource
        started = time.monotonic()
        status, code = 500, ""
        try:
            response = await handler(request)
            status, code = response.status, response.get(ERROR_CODE, "")
            return response
        except asyncio.CancelledError:
            status = CLIENT_LEFT
            raise
        finally:
            seconds = time.monotonic() - started
            metrics.request_finished(resource.canonical if resource else UNMATCHED, status, seconds)
            if code == "overloaded":
                metrics.refused()
            if status in (408, 429) or status >= 500:
                metrics.errors.add(request_id.current.get(), code or str(status))
            stages: Stages | None = request.get(STAGES)
            log.info(
                "%s %d %.3f s%s %s",
                asked(request),
                status,
                seconds,
                stages.line(started) if stages else "",
                request_id.current.get(),
                extra=stages.seconds(started) if stages else None,
            )

    return observe


async def _name_response(request: web.Request, response: web.StreamResponse) -> None:
    response.headers[request_id.HEADER] = request_id.current.get()
    response.headers[hdrs.SERVER] = "kokoro-live"
