"""The handlers of the dialects' calls, and the sockets that are open when the front drains."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web

from frontend.contexts.services import Services
from frontend.dialects.dialect import Dialect, Post, Socket
from frontend.dialects.socket import Session
from frontend.speech.answer import Answers


class Dialects:
    """The handlers of one front's dialects."""

    def __init__(self, services: Services, answers: Answers) -> None:
        self._services = services
        self._answers = answers
        self._sessions: set[Session] = set()

    def handle(
        self, dialect: Dialect, call: Post | Socket
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]] | None:
        """The handler of a call; None if a setting turns the dialect off."""
        if not self._services.settings.answers_dialect(dialect.name):
            return None
        if isinstance(call, Post):
            return partial(_post, call, self._answers)
        return partial(self._serve, dialect.name, call)

    async def drain(self, _: web.Application) -> None:
        """Have each socket finish its contexts and close, so that idle ones don't delay the front's end."""
        for session in list(self._sessions):
            session.finish()

    async def _serve(self, name: str, call: Socket, request: web.Request) -> web.StreamResponse:
        session = Session(request, self._services, name, call.messages, call.talk)
        self._sessions.add(session)
        try:
            return await session.serve()
        finally:
            self._sessions.discard(session)


async def _post(call: Post, answers: Answers, request: web.Request) -> web.StreamResponse:
    return await call.speak(request, answers)
