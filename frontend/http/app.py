"""The aiohttp application: routes, and the middleware around every request."""

from __future__ import annotations

import asyncio
import logging
import time

from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from frontend.contexts.services import Services
from frontend.contract.player import PlayerControl
from frontend.contract.stages import STAGES, STARTED, Stages
from frontend.dialects.handlers import Dialects
from frontend.http.catalog import Catalog
from frontend.http.description import Description
from frontend.http.health import Health
from frontend.http.jobs.handler import JobsHandler
from frontend.http.openapi.document import build
from frontend.http.openapi.page import render
from frontend.http.phonemize import Phonemizer
from frontend.http.play import PlayHandler
from frontend.http.routes.route import Handlers
from frontend.http.routes.table import ROUTES, access_of, error_form_of, mount, query_of, streams_body
from frontend.http.scrape import Scrape
from frontend.http.sentences import SentenceDivision
from frontend.http.speech import SpeechHandler
from frontend.http.ssml_translation import SsmlTranslation
from frontend.jobs.desk import JobDesk
from frontend.monitoring.metrics import UNMATCHED, Event, Metrics
from frontend.monitoring.readings import engine_readings
from frontend.monitoring.status_handler import StatusHandler
from frontend.serving.access.bodies import Bodies
from frontend.serving.access.gate import Gate
from frontend.serving.connections.connection import announce_end, attend
from frontend.serving.errors import ERROR_CODE, LISTENERS_FIRST, OVERLOADED, asked, errors_in_form, openai_errors
from frontend.serving.sent_ahead import RING_SECONDS
from frontend.serving.warning import warn
from frontend.speech.answer import Answers
from shm import request_id

# The log of aiohttp's own protocol, in which anybody who sends nonsense could otherwise write pages.

PROTOCOL_LOG = logging.getLogger("aiohttp.server")
"""The logger that aiohttp's server uses."""


class _MalformedRequests(logging.Filter):
    """Makes one line at debug level of each malformed request: a traceback at error level would tell nothing more, and
    a port scanner would fill the disk."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if not isinstance(error, HttpProcessingError):
            return True
        if not PROTOCOL_LOG.isEnabledFor(logging.DEBUG):
            return False
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        record.msg, record.args = "a malformed request: %a", (" ".join(error.message.split())[:100],)
        record.exc_info = record.exc_text = None
        return True


def quieten() -> None:
    """Let malformed requests cost one line at debug level. Idempotent."""
    if not any(isinstance(each, _MalformedRequests) for each in PROTOCOL_LOG.filters):
        PROTOCOL_LOG.addFilter(_MalformedRequests())


CLIENT_LEFT = 499
"""Status that is logged and counted for a cancelled handler: the client left, or the server stopped."""

log = logging.getLogger(__name__)


def make_app(
    services: Services,
    phonemizer: Phonemizer | None = None,
    status: StatusHandler | None = None,
    player: PlayerControl | None = None,
    jobs: JobDesk | None = None,
) -> web.Application:
    """The HTTP surface over a speaker. Without a phonemizer, a status, a player or jobs, their routes are missing.

    Run the application with `handler_cancellation=True`, so that a client that leaves gives its stream back at once;
    with `auto_decompress=False`, because compressed bodies are rejected and a decompression bomb should cost nothing;
    and with `access_log=None`, because the application logs each request itself.
    """
    quieten()
    speaker, settings, metrics = services.speaker, services.settings, services.metrics
    bodies = Bodies(settings, services.bodies)
    gate = Gate(settings, access_of, bodies, player_key=player.key if player else "", streams_body=streams_body)
    app = web.Application(
        client_max_size=settings.max_body_bytes,
        middlewares=[_observe(metrics), errors_in_form(error_form_of), openai_errors, attend, gate.admit],
    )
    app.on_response_prepare.append(_name_response)
    app.on_response_prepare.append(warn(query_of))
    app.on_response_prepare.append(gate.mark)
    app.on_response_prepare.append(announce_end)

    app[RING_SECONDS] = lambda: speaker.ring_seconds
    metrics.readings.add(lambda: engine_readings(None if speaker.reason else speaker.engine))

    metrics.readings.add(services.open.readings)
    answers = Answers(services)
    speech, dialects = SpeechHandler(answers, settings.max_input_characters), Dialects(services, answers)
    app.on_shutdown.append(dialects.drain)
    app.on_cleanup.append(answers.close)
    description = Description(lambda: build(ROUTES), render)
    play = PlayHandler(player, speaker, settings) if player else None
    if play:
        app.on_shutdown.append(play.close)
    making = JobsHandler(jobs, speaker, settings) if jobs else None
    if jobs:
        metrics.readings.add(jobs.readings)
    limit = settings.max_input_characters
    handlers = Handlers(
        speech=speech,
        downloads=answers.downloads,
        catalog=Catalog(speaker),
        health=Health(speaker),
        scrape=Scrape(metrics, jobs.refresh if jobs else None),
        description=description,
        translation=SsmlTranslation(limit, services.in_flight),
        sentences=SentenceDivision(speaker, limit, services.in_flight),
        phonemizer=phonemizer,
        status=status,
        play=play,
        dialects=dialects,
        jobs=making,
    )
    mount(app, handlers)
    return app


def _observe(metrics: Metrics) -> Middleware:
    """Name, time, count and log each request: one line, without its text."""

    @web.middleware
    async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
        request_id.current.set(request_id.choose(request.headers.get(request_id.HEADER)))
        resource = request.match_info.route.resource
        started = request[STARTED] = time.monotonic()
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
            if code == OVERLOADED:
                metrics.count(Event.REFUSED)
            if (status in (408, 429) or status >= 500) and code != LISTENERS_FIRST:
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
