"""The page's library on the server: texts with their places and bookmarks, for all devices that have the same key.

```
library/DIGEST/           for its owner alone
               ID.json    a text as its page sent it; the file's time is the text's own
```

DIGEST is of the key, so that two keys' libraries have nothing in common. The pages put two versions of a text together.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError, Unavailable
from frontend.serving.gate import API_KEY
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.route import JSON, WITH_BODY, Access, Routes, json_answer
from shm.atomic import write_whole
from shm.folders import state_folder

MOST = 200
"""Texts of a key; of more, the oldest go."""

_LATEST = 1 << 43
"""The latest time that a file of nanoseconds in 64 bits can have, in ms since 1970."""

Result = TypeVar("Result")
At = Annotated[int, Meta(ge=0, le=_LATEST, description="When it was read or changed, in ms since 1970.")]
ROUTES = Routes()


class LibraryParagraph(msgspec.Struct):
    kind: Annotated[str, Meta(description="As `/v1/documents` names it.")]
    text: Annotated[str, Meta(description="Its words.")]


class LibraryText(msgspec.Struct):
    """A text that was read. Other fields are kept as they are."""

    id: Annotated[str, Meta(description="As in the address.")]
    title: Annotated[str, Meta(description="The name in the list.")]
    paragraphs: Annotated[list[LibraryParagraph], Meta(description="The whole text.")]
    place: Annotated[dict[str, float], Meta(description="`line` and `offset`, or a book's `seconds`.")]
    part: Annotated[float, Meta(description="How much was read, 0 to 1.")]
    at: At
    author: Annotated[str | None, Meta(description="Who wrote it.")] = None
    marks: Annotated[list[dict[str, Any]], Meta(description="Bookmarks, each with `place`, `words`, `note`, `at`.")] = (
        msgspec.field(default_factory=list)
    )
    gone: Annotated[bool, Meta(description="It was deleted, which other devices must hear of.")] = False


class LibraryRow(msgspec.Struct):
    """A text of the library, without its words."""

    id: str
    at: At


class LibraryList(msgspec.Struct):
    """All texts of the key."""

    texts: list[LibraryRow]


@ROUTES.add("get", "/v1/library", Access.KEY, "Library", json_answer("Each once.", LibraryList), errors=(403, 503))
async def texts(request: web.Request) -> web.Response:
    """The texts that pages with this key have kept here."""
    folder = _folder(request)

    def look() -> list[LibraryRow]:
        return [LibraryRow(path.stem, _time(path)) for path in folder.glob("*.json")]

    return json_response(LibraryList(await _on_disk(look)))


@ROUTES.add(
    "get",
    "/v1/library/{id}",
    Access.KEY,
    "Library",
    json_answer("As it was put.", LibraryText),
    errors=(403, 404, 503),
    id_pattern="[a-z0-9-]{1,64}",
)
async def text(request: web.Request) -> web.Response:
    """One of them."""
    path = _path(request)
    try:
        return web.Response(body=await _on_disk(path.read_bytes), content_type=JSON)
    except FileNotFoundError as error:
        raise ApiError(404, "There is no such text in the library.", param="id", code="not_found") from error


@ROUTES.add(
    "put",
    "/v1/library/{id}",
    Access.KEY,
    "Library",
    json_answer("It is kept.", LibraryRow),
    errors=(*WITH_BODY, 404),
    body=LibraryText,
    example={"id": "1-2", "title": "A", "paragraphs": [], "place": {"line": 0, "offset": 0}, "part": 0.5, "at": 1},
    id_pattern="[a-z0-9-]{1,64}",
)
async def put(request: web.Request) -> web.Response:
    """Keep a text, in place of what has its id."""
    path, body = _path(request), await request.read()
    fields = await fields_of(request, LibraryText)
    if fields.id != path.stem:
        raise ApiError(400, "The text has another id than the address.", param="id")

    def write() -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, body)
        os.utime(path, ns=(fields.at * 1_000_000,) * 2)
        for old in sorted(path.parent.glob("*.json"), key=_time)[:-MOST]:
            old.unlink(missing_ok=True)

    await _on_disk(write)
    return json_response(LibraryRow(fields.id, fields.at))


def _folder(request: web.Request) -> Path:
    digest: str = request.get(API_KEY, "")
    if not digest:
        message = "A library is kept for each API key: start the server with --api-key-file."
        raise ApiError(403, message, code="api_key_not_configured")
    return state_folder() / "library" / digest[:32]


def _path(request: web.Request) -> Path:
    return _folder(request) / f"{request.match_info['id']}.json"


def _time(path: Path) -> int:
    """ms since 1970; 0 for a file that another device's text has just driven out."""
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return 0


async def _on_disk(do: Callable[[], Result]) -> Result:
    """Do it in a thread, because the disk may hang."""
    try:
        return await asyncio.to_thread(do)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unavailable(f"the library can't be read or written ({error.strerror})") from error
