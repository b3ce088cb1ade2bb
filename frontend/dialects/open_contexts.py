"""The contexts of one socket: their number, their names, and the task that listens to each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, ItemsView, Iterable
from contextlib import suppress
from typing import Any

from aiohttp import web

from frontend.audio.formats import OutputFormat
from frontend.contexts.context import Context
from frontend.contexts.journal import SOCKET, SocketJournal
from frontend.contract.errors import ApiError
from frontend.contract.request import SpeechRequest
from frontend.serving.connections import connection_of
from frontend.serving.sending import FRAMED, bound_send_buffer
from frontend.serving.services import Services

MAX_CONTEXTS = 20
"""Contexts of one socket. ElevenLabs allows 5, and clients that are interrupted in quick succession need more."""

REMEMBERED = 100
"""Closed contexts of a socket whose names are remembered, so that text for them is an error."""


class OpenContexts:
    """Open contexts by name. The socket's connection waits for its client while there are none."""

    def __init__(
        self,
        request: web.Request,
        services: Services,
        journal: SocketJournal,
        listen: Callable[[str, Context], Coroutine[Any, Any, None]],
        ended: Callable[[], None],
    ) -> None:
        """
        Args:
            listen: function that iterates over a context in a task of its own, and drops the context at its end.
            ended: called when such a task has ended.
        """
        self.closing = False
        """True once no more contexts are opened."""
        self._request = request
        self._services = services
        self._journal = journal
        self._listen = listen
        self._ended = ended
        self._open: dict[str, Context] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._gone: deque[str] = deque(maxlen=REMEMBERED)

    def __len__(self) -> int:
        return len(self._open)

    @property
    def speaking(self) -> bool:
        return any(context.speaking for context in self._open.values())

    @property
    def over(self) -> bool:
        """True once no more contexts are opened, and all events of the others were sent."""
        return self.closing and not self._tasks

    def get(self, key: str) -> Context | None:
        return self._open.get(key)

    def open(self, key: str, asked: SpeechRequest, output: OutputFormat, patience: float | None = None) -> Context:
        """Open a context, and listen to it. Arguments are those of `Context`.

        Raises:
            ApiError: 400, the name was used by a context that has ended, or the socket is closing; 429, too many.
        """
        if self.closing:
            raise ApiError(400, "The socket is closing: open another one.", code="socket_closing")
        if key in self._gone:
            raise ApiError(400, f"The context {key[:64]!r} has been closed.", code="context_closed")
        if len(self._open) >= MAX_CONTEXTS:
            # Clients that are interrupted in quick succession leave contexts open.
            empty = next((name for name, context in self._open.items() if context.empty), None)
            if empty is not None:
                self.drop(empty)
        if len(self._open) >= MAX_CONTEXTS:
            message = f"{MAX_CONTEXTS} contexts are open on this socket: close one first."
            raise ApiError(429, message, code="too_many_contexts")
        notes = self._journal.opened(key)
        context = self._open[key] = Context(self._services, asked, output, patience=patience, notes=notes)
        self._bound()
        self.note_idleness()
        task = asyncio.create_task(self._listen(key, context))
        self._tasks.add(task)
        task.add_done_callback(self._listened)
        return context

    def drop(self, key: str, *, only: Context | None = None, remember: bool = True) -> bool:
        """Close a context now: its ring is free when this returns, and nothing more of it is sent.

        Args:
            only: the context that is meant; a later one of the same name stays open.
            remember: text for the same name is an error from now on.

        Returns:
            True if the context was open.
        """
        context = self._open.get(key)
        if context is None or (only is not None and only is not context):
            return False
        del self._open[key]
        context.close()
        self._journal.dropped(context.notes)
        if remember:
            self._journal.note(SOCKET, "gone", key)
            self._gone.append(key)
        self.note_idleness()
        return True

    def restore(self, gone: Iterable[str], *, closing: bool) -> None:
        """Continue after a killed front, once its contexts are open again. `gone`: closed contexts' names."""
        self._gone += gone
        self.closing = closing

    def items(self) -> ItemsView[str, Context]:
        return self._open.items()

    def finish(self) -> None:
        """Have all contexts finish; no more are opened."""
        self.closing = True
        for context in self._open.values():
            with suppress(ApiError):  # the context's events end with it
                context.finish()

    async def close(self) -> None:
        """Drop all contexts, and wait for the ends of their tasks."""
        for key in list(self._open):
            self.drop(key)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def note_idleness(self) -> None:
        """Tell the connection whether it may be closed for another client's: nothing is spoken on it."""
        if connection := connection_of(self._request):
            (connection.works if self._open else connection.rests)()

    def _bound(self) -> None:
        """Bound the audio that has left for a client that doesn't read: the open contexts share the send buffer."""
        rate = sum(context.output.bytes_per_second for context in self._open.values())
        bound_send_buffer(self._request, rate * FRAMED)

    def _listened(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._ended()
