"""The pronunciations that a request brings, its own and those kept for its API key, and the routes of the latter.

```
lexicons/DIGEST.tsv    lines of `text.lexicon`; DIGEST is of the key
```
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError, Unavailable
from frontend.serving.gate import API_KEY
from frontend.serving.json_body import json_response
from frontend.serving.route import WITH_BODY, Access, Answer, Routes, json_answer
from shm.atomic import alone_with, write_whole
from shm.folders import state_folder
from text.lexicon import Entry, LexiconFile, NotKept, entry_of, line_of, read_entries

MOST = 1000
"""Most entries of a key's lexicon, as many as a request may bring: each request carries them to the next front."""


def pronunciations_of(request: web.Request, said_as: Mapping[str, str] | None) -> tuple[Entry, ...]:
    """Entries of the key's lexicon, then those of the request, which precede them.

    Raises:
        ApiError: 400, a word or its sounds are none.
    """
    try:
        entries = [entry_of(word, said) for word, said in (said_as or {}).items()]
    except NotKept as error:
        raise ApiError(400, f"`pronunciations`: {error}.", param="pronunciations", code="invalid_value") from error
    return (*entries_of_key(request), *entries)


def entries_of_key(request: web.Request) -> tuple[Entry, ...]:
    path = _path(request)
    return _file(path).current().entries if path is not None and path.exists() else ()


def lexicon_of_key(request: web.Request) -> Path:
    """The file of the key's lexicon, which may not exist yet.

    Raises:
        ApiError: 403, the request has no key.
    """
    if (path := _path(request)) is None:
        message = "A lexicon is kept for each API key: start the server with --api-key-file."
        raise ApiError(403, message, code="api_key_not_configured")
    return path


def write_entries(path: Path, entries: Sequence[Entry]) -> None:
    """Replace a key's lexicon.

    Raises:
        ApiError: 400, there are more than `MOST`.
        OSError: it can't be written.
    """
    if len(entries) > MOST:
        raise ApiError(400, f"The lexicon has {len(entries)} entries, more than {MOST}.", code="invalid_value")
    with alone_with(path):
        write_whole(path, "".join(f"{line_of(entry)}\n" for entry in entries).encode())


def _path(request: web.Request) -> Path | None:
    digest: str = request.get(API_KEY, "")
    return state_folder() / "lexicons" / f"{digest[:32]}.tsv" if digest else None


@lru_cache(256)
def _file(path: Path) -> LexiconFile:
    return LexiconFile(path)


ROUTES = Routes()
_LINES = "text/tab-separated-values"


class LexiconProblem(msgspec.Struct):
    line: Annotated[int, Meta(description="The line; of a PLS document, the grapheme.")]
    reason: str


class KeptLexicon(msgspec.Struct):
    """Number of entries that a lexicon now has, and the lines that were left out."""

    entries: Annotated[int, Meta(description="Words that the key's lexicon now has.")]
    problems: Annotated[list[LexiconProblem], Meta(description="Lines that were left out.")]


@ROUTES.add(
    "get",
    "/v1/lexicon",
    Access.KEY,
    "Speech",
    Answer("Its lines: a word, what is said, a language, a part of speech.", {_LINES: None}),
    errors=(403, 503),
)
async def lexicon(request: web.Request) -> web.Response:
    """The pronunciations kept for the request's API key."""
    lexicon_of_key(request)
    lines = "".join(f"{line_of(entry)}\n" for entry in await asyncio.to_thread(entries_of_key, request))
    return web.Response(text=lines, content_type=_LINES)


@ROUTES.add(
    "put",
    "/v1/lexicon",
    Access.KEY,
    "Speech",
    json_answer("It is kept.", KeptLexicon),
    errors=WITH_BODY,
    body=Annotated[bytes, Meta(description="Lines as of `--lexicon`, of the CMU dictionary, or a PLS document (W3C).")],
    example="nginx\tengine x",
    body_type="application/octet-stream",
    needs_body=False,
)
async def put_lexicon(request: web.Request) -> web.Response:
    """Replace the pronunciations kept for the request's API key.

    They precede the server's `--lexicon` in requests with the same key, and a request's own `pronunciations` precede
    them. An empty body empties them; one of which no entry can be read is a 400, and leaves them.
    """
    path, content = lexicon_of_key(request), await request.read()
    entries, problems = await asyncio.to_thread(read_entries, content)
    if problems and not entries:
        message = f"The lexicon has no entry; line {problems[0].line}: {problems[0].reason}."
        raise ApiError(400, message, code="invalid_value")
    try:
        await asyncio.to_thread(write_entries, path, entries)
    except OSError as error:
        raise Unavailable(f"the lexicon can't be written ({error.strerror})") from error
    return json_response(KeptLexicon(len(entries), [LexiconProblem(each.line, each.reason) for each in problems]))
