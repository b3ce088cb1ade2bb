"""One client's socket: its limits, its messages, its contexts' events and its end. The dialect gives messages their
meaning."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import WSCloseCode, WSMessage, WSMsgType, web

from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.events import Event
from frontend.contexts.journal import SOCKET, SocketJournal, SocketPlace
from frontend.contract.errors import ApiError, Interrupted, Overloaded, SpeechError, Unavailable
from frontend.contract.request import SpeechRequest
from frontend.dialects.open_contexts import REASON_BYTES, MessageSocket, OpenContexts
from frontend.monitoring.metrics import Event as Counted
from frontend.serving.connections import InterruptibleWait, record_of
from frontend.serving.errors import ErrorDetail, failure, note_late_failure
from frontend.serving.json_body import fields_in
from frontend.serving.no_effect import no_effect, unknown_in
from frontend.serving.sending import taken
from frontend.serving.services import SERVICES, Services, engine_asked
from frontend.speech.asked import client_of, is_fresh
from frontend.speech.voices import asked_speech
from shm import request_id
from text.errors import TextError

log = logging.getLogger(__name__)

_MOST_NAMED = 64
"""Fields without effect that are named on one socket; a client could send new names for ever."""


class Unchanged(msgspec.Struct):
    """State of a socket of which messages change nothing."""


class Moments:
    """Moments of a socket at which a dialect may have something to do; by default it has not."""

    def begin(self) -> None:
        """Check the address and greet, after the upgrade.

        Raises:
            ApiError, SpeechError: the socket ends with this error.
        """

    def warn(self, message: str, code: str) -> None:
        """Tell the client what doesn't end anything; nothing is sent if the service has no message for it."""

    def ended(self, key: str) -> None:
        """Send the end of a context whose audio is whole; nothing if the socket's close says it."""

    # -- for a successor of this front

    state: msgspec.Struct = Unchanged()
    """Numbers that messages have changed in the socket itself; set on a new socket to continue it."""

    def place(self, key: str) -> tuple[int, list[int]]:
        """The context's place in the dialect: words that are held back, and numbers of the dialect's own."""
        return 0, []

    def resume(self, key: str, numbers: list[int]) -> None:
        """Continue a context that was opened again. `numbers`: those of `place`."""


class Talk(Moments, ABC):
    """One client's socket: what its messages mean, and the messages that it is sent.

    What a method sends leaves together, and a successor of this front continues before all of it or after: no method
    waits for anything.
    """

    idle_seconds: float
    """Seconds without a message, while nothing is spoken, after which the socket is closed."""
    asked: SpeechRequest
    output: OutputFormat
    """Usual request of the contexts, and the form of their audio, where the address names them: `begin` sets both."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @abstractmethod
    def hear(self, message: Any) -> None:
        """Act on a decoded JSON message.

        Raises:
            ApiError, SpeechError: the message is wrong, or can't be followed.
        """

    @abstractmethod
    def open(self, key: str, message: Any) -> Context:
        """Open a context, as the fields of a message ask that opens one.

        Raises:
            ApiError, SpeechError: it can't be opened.
        """

    @abstractmethod
    def tell(self, key: str, context: Context, event: Event) -> None:
        """Send a context's event."""

    @abstractmethod
    def error(self, key: str | None, detail: ErrorDetail, status: int) -> dict[str, Any]:
        """The message for an error of a context, or of the socket (`None`)."""


