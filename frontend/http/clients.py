"""The programs that can speak by this server, each with the settings that it needs, and whether it has called."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from aiohttp import hdrs, web
from msgspec import Meta

from frontend.serving.json_body import json_response, read_query
from frontend.serving.route import Access, Routes, json_answer
from frontend.serving.services import SERVICES
from frontend.speech.voices import usual_voice
from shm.engine_info import KOKORO_BEST

ANY_KEY = "YOUR_KEY"
"""Stands for a key of this server in the settings."""


class Called(msgspec.Struct):
    """A client's latest call."""

    seconds_ago: int
    program: Annotated[str, Meta(description="The name by which it gives itself out.")]


class ClientRow(msgspec.Struct):
    """One program, and what it needs."""

    name: Annotated[str, Meta(description="As `kokoro-live connect` takes it.")]
    title: str
    command: Annotated[str, Meta(description="Makes the change on this machine, and speaks a sentence.")]
    words: Annotated[str, Meta(description="Where the lines go; empty if only the command can do it.")]
    lines: str
    then: Annotated[str, Meta(description="The next step, after the change.")]
    way: Annotated[str, Meta(description="The way by which it asks for speech.")]
    called: Called | None = None


class ClientList(msgspec.Struct):
    """All programs that are known."""

    clients: list[ClientRow]
    needs_key: bool


class ClientsQuery(msgspec.Struct):
    """The query of the programs' list."""

    url: Annotated[
        str,
        Meta(
            description="The server's address as the clients see it.", pattern="^(https?://[^\\s\"'{}<>\\\\]{1,200})?$"
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A row, and the calls that are its program's."""

    row: ClientRow
    calls: tuple[re.Pattern[str], re.Pattern[str]]
    """Regular expressions of the address and of the program."""


KnownClients = Callable[[str, str, str | None, str], Sequence[KnownClient]]
"""Their rows, by this server's address here, its address as they see it, the key, and the voice."""

CLIENTS: web.AppKey[KnownClients] = web.AppKey("CLIENTS")
ROUTES = Routes()


@ROUTES.add(
    "get",
    "/v1/clients",
    Access.NEAR,
    "Lists",
    json_answer("Each with the lines that it needs.", ClientList),
    errors=(400, 403),
    query=ClientsQuery,
)
async def clients(request: web.Request) -> web.Response:
    """The programs that `kokoro-live connect` knows, the settings that each needs, and its latest call.

    Calls count from the start of this front, and are told by address and User-Agent: programs that send the same ones
    can't be told apart.
    """
    services = request.app[SERVICES]
    engine = services.speaker.engine
    voice = usual_voice(engine, services.settings) if engine else KOKORO_BEST[0]
    needs_key = bool(services.settings.api_keys or services.settings.api_key_file)
    here = f"{request.scheme}://{request.headers.get(hdrs.HOST, 'localhost')}"
    url = read_query(request.query, ClientsQuery).url.rstrip("/") or here
    rows = []
    for known in request.app[CLIENTS](here, url, ANY_KEY if needs_key else None, voice):
        if call := services.callers.latest(*known.calls):
            known.row.called = Called(max(0, math.floor(time.monotonic() - call.at)), call.program)
        rows.append(known.row)
    return json_response(ClientList(rows, needs_key))
