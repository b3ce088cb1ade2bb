"""The text of a file or of a web page: a process of its own reads it, because it can be anything.

A web page is named by its address and fetched from public addresses alone (`--web-pages`).
"""

from __future__ import annotations

import asyncio
import socket
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Annotated, Any, Literal

import aiohttp
import msgspec
from aiohttp import web
from msgspec import Meta
from yarl import URL

from frontend.contract.errors import ApiError, Unavailable
from frontend.serving.json_body import read_query
from frontend.serving.route import JSON, Access, Routes, json_answer
from frontend.serving.services import SERVICES

PAGE_SECONDS = 20.0
"""Within which a page must be there whole, redirects included."""
MOST_REDIRECTS = 5
PORTS = (80, 443)
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
    limit = aiohttp.ClientTimeout(total=PAGE_SECONDS)
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
    return _refused(f"{url.host} took over {PAGE_SECONDS:g} s to send the page.")


def _refused(message: str) -> ApiError:
    return ApiError(400, message, param="address", code="unreadable_page")


_MOST_BYTES = 100 << 20
_PIECE = 256 * 1024
_SECONDS = 90.0
"""Seconds within which a file must have been read; its process has less processor time."""
_AT_ONCE = 2


class Paragraph(msgspec.Struct):
    kind: Literal["chapter", "h", "p", "li", "quote", "verse"]
    """`chapter` is the heading with which a chapter begins."""
    text: str


class DocumentText(msgspec.Struct):
    """A file's text, as it is to be read aloud."""

    title: str
    author: str
    language: Annotated[str, Meta(description="A BCP 47 tag, or empty.")]
    cover: Annotated[str, Meta(description="A data URL of the book's JPEG or PNG, or empty.")]
    paragraphs: list[Paragraph]


class DocumentQuery(msgspec.Struct):
    """The query of a file's text."""

    name: Annotated[
        str, Meta(max_length=255, description="The file's name: it tells Markdown and web pages from plain text.")
    ] = "text.txt"
    address: Annotated[
        str,
        Meta(
            max_length=2048,
            description="A web page that the server fetches, in place of a body; `--web-pages` allows it, and only "
            "public addresses are asked.",
        ),
    ] = ""


File = Annotated[str, Meta(extra_json_schema={"format": "binary"})]

READING: web.AppKey[Sequence[str]] = web.AppKey("READING")
"""The command that reads a file from its standard input; the file's name follows it."""
PLACES: web.AppKey[asyncio.Semaphore] = web.AppKey("PLACES", asyncio.Semaphore)
ROUTES = Routes()


def add_reading(app: web.Application, command: Sequence[str]) -> None:
    """Have files read by that command."""
    app[READING] = command
    app[PLACES] = asyncio.Semaphore(_AT_ONCE)


@ROUTES.add(
    "post",
    "/v1/documents",
    Access.KEY,
    "Speech",
    json_answer("Its text, without what isn't to be read.", DocumentText),
    errors=(400, 403, 408, 413, 415, 429, 503),
    body=File,
    example="# A title\n\nA text.",
    body_type="application/octet-stream",
    query=DocumentQuery,
    streams_body=True,
    repeatable=True,
)
async def document(request: web.Request) -> web.Response:
    """Read a file: EPUB, PDF, Word, OpenDocument, captions, Markdown, a web page or text.

    Nothing of it is kept.
    """
    query = read_query(request.query, DocumentQuery)
    if request.app[PLACES].locked():
        raise Unavailable("other files are being read already", 2.0)
    async with request.app[PLACES], _page(request, query) if query.address else _body(request, query) as (name, pieces):
        shown = name.encode(errors="replace").decode().replace("\0", "") or "text.txt"
        process = await asyncio.create_subprocess_exec(*request.app[READING], shown, stdin=PIPE, stdout=PIPE)
        try:
            async with asyncio.timeout(_SECONDS):
                return await _read(pieces, process)
        except TimeoutError as error:
            raise ApiError(400, "The file takes too long to read.", code="unreadable_file") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


_Source = AsyncIterator[tuple[str, AsyncIterator[bytes]]]


@asynccontextmanager
async def _page(request: web.Request, query: DocumentQuery) -> _Source:
    if not request.app[SERVICES].settings.web_pages:
        message = "This server fetches no web pages: start it with --web-pages, or paste the page's text."
        raise ApiError(403, message, param="address", code="web_pages_off")
    async with web_page(query.address, _MOST_BYTES) as found:
        yield found


@asynccontextmanager
async def _body(request: web.Request, query: DocumentQuery) -> _Source:
    if request.content_type.startswith("multipart/"):
        message = "The body is the file itself (curl --data-binary @FILE), not a form."
        raise ApiError(415, message, code="unsupported_media_type")
    if (request.content_length or 0) > _MOST_BYTES:
        raise _too_long()
    yield query.name, _sent(request)


async def _sent(request: web.Request) -> AsyncIterator[bytes]:
    """Pieces of the request's body.

    Raises:
        TimeoutError: none came in time.
        ApiError: the body is too long.
    """
    received = 0
    while True:
        async with asyncio.timeout(request.app[SERVICES].settings.body_timeout):
            piece = await request.content.read(_PIECE)
        if not piece:
            return
        received += len(piece)
        if received > _MOST_BYTES:
            raise _too_long()
        yield piece


async def _read(pieces: AsyncIterator[bytes], process: asyncio.subprocess.Process) -> web.Response:
    assert process.stdin and process.stdout
    try:
        async for piece in pieces:
            process.stdin.write(piece)
            await process.stdin.drain()
        process.stdin.close()
    except (BrokenPipeError, ConnectionResetError):
        pass  # it has ended, and its status says why
    answer = await process.stdout.read()
    match await process.wait():
        case 0:
            return web.Response(body=answer, content_type=JSON)
        case 2:
            raise ApiError(400, answer.decode(errors="replace"), param="file", code="unreadable_file")
    raise ApiError(400, "The file can't be read: it is damaged.", param="file", code="unreadable_file")


def _too_long() -> ApiError:
    return ApiError(413, f"The file is longer than {_MOST_BYTES >> 20} MB.", code="too_long")
