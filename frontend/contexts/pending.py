"""A context's text between its client and the reader: held until it is complete, flushed, or waited for too long."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from frontend.contexts.journal import ContextNotes
from frontend.contract.countdown import Countdown
from frontend.contract.errors import ApiError
from frontend.contract.growing_text import GrowingText, TextPart
from frontend.contract.in_flight import InFlight
from frontend.contract.request import SpeechRequest
from frontend.contract.speaker import SpeechStream
from frontend.serving.services import Services
from shm.in_flight import TextInFlight
from text.errors import TextError
from text.markup.marked import MarkupKind
from text.sentences.growth import Growth, SettledWords, WholeSentences, opening_of

PAUSE = 0.3
"""Seconds without text after which a text that ends like a sentence counts as one, if its listener has little left."""

LITTLE = 1.0
"""Seconds of audio that a listener has left when no more text is waited for."""

SOON = 0.6
"""Seconds of audio that a listener has left when a sentence is begun before it is whole."""

PLANNED = 0.15
"""Seconds after which text that was given counts in the seconds that its listener has left."""

SPARE = 0.7
"""Seconds in which the engine makes a second of audio from which on no sentence is begun before it is whole: sound that
begins sooner has less time to stay ahead."""

LEAST = 3
"""Fewest more words with which a sentence that was begun is gone on with before it is whole."""


def opening_of_held(services: Services, asked: SpeechRequest) -> Callable[[str], SettledWords | None]:
    """Function that returns the opening of a held text whose sentence isn't whole; None if there is none to speak."""

    def opening(text: str) -> SettledWords | None:
        begins, engine = services.settings.growing_text, services.speaker.engine
        if begins == "sentence" or not (engine and engine.parts) or asked.markup is not MarkupKind.NONE:
            return None
        if services.speaker.real_time_factor > SPARE:
            return None
        return opening_of(text, asked.language, clauses=begins == "clause")

    return opening


