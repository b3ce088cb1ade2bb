"""A context's text between its client and the reader: held until it is complete, flushed, or waited for too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from frontend.contract.countdown import Countdown
from frontend.contract.errors import ApiError
from frontend.contract.growing_text import GrowingText, TextPart
from frontend.contract.in_flight import InFlight
from shm.in_flight import TextInFlight
from text.errors import TextError
from text.sentences.growth import Growth, WholeSentences

PAUSE = 0.3
"""Seconds without text after which a text that ends like a sentence counts as one, if its listener has little left."""

LITTLE = 1.0
"""Seconds of audio that a listener has left when no more text is waited for."""


class PendingText:
    """Call `write` and `flush` as the client sends; parts go to `growing`, the text of the stream in use."""

    def __init__(
        self,
        growth: Growth,
        in_flight: InFlight,
        limit: int,
        patience: float | None,
        seconds_left: Callable[[], float],
    ) -> None:
        """
        Args:
            limit: most characters that the reader hasn't taken.
            patience: seconds after which text is given although its sentence isn't complete; None: never.
            seconds_left: function that returns the seconds of audio that the listener has left.
        """
        self.growing = GrowingText()
        self._growth = growth
        self._in_flight = in_flight
        self._limit = limit
        self._patience = patience
        self._seconds_left = seconds_left
        self._countdown = Countdown(self._look)
        self._written_at = 0.0
        self._held_since: float | None = None
        """Time at which the oldest held text was written."""
        self.failure: TextError | None = None
        """The reason for which the text ended although its client did nothing."""

    @property
    def held(self) -> int:
        """Characters that aren't complete sentences yet."""
        return len(self._growth)

    def write(self, text: str, settled: bool = False) -> None:
        """Take more text. If it is `settled`, a text that ends like a sentence is one.

        Raises:
            ApiError: 413, too much text is waiting; 400, the text has killed fronts. None of the text is spoken.
        """
        unread = self.growing.unread + len(self._growth) + len(text)
        if unread > self._limit:
            message = (
                f"{unread} characters wait to be spoken; at most {self._limit} may. Send more when audio has come."
            )
            raise ApiError(413, message, param="text", code="text_too_far_ahead")
        self._growth.add(text)
        now = asyncio.get_running_loop().time()
        self._written_at = now
        while piece := self._growth.take():
            self._held_since = None
            self._give(piece)
        if settled and (ended := self._growth.take_ended()):
            self._give(ended)
        if text.strip() and self._held_since is None and len(self._growth):
            self._held_since = now
        self._look_in(PAUSE)

    def flush(self) -> None:
        """Give all text to the reader, and have it report that it has read it."""
        self._give(self._growth.take_rest() or WholeSentences(""), flush=True)

    def end(self) -> None:
        """Give all text to the reader; none follows."""
        try:
            if rest := self._growth.take_rest():
                self._give(rest)
        except TextError as error:
            self.failure = error
            raise
        finally:
            self.close()
            self.growing.end()

    def renew(self) -> None:
        """End the text of the stream in use; later text is for another stream. Held text stays held."""
        self.growing.end()
        self.growing = GrowingText()

    def close(self) -> None:
        """Give no more held text. Idempotent."""
        self._countdown.stop()

    def _give(self, piece: WholeSentences, flush: bool = False) -> None:
        entry = self._in_flight.enter(piece.text) if piece.text else TextInFlight()
        self.growing.add(TextPart(piece.text, piece.paragraph, flush, entry))
        if not len(self._growth):
            self._held_since = None

    def _look_in(self, seconds: float) -> None:
        if len(self._growth):
            self._countdown.start(seconds)
        else:
            self._countdown.stop()

    def _look(self) -> None:
        try:
            self._give_waiting()
        except TextError as error:  # the text has killed fronts before
            self.failure = error
            self.growing.end()

    def _give_waiting(self) -> None:
        now = asyncio.get_running_loop().time()
        waits = []
        if self._patience is not None and self._held_since is not None:
            waits.append(self._held_since + self._patience - now)
            if waits[-1] <= 0 and (rest := self._growth.take_rest()):
                self._give(rest)
        waits.append(max(self._written_at + PAUSE - now, self._seconds_left() - LITTLE))
        if waits[-1] <= 0 and (ended := self._growth.take_ended()):
            self._give(ended)
        self._look_in(max(min(waits), PAUSE / 3))
