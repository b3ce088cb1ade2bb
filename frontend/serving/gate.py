"""The gate that every request passes before its handler. It checks, in this order:

1. Its `Host` is one of ours (DNS rebinding).
2. If a browser sent it, the page may ask (CORS, cross-site requests).
3. It has a key, where one is demanded.
4. Its client hasn't made too many of late.
5. Its body is whole, and not too long.

Nothing of a body is read before the first four.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from frontend.contract.errors import ApiError
from frontend.serving.errors import retry_after
from frontend.serving.route import KEY_PARAMETER, Access, route_of
from frontend.serving.services import BodyMemory
from frontend.settings.access import ApiKeys, Hosts, Origins
from frontend.settings.front import FrontSettings

EXPOSED = (
    "X-Request-Id, X-Engine, X-Sample-Rate, X-Cache, X-Speakable, X-Primed-Silence, X-Warning, X-Download-Path, "
    "Retry-After, retry-after-ms"
)
"""The server's own headers that a page may read; headers that every page may read anyway are not listed."""

USUAL = "Authorization, Content-Type, X-Session, X-Request-Id, Cache-Control"

REMEMBERED = 600
"""Seconds for which a browser may cache a preflight's answer."""

_HEADER_NAMES = re.compile(r"[A-Za-z0-9-]+(?:\s*,\s*[A-Za-z0-9-]+)*")

_PAGE = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
"""The origin in a `Referer`."""


class Cors:
    """Answers preflights, refuses pages that aren't trusted, and marks the answers that the others may read."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins

    def refuse_strangers(self, request: web.Request, *, works: bool = False) -> None:
        """Refuse a request that a web page of another site makes its browser send.

        A page may send a POST without a preflight, as plain text say, and the server would read the JSON in it. A
        page's `GET` of a list is harmless, because the page can't read the answer. A WebSocket begins with a `GET`, and
        its answer can be read.

        Args:
            works: the route makes work on a GET. A page can send such a GET without an `Origin`, by the address of an
                image or a sound; its browser then says so in `Sec-Fetch-Site`, and an older one (Safari before 16.4)
                only names the page in `Referer`, unless the page forbids that.

        Raises:
            ApiError: 403, the request comes from a page that is not trusted.
        """
        origin = request.headers.get(hdrs.ORIGIN)
        if works and origin is None and self._by_a_stranger(request):
            message = "Pages of other sites may not use this server: --cors-origins says which may."
            raise ApiError(403, message, code="origin_not_allowed")
        if origin is None or self._origins.trusts(origin, request.headers.get(hdrs.HOST)):
            return
        if request.method in (hdrs.METH_GET, hdrs.METH_HEAD) and hdrs.UPGRADE not in request.headers and not works:
            return
        raise ApiError(
            403,
            f"Pages of {origin[:100]} may not use this server: --cors-origins says which may.",
            code="origin_not_allowed",
        )

    def _by_a_stranger(self, request: web.Request) -> bool:
        """True if a browser says that a page of another site makes it send a request without an `Origin`."""
        site = request.headers.get("Sec-Fetch-Site")
        page = _PAGE.match(request.headers.get(hdrs.REFERER, ""))
        if site is None and page is not None:
            return not self._origins.trusts(page[0], request.headers.get(hdrs.HOST))
        return site in ("cross-site", "same-site")

    def preflight(self, request: web.Request) -> web.Response | None:
        """The answer to a preflight request; None for every other request, or for a path that has no route."""
        headers = request.headers
        if request.method != hdrs.METH_OPTIONS or not {hdrs.ORIGIN, hdrs.ACCESS_CONTROL_REQUEST_METHOD} <= {*headers}:
            return None
        missing = request.match_info.http_exception
        if not isinstance(missing, web.HTTPMethodNotAllowed):
            return None
        wanted = headers.get(hdrs.ACCESS_CONTROL_REQUEST_HEADERS, "")
        answer: dict[str, str] = {
            hdrs.ACCESS_CONTROL_ALLOW_METHODS: ", ".join(sorted(missing.allowed_methods)),
            # A trusted page may send any header. OpenAI's SDK has a dozen of its own, X-Stainless-*.
            hdrs.ACCESS_CONTROL_ALLOW_HEADERS: wanted if _HEADER_NAMES.fullmatch(wanted) else USUAL,
            hdrs.ACCESS_CONTROL_MAX_AGE: str(REMEMBERED),
            hdrs.VARY: f"{hdrs.ACCESS_CONTROL_REQUEST_METHOD}, {hdrs.ACCESS_CONTROL_REQUEST_HEADERS}",
        }
        if headers.get("Access-Control-Request-Private-Network") == "true":
            answer["Access-Control-Allow-Private-Network"] = "true"
        return web.Response(status=204, headers=answer)

    async def mark(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add the CORS headers before a response's header is sent, whatever the response is."""
        headers = response.headers
        headers[hdrs.VARY] = ", ".join(filter(None, (headers.get(hdrs.VARY), hdrs.ORIGIN)))
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is not None and self._origins.shares(origin):
            headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
            headers[hdrs.ACCESS_CONTROL_EXPOSE_HEADERS] = EXPOSED


