"""A dialect: the protocol that one service's clients speak, declared in one object, from which its routes, their
documentation, its errors and its switch follow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from frontend.dialects.socket import Session, Talk
from frontend.serving.access.rules import Access
from frontend.serving.errors import ErrorAnswer
from frontend.speech.answer import Answers


@dataclass(frozen=True, slots=True)
class Post:
    """A call that is answered with a text's audio."""

    path: str
    speak: Callable[[web.Request, Answers], Awaitable[web.StreamResponse]]
    body: type[msgspec.Struct]
    example: Mapping[str, Any]
    query: type[msgspec.Struct] | None = None
    timed: bool = False
    """The answer is JSON with audio and the times of its characters."""


@dataclass(frozen=True, slots=True)
class Socket:
    """A WebSocket over contexts that take text piece by piece."""

    path: str
    talk: Callable[[Session], Talk]
    messages: type[msgspec.Struct]
    """The fields that messages may have."""
    query: type[msgspec.Struct] | None = None
    access: Access = Access.KEY


@dataclass(frozen=True, slots=True)
class Dialect:
    """One service's protocol."""

    name: str
    """Its name in the setting `dialects`, and the label of its sockets in metrics and in `/status`."""
    error: type[ErrorAnswer]
    calls: tuple[Post | Socket, ...] = ()
