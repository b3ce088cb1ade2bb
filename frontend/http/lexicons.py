"""The lexicon of the request's API key: what its own requests say otherwise than the server's `--lexicon`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import Unavailable
from frontend.serving.json_body import json_response
from frontend.serving.route import WITH_BODY, Access, Answer, Routes, json_answer
from frontend.speech.lexicons import entries_of_key, lexicon_of_key, write_entries
from text.lexicon import line_of, read_entries

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
    them. An empty body empties them.
    """
    path, content = lexicon_of_key(request), await request.read()
    entries, problems = await asyncio.to_thread(read_entries, content)
    try:
        await asyncio.to_thread(write_entries, path, entries)
    except OSError as error:
        raise Unavailable(f"the lexicon can't be written ({error.strerror})") from error
    return json_response(KeptLexicon(len(entries), [LexiconProblem(each.line, each.reason) for each in problems]))
