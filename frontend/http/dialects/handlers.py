"""The handlers of the dialects' routes, and the sockets that are open when the front drains."""

from __future__ import annotations

from aiohttp import web

from frontend.contexts.services import Services
from frontend.http.dialects import one_shots
from frontend.http.dialects.cartesia import cartesia_socket
from frontend.http.dialects.deepgram import deepgram_socket
from frontend.http.dialects.elevenlabs import elevenlabs_socket
from frontend.http.dialects.socket import Session


class Dialects:
    """The handlers of one front's dialects."""

    def __init__(self, services: Services) -> None:
        self.settings = services.settings
        self._services = services
        self._sessions: set[Session] = set()

    async def elevenlabs_multi(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/text-to-speech/{voice}/multi-stream-input."""
        return await self._serve(elevenlabs_socket(request, self._services, single=False))

    async def elevenlabs_single(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/text-to-speech/{voice}/stream-input."""
        return await self._serve(elevenlabs_socket(request, self._services, single=True))

    async def elevenlabs_speech(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/text-to-speech/{voice} and the same with /stream."""
        return await one_shots.elevenlabs_speech(request, self._services)

    async def elevenlabs_timed(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/text-to-speech/{voice}/with-timestamps."""
        return await one_shots.elevenlabs_timed(request, self._services)

    async def elevenlabs_timed_stream(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/text-to-speech/{voice}/stream/with-timestamps."""
        return await one_shots.elevenlabs_timed_stream(request, self._services)

    async def cartesia(self, request: web.Request) -> web.StreamResponse:
        """GET /tts/websocket."""
        return await self._serve(cartesia_socket(request, self._services))

    async def cartesia_bytes(self, request: web.Request) -> web.StreamResponse:
        """POST /tts/bytes."""
        return await one_shots.cartesia_bytes(request, self._services)

    async def deepgram(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/speak."""
        return await self._serve(deepgram_socket(request, self._services))

    async def deepgram_speech(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/speak."""
        return await one_shots.deepgram_speech(request, self._services)

    async def drain(self, _: web.Application) -> None:
        """Have each socket finish its contexts and close, so that idle ones don't delay the front's end."""
        for session in list(self._sessions):
            session.finish()

    async def _serve(self, session: Session) -> web.StreamResponse:
        self._sessions.add(session)
        try:
            return await session.serve()
        finally:
            self._sessions.discard(session)
