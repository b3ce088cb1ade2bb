"""Reads a request's text ahead of the workers: by a few segments, in a thread, for pronouncing takes time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Executor

from frontend.contract import in_flight
from frontend.streams.segment_queue import SegmentQueue
from frontend.text.segment import Segment

LOOKAHEAD = 4
"""Segments planned and not dispatched: a worker never waits for text, and little is pronounced that nobody hears."""

UNHEARD = 32
"""Segments planned and not heard, in any state: a text that is in the cache isn't taken out of it all at once."""


class TextAhead:
    """One request's text. Only `next` of the iterator runs in the executor's thread."""

    def __init__(self, segments: Iterator[Segment], executor: Executor) -> None:
        self._segments = segments
        self._text = in_flight.current.get()
        self._executor = executor
        self._room = asyncio.Event()
        self._room.set()
        self.tokens = 0
        """Tokens of the segments that were read."""
        self.ended = False
        """Nothing more will be read."""

    async def next(self) -> Segment | None:
        """The next segment, once there is room for it; None at the end of the text."""
        await self._room.wait()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._read)

    def _read(self) -> Segment | None:
        with self._text.working():
            return next(self._segments, None)

    def mind(self, segments: SegmentQueue) -> None:
        """Let the reading go on or wait. To be called after a segment was planned, dispatched or heard."""
        if sum(1 for _ in segments.waiting()) < LOOKAHEAD and len(segments) < UNHEARD:
            self._room.set()
        else:
            self._room.clear()

    def let_end(self) -> None:
        """Wake a reading that waits for room: its stream has failed."""
        self._room.set()
