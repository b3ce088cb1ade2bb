"""The text of a file or of a web page: a process of its own reads it, because it can be anything."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError, Unavailable
from frontend.http.web_pages import web_page
from frontend.serving.json_body import read_query
from frontend.serving.route import JSON, Access, Routes, json_answer
from frontend.serving.services import SERVICES

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
