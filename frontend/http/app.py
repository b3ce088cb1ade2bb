"""The aiohttp application: routes, and the middleware around every request."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from frontend.contract.errors import Unavailable
from frontend.contract.stages import Stages
from frontend.dialects.all import ALL, served
from frontend.dialects.dialect import DIALECTS, error_form_of
from frontend.dialects.socket import SESSIONS, Session, drain
from frontend.http import catalog, clients, documents, library, play, pronunciation, server, texts
from frontend.http.clients import CLIENTS, KnownClients
from frontend.http.documents import add_reading
from frontend.http.jobs import handler as jobs_handler
from frontend.http.jobs.handler import JOBS
from frontend.http.play import FRONT_ENDS, PLAYER
from frontend.http.server import STATUS
from frontend.http.texts import PHONEMIZER, Phonemizer
from frontend.jobs import JobDesk
from frontend.monitoring.metrics import UNMATCHED, Event
from frontend.monitoring.readings import engine_readings
from frontend.monitoring.status_handler import StatusHandler
from frontend.playing.desk import PlayDesk
from frontend.serving.connections import ClientLeft, connection_of, record_of
from frontend.serving.errors import ERROR_CODE, LISTENERS_FIRST, OVERLOADED, asked, errors_in_form
from frontend.serving.gate import KEY_HEADERS, Gate
from frontend.serving.json_body import prepare
from frontend.serving.no_effect import warn
from frontend.serving.record import CONTINUES
from frontend.serving.route import JSON, Route, is_repeatable, mount, route_of
from frontend.serving.sending import RING_SECONDS
from frontend.serving.services import SERVICES, Services
from frontend.settings.front import FrontSettings
from frontend.speech import lexicons
from frontend.speech.accept import vary
from frontend.speech.answer import ANSWERS, STAGES, STARTED, Answers
from shm import request_id

_LINGERING = 0.5
"""Seconds for which the rest of a late body is still read and dropped. A connection that is closed with unread bytes is
reset, and the reset can overtake the answer; aiohttp's own ten seconds are for clients that send a long body first."""


@web.middleware
async def write_whole(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Write the end of each response, and a short response whole, so that its record says that it is.

    An error in the middle of an answer, which a front before this one has begun, can only cut it.
    """
    response = await handler(request)
    record = record_of(request)
    if record is None or request.transport is None or request.transport.is_closing():
        return response
    if record.midway and not response.get(CONTINUES):
        if connection := connection_of(request):
            connection.break_off()
        return response
    short = type(response) is web.Response and isinstance(response.body, bytes | None)
    if short or (response.prepared and not isinstance(response, web.WebSocketResponse)) or response.get(CONTINUES):
        await record.finish(request, response)
    return response


@web.middleware
async def track_request(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Tell the connection that it has a request. One over the limit may read, `/health` say, and not have work done.

    Raises:
        Unavailable: there are too many connections.
    """
    connection = connection_of(request)
    if connection is None:
        return await handler(request)
    connection.began(request, repeatable=is_repeatable(request))
    try:
        if connection.over_limit and request.method not in (hdrs.METH_GET, hdrs.METH_HEAD):
            raise Unavailable("too many connections are open already")
        return await handler(request)
    except ClientLeft:
        raise
    except asyncio.CancelledError:
        connection.cancelled()
        raise
    finally:
        connection.ended()


async def announce_end(request: web.Request, response: web.StreamResponse) -> None:
    """Announce in the header that the connection ends with this response: one over the limit, or one with an unfinished
    body."""
    connection = connection_of(request)
    if connection is not None:
        connection.answers()
    late = response.status == web.HTTPRequestTimeout.status_code
    if late or (connection is not None and connection.over_limit):
        response.force_close()
        response.headers[hdrs.CONNECTION] = "close"
    if late:
        asyncio.get_running_loop().call_later(_LINGERING, _stop_reading, request)


def _stop_reading(request: web.Request) -> None:
    """End the request's body, so that aiohttp closes the connection."""
    if isinstance(request.transport, asyncio.Transport) and not request.content.is_eof():
        request.transport.pause_reading()
        request.content.feed_eof()


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
    player: PlayDesk | None = None,
    jobs: JobDesk | None = None,
    known_clients: KnownClients = lambda *_: (),
    reading: Sequence[str] = (),
) -> web.Application:
    """The HTTP surface over a speaker. A front has all four parts; tests leave out those whose routes they don't ask.

    Run the application with `handler_cancellation=True`, so that a client that leaves gives its stream back at once;
    with `auto_decompress=False`, because compressed bodies are rejected and a decompression bomb should cost nothing;
    and with `access_log=None`, because the application logs each request itself.
    """
    quieten()
    speaker, settings, metrics = services.speaker, services.settings, services.metrics
    gate = Gate(settings, services.bodies, player_key=player.key if player else "")
    app = web.Application(
        client_max_size=settings.max_body_bytes,
        middlewares=[write_whole, _observe(services), errors_in_form(error_form_of), track_request, gate.admit],
    )
    app.on_response_prepare.append(_name_response)
    app.on_response_prepare.append(warn)
    app.on_response_prepare.append(vary)
    app.on_response_prepare.append(gate.mark)
    app.on_response_prepare.append(announce_end)
    metrics.readings.add(lambda: engine_readings(None if speaker.reason else speaker.engine))
    metrics.readings.add(services.open.readings)

    app[SERVICES], app[DIALECTS] = services, ALL
    app[KEY_HEADERS] = [each.key_header for each in ALL if each.key_header]
    app[CLIENTS] = known_clients
    add_reading(app, reading)
    app[RING_SECONDS] = lambda: speaker.ring_seconds
    app[ANSWERS] = answers = Answers(services)
    app.on_cleanup.append(answers.stop_encoders)
    app[SESSIONS] = set[Session]()
    app.on_shutdown.append(drain)
    if phonemizer:
        app[PHONEMIZER] = phonemizer
    if status:
        app[STATUS] = status
    app[FRONT_ENDS] = asyncio.Event()
    app.on_shutdown.append(_end_events)
    if player:
        app[PLAYER] = player
    if jobs:
        app[JOBS] = jobs
        metrics.readings.add(jobs.readings)
    mount(app, routes(settings))
    return app


