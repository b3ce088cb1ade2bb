"""Worker generations from the scheduler's side: connecting, draining and ending."""

from __future__ import annotations

import asyncio
import logging

from frontend.contract.errors import Broken
from frontend.monitoring.metrics import Event
from frontend.scheduling.dispatcher import Dispatcher
from frontend.scheduling.records import Records
from frontend.scheduling.shared import Shared
from frontend.scheduling.watch import Watch
from frontend.streams.link import Link
from frontend.streams.loss import Loss
from frontend.streams.planned import PlannedSegment
from frontend.streams.stream import Stream
from shm.messages import CommitMessage, Connect, Disconnect, Distrust, Idle, clipped

log = logging.getLogger(__name__)

MAX_DEATHS = 3
"""Workers lost at a segment after which its stream fails. The second and third worker make the segment alone: two kills
from outside may hit the same segment by chance (`python -m benchmarks.chaos`); a third hit is far rarer."""


class Generations:
    """One link for each generation, from `connect` until it is lost or has nothing left to do."""

    def __init__(self, shared: Shared, watch: Watch, dispatcher: Dispatcher) -> None:
        self._shared = shared
        self._watch = watch
        self._dispatcher = dispatcher
        self._records = Records(shared, self._ended, dispatcher.wake)

    def connect(self, connect: Connect, fds: list[int]) -> None:
        """Take in a ready generation: it gets all new segments of its slot, in place of the slot's earlier generation.

        Raises:
            OSError: the channel can't be taken.
        """
        link = Link(connect, fds, self._record, self._lost)
        self._shared.links.add(link)
        self._watch.begin(link)
        self._dispatcher.wake()

    def disconnect(self, message: Disconnect) -> None:
        """Stop sending segments to a generation that drains (`draining`) or is dead."""
        link = self._shared.links.find(message.generation)
        if link is None:
            return
        if message.draining:
            link.draining = True
            for stream in self._shared.streams.values():
                self._leave_if_draining(link, stream)
            self._retire_if_idle(link)
        else:
            link.lose("the supervisor reports its end")

    def forget(self, stream: Stream) -> None:
        """Drop a closed stream at every generation."""
        for link in self._shared.links.all:
            link.in_worker -= sum(1 for _ in stream.segments.at(link))
            link.rings.forget(stream.number)
            self._retire_if_idle(link)

    def close(self) -> None:
        """Close every link."""
        for link in self._shared.links.all:
            self._watch.end(link)
            link.close()

    def _record(self, link: Link, message: CommitMessage) -> None:
        self._watch.sign_of_life(link)
        self._records.take(link, message)

    def _ended(self, link: Link, stream: Stream) -> None:
        link.in_worker -= 1
        stream.progress()
        if (head := next(stream.segments.at(link), None)) and head.touched is not None:
            head.touched = asyncio.get_running_loop().time()  # made ahead, the segment may have waited for its turn
        self._leave_if_draining(link, stream)
        self._retire_if_idle(link)
        self._dispatcher.wake()

    def _leave_if_draining(self, link: Link, stream: Stream) -> None:
        """Make a draining worker stop writing for a stream that has moved to another one. The stream keeps its ring
        there until it ends, because its listener may not have heard all samples in the ring."""
        has_work = any(True for _ in stream.segments.at(link))
        if link.draining and self._dispatcher.link_for(stream) is not link and not has_work:
            link.rings.leave(stream.number)

    def _retire_if_idle(self, link: Link) -> None:
        """Close a draining link at which no stream has a ring, and let the supervisor stop its worker."""
        if link.draining and not link.rings.leases:
            self._shared.links.drop(link)
            self._watch.end(link)
            link.close()
            self._shared.tell(Idle(link.generation))

    def _lost(self, link: Link, reason: str, loss: Loss) -> None:
        log.warning("lost worker generation %d: %s", link.generation, reason)
        self._shared.links.drop(link)
        self._watch.end(link)
        self._shared.tell(Distrust(link.generation, clipped(reason)))
        for stream in list(self._shared.streams.values()):
            for planned in list(stream.segments.at(link)):
                planned.orphaned(loss)
                self._shared.metrics.count(Event.RESUBMITTED)
                if planned.deaths >= MAX_DEATHS:
                    self._judge(stream, planned)
        self._dispatcher.wake()

    def _judge(self, stream: Stream, planned: PlannedSegment) -> None:
        """Fail a stream whose segment ends each worker that makes it alone."""
        if planned.hangs:
            stream.fail(Broken("the engine hangs at a part of this text"))
        else:
            self._shared.quarantine.add(planned.key)
            stream.fail(Broken("a part of this text ends the engine's process; it is not tried again for a while"))
