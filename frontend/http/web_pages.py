"""Web pages that a client names by their address: fetched from public addresses alone (`--web-pages`)."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

import aiohttp
from yarl import URL

from frontend.contract.errors import ApiError

SECONDS = 20.0
"""Within which a page must be there whole, redirects included."""
MOST_REDIRECTS = 5
PORTS = (80, 443)
_PIECE = 64 * 1024
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
}
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; kokoro-live)", "Accept": ", ".join([*_SUFFIXES, "*/*;q=0.1"])}


def is_public(address: str) -> bool:
    """True if the IP address is anybody's: not this machine's, nor of a private network, nor one that leads into such
    a network by another protocol (mapped, translated or tunnelled IPv4)."""
    found = ip_address(address.partition("%")[0])
    within = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None) or getattr(found, "teredo", None)
    local = getattr(found, "is_site_local", False)
    return found.is_global and not (found.is_multicast or found.is_reserved or local or within)


def _public_socket(found: tuple[Any, ...]) -> socket.socket:
    """A socket for what a name was resolved to; no connection is made without: not to an address that is written in
    digits, after a redirect, or by a name that is resolved otherwise the second time.

    Raises:
        OSError: the address or its port isn't one that may be asked.
    """
    family, kind, protocol, _, (host, port, *_) = found
    if port not in PORTS or not is_public(host):
        raise PermissionError(f"{host} port {port} is not asked for pages")
    return socket.socket(family, kind, protocol)


@asynccontextmanager
async def web_page(address: str, most: int) -> AsyncIterator[tuple[str, AsyncIterator[bytes]]]:
    """Fetch a page: a file name of its kind, and its pieces, of at most `most` bytes together.

    Raises:
        ApiError: it is no address, can't be reached, isn't there, takes too long, or is no text. So do the pieces.
    """
    try:
        url = URL(address)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise _refused("That is no web address: it begins with https:// or http://.")
    connector = aiohttp.TCPConnector(socket_factory=_public_socket, use_dns_cache=False)
    limit = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(
        connector=connector, timeout=limit, headers=_HEADERS, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        try:
            async with session.get(url, max_redirects=MOST_REDIRECTS) as answer:
                if answer.status != 200:
                    raise _refused(f"{url.host} answers {answer.status} {answer.reason or ''}".strip() + ".")
                suffix = _SUFFIXES.get(answer.content_type)
                if suffix is None:
                    raise _refused(f"At that address is no text to read, but {answer.content_type}.")
                yield f"{answer.url.host}{suffix}", _pieces(answer, most)
        except TimeoutError as error:
            raise _late(url) from error
        except aiohttp.ClientError as error:
            raise _refused(f"{url.host} can't be reached; only public addresses are read.") from error


async def _pieces(answer: aiohttp.ClientResponse, most: int) -> AsyncIterator[bytes]:
    received = 0
    try:
        async for piece in answer.content.iter_chunked(_PIECE):
            received += len(piece)
            if received > most:
                raise ApiError(413, f"The page is longer than {most >> 20} MB.", param="address", code="too_long")
            yield piece
    except TimeoutError as error:
        raise _late(answer.url) from error


def _late(url: URL) -> ApiError:
    return _refused(f"{url.host} took over {SECONDS:g} s to send the page.")


def _refused(message: str) -> ApiError:
    return ApiError(400, message, param="address", code="unreadable_page")