API_KEY = web.RequestKey("API_KEY", str)
"""`request.get(API_KEY, "")`: the digest of the request's key, in hex; absent where no key was needed or sent."""

KEY_DUE: web.RequestKey[Callable[[str], bool]] = web.RequestKey("KEY_DUE")
"""`request.get(KEY_DUE)`: present on a socket that was opened without a key, which its first message must have. It
tells if a key is one of the server's."""

# The origin of a request's connection, and the address of this machine at which it arrived.

_FORWARDED = (hdrs.FORWARDED, hdrs.X_FORWARDED_FOR, "X-Real-IP")
"""Headers that a reverse proxy adds. The connection's own address then says nothing about the client's."""


def is_loopback(address: str | None) -> bool:
    """True for an IP address of this machine; false for any other, and for text that is no IP address."""
    found = _parsed(address)
    return found is not None and found.is_loopback


def from_here(request: web.Request) -> bool:
    """True if the client runs on this machine, as far as can be told: a proxy that hides the client can't be
    detected."""
    return is_loopback(request.remote) and not any(name in request.headers for name in _FORWARDED)


def arrived_at_loopback(request: web.Request) -> bool:
    """True if the connection was made to a loopback address, whatever other addresses the server listens on."""
    transport = request.transport
    sockname = transport.get_extra_info("sockname") if transport is not None else None
    return is_loopback(sockname[0] if sockname else None)