def routes(settings: FrontSettings) -> list[Route]:
    """All routes: those of the dialects, and the server's own."""
    own = (texts, pronunciation, lexicons, documents, library, play, jobs_handler, catalog, clients, server)
    return [
        *(route for dialect in served(settings) for route in dialect.routes),
        *(route for each in own for route in each.ROUTES),
    ]


def prepare_bodies(settings: FrontSettings) -> None:
    """Make what reads the bodies of requests for speech, before one comes."""
    for route in routes(settings):
        if route.repeatable and route.body_type == JSON:
            prepare(route.body)


async def _end_events(app: web.Application) -> None:
    app[FRONT_ENDS].set()


def _observe(services: Services) -> Middleware:
    """Name, time, count and log each request: one line, without its text."""
    metrics = services.metrics

    @web.middleware
    async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
        record = record_of(request)
        offered = (record.replayed_id if record else None) or request.headers.get(request_id.HEADER)
        request_id.current.set(request_id.choose(offered))
        resource = request.match_info.route.resource
        started = request[STARTED] = time.monotonic()
        status, code = 500, ""
        try:
            response = await handler(request)
            status, code = response.status, response.get(ERROR_CODE, "")
            if resource and status < 400:
                origin = request.headers.get(hdrs.ORIGIN, "")
                program = origin if "-extension://" in origin else request.headers.get(hdrs.USER_AGENT, "")
                services.callers.note(resource.canonical, program)
            return response
        except asyncio.CancelledError:
            status = CLIENT_LEFT
            raise
        finally:
            seconds = time.monotonic() - started
            metrics.request_finished(resource.canonical if resource else UNMATCHED, status, seconds)
            if code == OVERLOADED:
                metrics.count(Event.REFUSED)
            route = route_of(request)
            declared = route is not None and status in route.answers  # /ready says 503 while an engine loads
            if (status in (408, 429) or status >= 500) and code != LISTENERS_FIRST and not declared:
                metrics.errors.add(request_id.current.get(), code or str(status))
            stages: Stages | None = request.get(STAGES)
            log.info(
                "%s %d %.3f s%s %s",
                asked(request),
                status,
                seconds,
                stages.line(started) if stages else "",
                request_id.current.get(),
                extra=stages.report(started) if stages else None,
            )

    return observe


async def _name_response(request: web.Request, response: web.StreamResponse) -> None:
    response.headers[request_id.HEADER] = request_id.current.get()
    response.headers[hdrs.SERVER] = "kokoro-live"