class Session:
    """One socket. `serve` runs until it is closed; the dialect opens contexts on it."""

    def __init__(
        self,
        request: web.Request,
        services: Services,
        name: str,
        messages: type[msgspec.Struct],
        talk: Callable[[Session], Talk],
    ) -> None:
        """
        Args:
            name: the dialect's, for log and metrics.
            messages: the fields that messages may have.
        """
        self.request = request
        self.services = services
        self._record = record_of(request)
        self._journal = SocketJournal(self._record)
        self._journal.describe = self._place
        self._frames: list[str | bytes] = []
        """Messages that the step in hand sends."""
        self._begun = False
        self.contexts = OpenContexts(request, services, self._journal, self._listen, self._wake_if_over)
        self._waiting = InterruptibleWait()
        self._goodbye: tuple[WSCloseCode, str] | None = None
        """Code and reason of the close frame, once the socket is to end before its client ends it."""
        self._name = name
        self._known = messages
        self._talk = talk(self)
        self._named: set[str] = set()
        """Fields of messages that were named because they change nothing."""
        self._messages = MessageSocket(
            lambda error: self._talk.error(None, failure(error).detail, error.status), self._record
        )

    def asked(self, voice: str | None, language: str | None, *, context: str = "", **more: Any) -> SpeechRequest:
        """The request of a context, without its text; contexts of different names are different listeners.

        Args:
            voice: voice, language and `more` are those of `asked_speech`.

        Raises:
            ApiError, Unavailable: the server has no such voice, or none at all.
        """
        client = "/".join((client_of(self.request), request_id.current.get(), context))
        listener: dict[str, Any] = {"client": client, "fresh": is_fresh(self.request)}
        return asked_speech(engine_asked(self.request), self.services.settings, voice, language, **listener, **more)

    async def serve(self) -> web.StreamResponse:
        """Answer the upgrade and all messages.

        Raises:
            ApiError: 426 or 400, the request doesn't ask for a WebSocket, or not correctly.
        """
        left = self._journal.left
        await self._messages.upgrade(self.request, self._journal)
        with self.services.socket(self._name):
            try:
                await self._step(lambda: self._restore(left) if left else self._begin())
                self.contexts.note_idleness()
                await self._converse()
            except ConnectionError:
                log.info("%s: the client left", request_id.current.get())
            finally:
                await self.contexts.drop_all()
        await self._messages.say_goodbye(*(self._goodbye or (WSCloseCode.OK, "")))
        return self._messages

    async def _converse(self) -> None:
        while not (self._messages.closed or self._is_over):
            try:
                message = await self._waiting.of(self._messages.receive(), self._talk.idle_seconds)
            except TimeoutError:
                if self._is_over or self.contexts.speaking:
                    continue
                reason = f"no message has come for {self._talk.idle_seconds:g} seconds"
                error = ApiError(408, reason, code="inactivity")
                await self._step(lambda: self.fail(None, error))  # noqa: B023
                return
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            followed = self._record.messages.take() if self._record and self._record.messages else None
            await self._step(lambda: self._follow(message), followed)  # noqa: B023

    def _begin(self) -> None:
        self._begun = True
        try:
            self._talk.begin()
        except (TextError, SpeechError) as error:
            self.fail(None, error)

    def _restore(self, left: SocketPlace) -> None:
        """Set the socket up as a killed front has left it."""
        if self._record:
            self._record.goes_on()
        if left.goodbye:
            self._end(WSCloseCode(left.goodbye[0]), left.goodbye[1])
            return
        self._begin()
        if left.begun:
            self._frames.clear()  # the client had the greeting
            self._talk.state = type(self._talk.state)(*left.state)
        for key, message, notes in self._journal.left_contexts():
            try:
                self._talk.open(key, fields_in(msgspec.json.decode(message), self._known))
                assert notes.left is not None
                self._talk.resume(key, notes.left.extra)
            except (TextError, SpeechError) as error:
                self.contexts.drop(key)
                self.fail(key, error)
            else:
                self.services.metrics.count(Counted.CONTINUED)
        self._named.update(self._journal.left_of_socket("named"))
        self.contexts.restore(self._journal.left_of_socket("gone"), closing=left.closing)

    def _place(self) -> SocketPlace:
        contexts = [context.notes.place(*self._talk.place(key)) for key, context in self.contexts.items()]
        goodbye = (int(self._goodbye[0]), self._goodbye[1][:REASON_BYTES]) if self._goodbye else None
        closing, speaks = self.contexts.closing, self.contexts.speaking
        state = [*msgspec.structs.astuple(self._talk.state)]
        return SocketPlace(self._begun, state, goodbye, closing, speaks, contexts)

    async def _step(self, act: Callable[[], None], followed: int | None = None) -> None:
        """Send all that `act` sends at once; waits while the client reads too slowly.

        Args:
            followed: bytes of the client's messages up to the end of the one that `act` follows.
        """
        act()
        frames, self._frames = self._frames, []
        with self._journal.unit(followed):
            for frame in frames:
                if self._messages.closed:
                    break
                if isinstance(frame, str):
                    await self._messages.send_str(frame)
                else:
                    await self._messages.send_bytes(frame)
        if frames:
            await taken(self.request)

    def _follow(self, message: WSMessage) -> None:
        try:
            if message.type is WSMsgType.TEXT:
                self._journal.message = message.data
                self._hear(message.data)
                return
            reason = "Messages are JSON in text frames; this one was binary."
            self._send_error(None, ApiError(400, reason, code="invalid_message"))
            self._end(WSCloseCode.UNSUPPORTED_DATA)
        except (TextError, SpeechError) as error:
            self.fail(None, error)

    def _hear(self, text: str) -> None:
        try:
            message = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ApiError(400, f"The message is not JSON: {error}.", code="invalid_json") from error
        if not isinstance(message, dict):
            raise ApiError(400, "The message is not a JSON object.", code="invalid_message")
        self._talk.hear(message)
        self._name_dead_fields(text)

    def _name_dead_fields(self, text: str) -> None:
        """Name the message's fields that no earlier message of the socket had, and that change nothing."""
        if len(self._named) >= _MOST_NAMED:
            return
        if new := [name for name in unknown_in(text.encode(), self._known) if name not in self._named]:
            self._named.update(new)
            for name in new:
                self._journal.note(SOCKET, "named", name)
            log.info("%s: %s: %s", request_id.current.get(), self._name, no_effect(new))
            self._talk.warn(no_effect(new), "NO_EFFECT")

    def send(self, message: dict[str, Any]) -> None:
        """Send a JSON message with the step in hand."""
        self._frames.append(msgspec.json.encode(message).decode())

    def send_bytes(self, audio: bytes) -> None:
        """Send a binary message with the step in hand."""
        self._frames.append(audio)

    def fail(self, key: str | None, error: Exception) -> None:
        """Report an error. An error of the socket closes it, and so does a refusal while nothing else is spoken."""
        self._send_error(key, error)
        refused = isinstance(error, Overloaded | Unavailable)
        if key is None or (refused and not self.contexts):
            self._end(WSCloseCode.TRY_AGAIN_LATER if refused else WSCloseCode.POLICY_VIOLATION, str(error))

    def finish(self) -> None:
        """Have all contexts finish, then close the socket."""
        self.contexts.finish()
        self._wake_if_over()

    async def _listen(self, key: str, context: Context) -> None:
        try:
            async for event in context:
                await self._step(lambda: self._tell(key, context, event))  # noqa: B023
        except ConnectionError:
            self.contexts.drop(key, only=context)
        except Exception as error:
            if context.sounded and not isinstance(error, Interrupted):
                self.services.metrics.count(Counted.CUT)
            self.contexts.drop(key, only=context)
            await self._last_step(lambda: self.fail(key, error))  # noqa: F821
        else:
            if self.contexts.drop(key, only=context, remember=False):
                await self._last_step(lambda: self._talk.ended(key))

    def _tell(self, key: str, context: Context, event: Event) -> None:
        if self.contexts.get(key) is context:  # it may have been dropped while the client read
            self._talk.tell(key, context, event)

    async def _last_step(self, act: Callable[[], None]) -> None:
        try:
            await self._step(act)
        except ConnectionError:
            log.info("%s: the client left before it heard so", request_id.current.get())

    @property
    def _is_over(self) -> bool:
        """True once all is said that is to be said, or an error ends the socket."""
        return self._goodbye is not None or self.contexts.over

    def _end(self, code: WSCloseCode, reason: str = "") -> None:
        self._goodbye = self._goodbye or (code, reason)
        self._wake_if_over()

    def _wake_if_over(self) -> None:
        """Have `_converse` return once the socket is over, and `serve` close it.

        aiohttp awaits the client's close frame only in the task that reads. A message that found the connection closed
        would reset it, and the audio that is still on its way would be lost.
        """
        if self._is_over:
            self._waiting.end()

    def _send_error(self, key: str | None, error: Exception) -> None:
        status, detail, _ = note_late_failure(self.services.metrics, error, self._name)
        self.send(self._talk.error(key, detail, status))


SESSIONS: web.AppKey[set[Session]] = web.AppKey("SESSIONS")
"""The open sockets of an application."""


async def serve(
    request: web.Request, name: str, messages: type[msgspec.Struct], talk: Callable[[Session], Talk]
) -> web.StreamResponse:
    """Answer a request for a socket. The arguments are those of `Session`."""
    session = Session(request, request.app[SERVICES], name, messages, talk)
    sessions = request.app[SESSIONS]
    sessions.add(session)
    try:
        return await session.serve()
    finally:
        sessions.discard(session)


async def drain(app: web.Application) -> None:
    """Have each socket finish its contexts and close, so that idle ones don't delay the front's end."""
    sessions = app[SESSIONS]
    for session in tuple(sessions):
        session.finish()
