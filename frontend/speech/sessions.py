"""Sessions: a new request lets the same session's earlier ones continue, interrupts them, or waits for them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from types import TracebackType

from frontend.contract.errors import Interrupted


class OnBusy(StrEnum):
    """The wish of a request about its session's earlier ones."""

    INTERRUPT = "interrupt"
    """The session's earlier requests end: its user has selected another text while one is being read."""
    QUEUE = "queue"
    """The request begins when the session's earlier ones have been sent."""


class Sessions:
    """Each session's requests that are being answered or wait for their turn, in order of arrival."""

    def __init__(self) -> None:
        self._turns: defaultdict[str, list[Turn]] = defaultdict(list)

    def turn(self, session: str | None, on_busy: OnBusy | None) -> Turn:
        """A place in the session, for `async with`. Without a session or a wish, a request affects no other one.

        Entering the place interrupts or waits for earlier requests; inside it, a later request may interrupt.
        """
        return Turn(self._turns, session, on_busy)


class Turn:
    """An asynchronous context that raises `Interrupted` when a later request interrupts."""

    def __init__(self, turns: defaultdict[str, list[Turn]], session: str | None, on_busy: OnBusy | None) -> None:
        self._turns = turns
        self._session = session
        self._on_busy = on_busy
        self._ended = asyncio.Event()
        self._task: asyncio.Task[object] | None = None
        self._interrupted = False

    async def __aenter__(self) -> None:
        if self._session is None:
            return
        self._task = asyncio.current_task()
        turns = self._turns[self._session]
        before = list(turns)
        turns.append(self)
        if self._on_busy is OnBusy.INTERRUPT:
            for turn in before:
                turn._interrupt()
        if self._on_busy is not None:  # interrupted requests give their places back before this one asks for one
            try:
                for turn in before:
                    await turn._ended.wait()
            except asyncio.CancelledError:
                self._leave()
                self._raise_if_interrupted()
                raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._session is None:
            return
        self._leave()
        if kind is asyncio.CancelledError:
            self._raise_if_interrupted()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A block within the turn that an interruption ends with `Interrupted`, so that the code around it can still
        answer."""
        try:
            yield
        except asyncio.CancelledError:
            self._raise_if_interrupted()
            raise

    def _interrupt(self) -> None:
        if not self._interrupted and self._task is not None:
            self._interrupted = True
            self._task.cancel()

    def _raise_if_interrupted(self) -> None:
        # A cancellation from elsewhere (the client left, too) continues as a cancellation, as in asyncio.timeout.
        if self._interrupted and self._task is not None and self._task.uncancel() == 0:
            raise Interrupted("Another request of this session was to interrupt this one.")

    def _leave(self) -> None:
        assert self._session is not None
        self._ended.set()
        turns = self._turns[self._session]
        turns.remove(self)
        if not turns:
            del self._turns[self._session]
