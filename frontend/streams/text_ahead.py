"""Reads a request's text a few segments ahead of the workers, in a thread, because pronouncing takes time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager

from frontend.contract import in_flight
from frontend.contract.growing_text import TextMark
from frontend.contract.request import SpeechRequest
from frontend.streams.segments import SegmentQueue
from shm import request_id
from shm.in_flight import TextInFlight, WorkKind, WorkStep
from text.apart import may_take_long
from text.words.segment import Segment

LOOKAHEAD = 4
"""Segments planned and not dispatched: enough that no worker waits for text, few so that little is pronounced in
vain."""

UNHEARD = 32
"""Segments planned and not heard, in any state, so that a fully cached text isn't loaded all at once."""


class TextAhead:
    """Iterates over one request's text. Only the iterator's `next` runs in the executor's thread."""

    def __init__(
        self, segments: Iterator[Segment | TextMark], executor: Executor, request: SpeechRequest, patient: Executor
    ) -> None:
        """
        Args:
            patient: executor of long texts, which wait for a helper process.
        """
        self._segments = segments
        self._request = request
        self._text = request.growing or in_flight.current.get()
        self._executor = executor
        self._patient = patient
        self._room = asyncio.Event()
        self._room.set()
        self._takes_long = False
        self._read_ahead: deque[Segment | TextMark | None] = deque()
        left = None if request.growing else request.progress.left
        self._at_once = max(left.heard if left else 0, 1)
        """Segments to read at once: those that a listener has heard from a killed front, then one at a time."""
        self._read_so_far = 0
        self._looked_at = 0
        """Parts of the text of which `_takes_long` knows."""
        self.tokens = 0
        """Tokens of the segments that were read."""
        self.ended = False
        """True once no more text will be read."""

    @property
    def unread(self) -> int:
        """About how many tokens of the text aren't in a segment yet: one for each character."""
        if self.ended:
            return 0
        growing = self._request.growing
        return max(0, (growing.characters if growing else len(self._request.text)) - self.tokens)

    async def next(self) -> Segment | TextMark | None:
        """The next segment, once there is room for it, or the next mark of a growing text; None at the end of the
        text."""
        if self._read_ahead:
            return self._read_ahead.popleft()
        await self._room.wait()
        loop = asyncio.get_running_loop()
        growing = self._request.growing
        texts = growing.texts if growing else [self._request.text]
        self._takes_long = self._takes_long or any(map(may_take_long, texts[self._looked_at :]))
        self._looked_at = len(texts)
        executor = self._patient if self._takes_long else self._executor
        self._read_ahead += await loop.run_in_executor(executor, self._read)
        return self._read_ahead.popleft()

    async def more(self, seconds: float | None) -> None:
        """Wait for more of a growing text. After that many seconds the reader gives the sentences that it holds; None:
        it holds none."""
        growing = self._request.growing
        assert growing is not None
        if not await growing.more(seconds):
            growing.hurry()

    def _read(self) -> list[Segment | TextMark | None]:
        request_id.current.set(self._request.request_id)  # of this thread, for the log
        self._request.stages.reach("reading")
        found: list[Segment | TextMark | None] = []
        while len(found) < self._at_once and None not in found:
            with self._working():
                found.append(next(self._segments, None))
            self._read_so_far += 1
        self._at_once = 1
        return found

    def _working(self) -> AbstractContextManager[None]:
        if isinstance(self._text, TextInFlight):
            return self._text.working(WorkStep(WorkKind.READING, self._read_so_far, self._read_so_far + 1))
        return self._text.working()  # the text of each part

    def mind(self, segments: SegmentQueue) -> None:
        """Let reading continue or wait. Call it after a segment was planned, dispatched or heard."""
        if sum(1 for _ in segments.waiting()) < LOOKAHEAD and len(segments) < UNHEARD:
            self._room.set()
        else:
            self._room.clear()

    def let_end(self) -> None:
        """Wake a read that waits for room or for more text, because its stream has failed."""
        self._room.set()
        if self._request.growing:
            self._request.growing.end()
