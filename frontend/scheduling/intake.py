"""Intake: reads a stream's text, and puts its segments into the stream's queue, from the cache or for the workers."""

from __future__ import annotations

import logging

from frontend.contract.errors import Fault, NothingToSpeak, SpeechError
from frontend.contract.growing_text import TextMark
from frontend.monitoring.metrics import Event
from frontend.scheduling.admission import Admission
from frontend.scheduling.dispatcher import Dispatcher
from frontend.scheduling.planned_segment import planned_segment
from frontend.scheduling.shared import Shared
from frontend.streams.cache.entry import CachedSegment
from frontend.streams.planned import PlannedSegment
from frontend.streams.stream import Stream
from text.errors import TextError
from text.isolation.mishap import Mishap
from text.words.segment import Segment

log = logging.getLogger(__name__)

ENOUGH = 1.0
"""Seconds of audio ahead of a growing text's listener, with which its reader still waits for a sentence to join to a
short one."""


class Intake:
    """Fills the queues of all streams, each in a task of its own."""

    def __init__(self, shared: Shared, admission: Admission, dispatcher: Dispatcher) -> None:
        self._shared = shared
        self._admission = admission
        self._dispatcher = dispatcher

    async def fill(self, stream: Stream) -> None:
        """Read the stream's text to its end; the stream fails if the text can't be read or gets no place."""
        try:
            while not stream.failed and (item := await stream.text.next()):
                await self._take(stream, item)
        except (SpeechError, TextError) as error:
            stream.fail(error)
            return
        except Exception as error:
            name = stream.request.request_id
            Mishap.of(error).log(log, f"{name} failed: the text can't be read")
            self._shared.metrics.count(Event.UNREAD)
            stream.fail(Fault(name))
            return
        stream.text.ended = True
        if not stream.segments.numbered:
            stream.fail(NothingToSpeak())
        stream.progress()

    async def _take(self, stream: Stream, item: Segment | TextMark) -> None:
        match item:
            case Segment():
                if stream.request.growing and not stream.segments:
                    stream.playback.heard_gap()  # the listener waited for the writer, not for a worker
                await self._add(stream, item)
            case TextMark.FLUSH if stream.segments:
                stream.segments[-1].flushes += 1
            case TextMark.FLUSH:
                stream.flushed += 1
                stream.progress()
            case TextMark.HOLDING:
                await stream.text.more(max(0.0, stream.seconds_left - ENOUGH))
            case TextMark.WAITING:
                await stream.text.more(None)

    async def _add(self, stream: Stream, segment: Segment) -> None:
        stream.request.stages.reach("planned")
        planned = planned_segment(stream, segment, self._shared.ledger)
        known = await self.recall(stream, planned)  # meanwhile earlier segments may be planned again
        if known is not None:
            planned.recalled(known)
            if stream.cached:
                stream.timing.first_block()
        else:
            stream.cached = False
            if not stream.timing.admitted:
                self._admission.admit(stream, planned)
        stream.text.tokens += segment.tokens
        stream.segments.add(planned)
        stream.text.mind(stream.segments)
        self._dispatcher.wake()
        stream.progress()

    async def recall(self, stream: Stream, planned: PlannedSegment) -> CachedSegment | None:
        """The segment's samples from the cache; None if the segment wasn't spoken before, or has to be made again."""
        if stream.request.fresh:
            return None
        found = await self._shared.cache.find(planned.key, marks=stream.request.timestamps)
        self._shared.metrics.cache_asked(found is not None)
        return found
