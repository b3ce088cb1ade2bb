"""Orders: messages that ask a worker for a segment."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from frontend.monitoring.metrics import Event
from frontend.scheduling.shared import Shared
from frontend.scheduling.watch import Watch
from frontend.streams.link import Link
from frontend.streams.loss import Loss
from frontend.streams.planned import PlannedSegment
from frontend.streams.ring_room import take_out
from frontend.streams.rings import Lease
from frontend.streams.stream import Stream
from shm.killpoint import killpoint
from shm.messages import SegmentOrder


class Orders:
    """`number` returns a stream number that no worker has seen yet."""

    def __init__(self, shared: Shared, watch: Watch, number: Callable[[], int]) -> None:
        self._shared = shared
        self._watch = watch
        self._number = number

    def send_order(self, link: Link, stream: Stream, planned: PlannedSegment, deadline: float) -> bool:
        """Order the segment from that worker; returns False if the stream can get no ring there after all.

        Args:
            deadline: monotonic seconds at which the segment's sample 0 must be there.
        """
        lease = link.rings.lease(stream.number)
        if lease and lease.last > planned.index:
            lease = self._make_way(link, stream)
        if lease is None:
            return False
        request = stream.request
        planned.dispatched(link, lease)
        request.stages.reach("dispatched")
        link.dispatch(
            SegmentOrder(
                generation=link.generation,
                stream=lease.number,
                segment=planned.index,
                ring=lease.ring,
                script=planned.segment.script,
                language=planned.performer.language,
                voice=planned.performer.voice,
                speed=planned.speed,
                seed=zlib.crc32(planned.segment.script.encode()),
                from_sample=planned.sealed,
                first_deadline=deadline,
                marks=request.timestamps,
            )
        )
        killpoint("dispatched")
        self._watch.sign_of_life(link)
        stream.text.mind(stream.segments)
        return True

    def _make_way(self, link: Link, stream: Stream) -> Lease | None:
        """A ring for a segment that precedes segments which the worker already has: the worker makes those again
        afterwards."""
        unread = link.rings.has_free or not take_out(stream.segments, link.rings.leases[stream.number])
        lease = link.rings.renew(stream.number, self._number(), unread)
        for later in list(stream.segments.at(link)) if lease else ():
            later.orphaned(Loss.INNOCENT)
            link.in_worker -= 1
            self._shared.metrics.count(Event.RESUBMITTED)
        return lease
