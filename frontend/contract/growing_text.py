"""The text of a request that is still being written: its parts, from the socket's side to the reader's."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto

from shm.in_flight import TextInFlight


class TextMark(Enum):
    """Items between the segments of a growing text."""

    FLUSH = auto()
    """The client's flush: all text before it has been given as segments."""
    HOLDING = auto()
    """Text is there, and it would join the next sentence: wait for more, or call `GrowingText.hurry`."""
    WAITING = auto()
    """All text so far has been given, and its client may still send more."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Sentences of a growing text, or a flush."""

    text: str = ""
    """Whole sentences in the request's markup; empty for a flush alone."""
    paragraph: bool = False
    """True if a paragraph ends after the text."""
    flush: bool = False
    """True if the reader reports when it has read the text so far, and joins nothing after the part to it."""
    opening: int = 0
    """0, or the part is the beginning of a sentence that isn't whole yet: the number of its words that are spoken now.
    The others only give them their prosody, and all of it comes again, in another opening or with its sentence."""
    said: int = 0
    """Number of the text's first words that streams before this one have spoken."""
    in_flight: TextInFlight = field(default_factory=TextInFlight)
    """The text's entry on the board of texts that are being answered."""

    @property
    def characters(self) -> int:
        """Characters that the part adds to the text."""
        return 0 if self.opening else len(self.text)


class GrowingText:
    """A queue of parts. The event loop adds, one thread at a time takes."""

    def __init__(self, number: int = 0, hurries: Callable[[int], None] = lambda parts: None) -> None:
        """
        Args:
            number: of the stream that speaks it, in its context.
            hurries: told of each `hurry`.
        """
        self.number = number
        self._hurries = hurries
        self._hurried = set[int]()
        self._taken = 0
        """Parts that the reader has taken."""
        self._parts: deque[TextPart] = deque()
        self._news = asyncio.Event()
        self._current = TextPart()
        self._marked = ExitStack()
        self._audio_left = False
        self.characters = 0
        """Characters added so far."""
        self.read = 0
        """Characters of the parts that the reader has taken."""
        self.texts: list[str] = []
        """Text of each part."""
        self.ended = False
        """True once no part will be added."""
        self.said = 0
        """Number of the first words, of the sentence that isn't whole, that are spoken. The reader's."""

    @property
    def unread(self) -> int:
        """Characters that the reader hasn't taken."""
        return self.characters - self.read

    @property
    def first(self) -> TextPart | None:
        """The next part that the reader will take."""
        return self._parts[0] if self._parts else None

    def add(self, part: TextPart) -> None:
        """Append a part. Called on the event loop; after the end, which a failed stream causes, nothing is kept."""
        if self.ended:
            part.in_flight.leave()
            return
        self._parts.append(part)
        self.characters += part.characters
        self.texts.append(part.text)
        self._news.set()

    def end(self) -> None:
        """Note that no part follows. Idempotent; called on the event loop."""
        self.ended = True
        self._news.set()

    def hurry(self, parts: int | None = None) -> None:
        """Make the reader give the sentences that it holds. Called on the event loop after `TextMark.HOLDING`.

        Args:
            parts: number of the text's first parts that these sentences end; None: all so far. No part that comes
                meanwhile changes which they are.
        """
        if parts is None:
            parts = len(self.texts)
            self._hurries(parts)
        self._hurried.add(parts)

    @property
    def hurried(self) -> bool:
        """True if the reader is to join nothing more to the sentences that it holds."""
        return self._taken in self._hurried

    def unhurried(self) -> None:
        """Note that the reader has given what it held."""
        self._hurried.discard(self._taken)

    async def more(self, seconds: float | None = None) -> bool:
        """Wait for a part or the end; False if neither came within that time. None: no limit."""
        try:
            async with asyncio.timeout(seconds):
                while not (self._parts or self.ended):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    def take(self) -> TextPart | None:
        """The next part; None if there is none yet. Called by the reader, inside `working`."""
        if not self._parts:
            return None
        self._leave()
        self._current = self._parts.popleft()
        self._taken += 1
        self.read += self._current.characters
        self._marked.enter_context(self._current.in_flight.working())
        if self._audio_left:
            self._current.in_flight.audio_left()
        return self._current

    @contextmanager
    def working(self) -> Iterator[None]:
        """Mark the part that was taken last, and each part taken inside, as worked on by this thread."""
        with ExitStack() as self._marked:
            self._marked.enter_context(self._current.in_flight.working())
            yield

    def audio_left(self) -> None:
        """Note that a part of the audio has left: if the process dies from now on, the speech is cut. Called on the
        event loop."""
        if not self._audio_left:
            self._audio_left = True
            self._current.in_flight.audio_left()

    def skip(self) -> TextPart:
        """Remove the next part, which no reader has to read."""
        part = self._parts.popleft()
        self._taken += 1
        self.read += part.characters
        return part

    def leave_board(self) -> None:
        """Take all parts off the board of texts that are being answered. Called on the event loop."""
        for part in (self._current, *self._parts):
            part.in_flight.leave()

    def _leave(self) -> None:
        self._marked.close()
        self._current.in_flight.leave()
