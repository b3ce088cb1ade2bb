"""Plans a stream's segment: who speaks it, how fast, how long it will be, and under which key it is cached."""

from __future__ import annotations

from frontend.planning.ledger import Ledger
from frontend.scheduling.fingerprint import fingerprint
from frontend.streams.planned import PlannedSegment
from frontend.streams.speed import segment_speed
from frontend.streams.stream import Stream
from text.words.segment import Segment


def planned_segment(stream: Stream, segment: Segment, ledger: Ledger) -> PlannedSegment:
    """The segment with its performer, its speed, its key, and the length that the stream's engine is expected to
    give it."""
    request = stream.request
    performer = segment.performer or request.performer
    speed = segment_speed(request.speed, segment.rate)
    return PlannedSegment(
        segment,
        performer,
        speed,
        estimate=ledger.of(stream.engine).costs.samples(segment.tokens, speed),
        key=fingerprint(stream.engine, segment.script, performer.language, performer.voice, speed),
        kept=None if request.fresh else [],
    )
