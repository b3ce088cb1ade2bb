"""Cross-origin resource sharing (the Fetch standard): decides which browser pages may send requests and read
answers."""

from __future__ import annotations

import re

from aiohttp import hdrs, web

from frontend.contract.errors import ApiError
from frontend.settings.pages import Origins

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
