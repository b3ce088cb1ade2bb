"""Room in a ring for a segment that must come before others of its stream.

Segments lie in a ring in the order of their stream. If a worker dies and its segment must go to a worker that has a
later one already, the stream needs another ring there, or the same one after its unread samples were copied out.
"""

from __future__ import annotations

from frontend.streams.link import Link
from frontend.streams.planned import PlannedSegment
from frontend.streams.rings import Lease
from frontend.streams.segment_queue import SegmentQueue


def has_room(link: Link, stream: int, segments: SegmentQueue, segment: PlannedSegment) -> bool:
    """True if the stream's ring at that worker has room for the whole segment, or can get it.

    An empty ring has room for any segment: a segment longer than the ring is written as its listener takes it.
    """
    lease = link.rings.leases.get(stream)
    if lease and lease.last > segment.index:
        return link.rings.has_free or can_take_out(segments, lease)
    lease = link.rings.lease(stream)
    if lease is None:
        return False
    return segment.estimate - segment.sealed <= lease.room or lease.empty


def can_take_out(segments: SegmentQueue, lease: Lease) -> bool:
    """True if all unread samples of the ring are queued: the listener is in the middle of none of its blocks."""
    blocks = (block for segment in segments for block in segment.blocks if block.lease is lease)
    return sum(len(piece) for block in blocks for piece in block.pieces) == lease.sealed - lease.released


def take_out(segments: SegmentQueue, lease: Lease) -> bool:
    """Copy the unread samples out of the ring, so that it is free; returns False if that isn't possible now."""
    if not can_take_out(segments, lease):
        return False
    for segment in segments:
        segment.take_out(lease)
    return True


def stuck_after(segments: SegmentQueue, wanted: PlannedSegment, link: Link) -> int:
    """Number of later segments that the worker can't continue until the wanted one was heard, because their ring is
    full."""
    later = (segment for segment in segments.at(link) if segment.index > wanted.index)
    return sum(segment.lease is not None and segment.lease.full for segment in later)