def network(address: str | None) -> str:
    """The address by which a client without a key is counted: in IPv6 its /64, because one client has all of it."""
    found = _parsed(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def _parsed(address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found


# The rate limit: a token bucket for each client, in a table of bounded length.

CLIENTS = 4096
"""Most clients that are remembered. A forgotten client starts with a full bucket."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    seen: float


class RateLimit:
    """A client may make `per_minute` requests at once, and from then on one each `60 / per_minute` seconds."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        """`clock` is monotonic, in seconds."""
        self._capacity = float(per_minute)
        self._rate = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str | bytes, _Bucket] = OrderedDict()
        """Buckets by client; the client whose last request is oldest comes first."""

    def take(self, client: str | bytes) -> float:
        """Count a request. Returns 0 if it is allowed; else it isn't counted, and is allowed after the returned
        seconds."""
        now = self._clock()
        bucket = self._buckets.setdefault(client, _Bucket(self._capacity, now))
        self._buckets.move_to_end(client)
        if len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(bucket.tokens + (now - bucket.seen) * self._rate, self._capacity)
        bucket.seen = now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / self._rate
        bucket.tokens -= 1
        return 0.0


_SCHEMES = ("bearer ", "token ")

KEY_HEADERS: web.AppKey[Sequence[str]] = web.AppKey("KEY_HEADERS")
"""Headers besides `Authorization` in which clients of other services send their keys."""


class Gate:
    """The gate: give `admit` to the application as its innermost middleware, and `mark` as a signal of its
    responses."""

    def __init__(self, settings: FrontSettings, memory: BodyMemory, player_key: str) -> None:
        """
        Args:
            memory: the memory that this server's bodies of all protocols share.
            player_key: the key of the server's own processes, which are always admitted, and not counted.
        """
        self._hosts = Hosts(settings.allowed_hosts)
        self._cors = Cors(Origins(settings.cors_origins))
        self._keys = ApiKeys(settings.api_keys, settings.api_key_file, player_key)
        self._limit = RateLimit(settings.requests_per_minute, time.monotonic) if settings.requests_per_minute else None
        self._longest_body = settings.max_body_bytes
        self._body_timeout = settings.body_timeout
        self._memory = memory
        self.mark = self._cors.mark

    @web.middleware
    async def admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Admit or refuse the request. A path that no route has demands a key.

        Raises:
            ApiError, Unavailable: the request is refused.
        """
        self._check_host(request)
        preflight = self._cors.preflight(request)
        route = route_of(request)
        access = route.access if route else Access.KEY
        self._cors.refuse_strangers(request, works=access in (Access.LOCAL, Access.HERE))
        if preflight is not None:
            return preflight
        key = self._check_key(request, access)
        if key is not None:
            request[API_KEY] = key.hex()
        self._count(request, key, access)
        if route and route.streams_body:
            _check_encoding(request)
        else:
            await self._read_body(request)
        return await handler(request)

    def _check_host(self, request: web.Request) -> None:
        host = request.headers.get(hdrs.HOST)
        at_loopback = arrived_at_loopback(request)
        admitted = self._hosts.admits(host, at_loopback=at_loopback)
        if admitted and host is not None:
            # A target in absolute form (GET http://evil.example/ HTTP/1.1) wins over the header (RFC 9112, 3.2.2).
            admitted = self._hosts.admits(_authority(request, host), at_loopback=at_loopback)
        if not admitted:
            message = "This server is not asked for under that Host: use localhost, or name it with --allowed-hosts."
            raise ApiError(403, message, code="host_not_allowed")

    def _check_key(self, request: web.Request, access: Access) -> bytes | None:
        """The digest of the request's key; None if the request has no key and needs none."""
        offered = offered_key(request)
        key = self._keys.match(offered) if offered else None
        if key is not None:
            return key
        if not self._keys.demanded:
            if access in (Access.LOCAL, Access.HERE) and not from_here(request):
                message = "From other machines this needs an API key: start the server with --api-key-file."
                raise ApiError(403, message, code="api_key_not_configured")
            return None
        if access is Access.OPEN or (access is Access.NEAR and from_here(request)):
            return None
        if access is Access.SOCKET and not offered and hdrs.UPGRADE in request.headers:
            request[KEY_DUE] = lambda key: self._keys.match(key) is not None
            return None
        if offered:
            raise _unauthorized("That API key is none of this server's.", "invalid_api_key", ', error="invalid_token"')
        raise _unauthorized("An API key is needed: send it as Authorization: Bearer KEY.", "missing_api_key", "")

    def _count(self, request: web.Request, key: bytes | None, access: Access) -> None:
        """Count the request against its client's rate, unless it only reads and opens no socket: reading costs next to
        nothing, and probes must always be answered."""
        looks = request.method in (hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS) and access is not Access.LOCAL
        looks = looks and hdrs.UPGRADE not in request.headers
        if self._limit is None or looks or (key is not None and key == self._keys.own):
            return
        wait = self._limit.take(key if key is not None else network(request.remote))
        if wait:
            raise ApiError(
                429,
                f"That was too many requests; the next one is taken in {wait:.1f} seconds.",
                code="rate_limit_exceeded",
                headers=retry_after(wait) | {"retry-after-ms": str(math.ceil(wait * 1000))},
            )

    async def _read_body(self, request: web.Request) -> None:
        """Read the body, so that `request.read()` in the handler returns at once. One that announces no length takes as
        much memory as the longest body.

        Raises:
            ApiError: 408, 413 or 415.
            Unavailable: the bodies being read leave no room for this one.
        """
        if not request.can_read_body:
            return
        _check_encoding(request)
        longest = self._longest_body
        length = longest if request.content_length is None else request.content_length
        if length > longest:
            raise self._too_long()
        try:
            with self._memory.reading(length):
                async with asyncio.timeout(self._body_timeout):
                    await request.read()
        except TimeoutError as error:
            message = f"The body was not there whole after {self._body_timeout:g} seconds: send it again."
            raise ApiError(408, message, code="request_timeout") from error
        except web.HTTPRequestEntityTooLarge as error:
            raise self._too_long() from error

    def _too_long(self) -> ApiError:
        message = f"The body is longer than {self._longest_body} bytes. Split the text over several requests."
        return ApiError(413, message, code="request_too_large")


def _check_encoding(request: web.Request) -> None:
    if request.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
        raise ApiError(415, "A compressed body is not taken: send it plain.", code="unsupported_encoding")


def _authority(request: web.Request, host: str) -> str:
    """Host and port of the request's URL; `host` if that makes none, as with the port 99999."""
    try:
        return request.url.authority
    except ValueError:
        return host


def offered_key(request: web.Request) -> str:
    """The key in the request's headers, or else in its address; empty if there is none."""
    authorization = request.headers.get(hdrs.AUTHORIZATION, "")
    for scheme in _SCHEMES:
        if authorization.lower().startswith(scheme):
            return authorization[len(scheme) :].strip()
    named = (request.headers[name].strip() for name in request.app[KEY_HEADERS] if name in request.headers)
    return next(named, request.query.get(KEY_PARAMETER, ""))


def _unauthorized(message: str, code: str, detail: str) -> ApiError:
    return ApiError(401, message, code=code, headers={hdrs.WWW_AUTHENTICATE: f'Bearer realm="kokoro-live"{detail}'})