class PendingText:
    """Call `write` and `flush` as the client sends; parts go to `growing`, the text of the stream in use."""

    def __init__(
        self,
        growth: Growth,
        in_flight: InFlight,
        limit: int,
        patience: float | None,
        stream: Callable[[], SpeechStream | None],
        notes: ContextNotes,
        opening: Callable[[str], SettledWords | None] = lambda text: None,
    ) -> None:
        """
        Args:
            limit: most characters that the reader hasn't taken.
            patience: seconds after which text is given although its sentence isn't complete; None: never.
            stream: function that returns the stream that speaks the text; None: none does.
            notes: the context's.
            opening: function that returns what can be spoken of a text whose sentence isn't whole.
        """
        self._opening = opening
        self.said = 0
        """Number of the held text's first words that were given, although their sentence isn't whole."""
        self.before = 0
        """Number of them that streams before the one in use have spoken."""
        self._given_at = -math.inf
        """Time at which the last text was given."""
        self._notes = notes
        self._repeats = False
        """True while the calls of a killed front are repeated."""
        self.texts = deque([GrowingText(notes.settled.stream, self._hurried)])
        """The texts that aren't spoken, one for each stream; the last one grows."""
        self._growth = growth
        self._in_flight = in_flight
        self._limit = limit
        self._patience = patience
        self._stream = stream
        self._countdown = Countdown(self._look)
        self._written_at = 0.0
        self._held_since: float | None = None
        """Time at which the oldest held text was written."""
        self.failure: TextError | None = None
        """The reason for which the text ended although its client did nothing."""

    @property
    def growing(self) -> GrowingText:
        return self.texts[-1]

    def spoken(self) -> None:
        """Note that the first of several texts is spoken."""
        self.texts.popleft()

    @contextmanager
    def repeating(self) -> Iterator[None]:
        """Around the calls of a killed front: none is refused that was followed."""
        self._repeats = True
        yield
        self._repeats = False

    @property
    def held(self) -> int:
        """Characters that aren't complete sentences yet."""
        return len(self._growth)

    @property
    def seconds_left(self) -> float:
        """Seconds of audio that the listener has left."""
        stream = self._stream()
        return stream.seconds_left if stream is not None else 0.0

    def write(self, text: str, settled: bool = False) -> None:
        """Take more text. If it is `settled`, a text that ends like a sentence is one.

        Raises:
            ApiError: 413, too much text is waiting; 400, the text has killed fronts. None of the text is spoken.
        """
        unread = self.growing.unread + len(self._growth) + len(text)
        if unread > self._limit and not self._repeats:
            message = (
                f"{unread} characters wait to be spoken; at most {self._limit} may. Send more when audio has come."
            )
            raise ApiError(413, message, param="text", code="text_too_far_ahead")
        self._notes.note("write", text, settled)
        self._growth.add(text)
        now = asyncio.get_running_loop().time()
        self._written_at = now
        while piece := self._growth.take():
            self._held_since = None
            self._give(piece)
        if settled and (ended := self._growth.take_ended()):
            self._give(ended)
        self._open()
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
            self.stop_countdown()
            self.growing.end()

    def renew(self, said: int | None = None) -> None:
        """End the text of the stream in use, all of which is spoken; later text is for another stream. Held text stays
        held. `said`: what a killed front has noted."""
        number = self.growing.number + 1
        self.said = self.before = (self.growing.said or self.before) if said is None else said
        self._notes.note("renew", number, self._growth.text, self.said)
        self.growing.end()
        self.texts.append(GrowingText(number, self._hurried))

    def stop_countdown(self) -> None:
        """Give no more held text. Idempotent."""
        self._countdown.stop()

    def _give(self, piece: WholeSentences, flush: bool = False) -> None:
        try:
            entry = self._in_flight.enter(piece.text) if piece.text else TextInFlight()
        except TextError:
            self._notes.lost = True  # a successor would speak the piece
            raise
        self.growing.add(TextPart(piece.text, piece.paragraph, flush, said=self.before, in_flight=entry))
        self.said = self.before = 0
        self._given_at = asyncio.get_running_loop().time()
        if not len(self._growth):
            self._held_since = None

    def _open(self) -> None:
        """Give the settled beginning of the held sentence, if its listener has too little to hear to wait for its
        end."""
        if self._repeats or not len(self._growth) or self.seconds_left > SOON:
            return
        stream = self._stream()
        if asyncio.get_running_loop().time() < self._given_at + PLANNED or (stream is not None and stream.making):
            return  # what was given comes first: a sentence that is begun in more places takes longer
        found = self._opening(self._growth.text)
        if found is not None and found.words >= self.said + (LEAST if self.said else 1):
            self.give_opening(*found)

    def give_opening(self, text: str, words: int) -> None:
        """Have the first words of the held text spoken, of which that text is the beginning."""
        self._notes.note("opening", text, words)
        try:
            entry = self._in_flight.enter(text)
        except TextError:
            self._notes.lost = True
            raise
        self.growing.add(TextPart(text, in_flight=entry, opening=words, said=self.before))
        self.said = words
        self._given_at = asyncio.get_running_loop().time()

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
            if waits[-1] <= 0:
                self.give_rest()
        waits.append(max(self._written_at + PAUSE - now, self.seconds_left - LITTLE))
        if waits[-1] <= 0:
            self.give_ended()
        self._open()
        self._look_in(max(min(waits), PAUSE / 3))

    def give_rest(self) -> None:
        """Give all text, because its client has paused for long."""
        if rest := self._growth.take_rest():
            self._notes.note("rest")
            self._give(rest)

    def give_ended(self) -> None:
        """Give all text if it ends like a sentence, because its client has paused."""
        if ended := self._growth.take_ended():
            self._notes.note("ended")
            self._give(ended)

    def _hurried(self, parts: int) -> None:
        self._notes.note("hurry", self.texts[0].number, parts)
