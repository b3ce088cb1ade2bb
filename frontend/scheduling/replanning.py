"""Plans a stream's remaining segments again when its listener is about to run out of audio.

Replanning is the one case in which a request's cuts depend on more than its text, voice, speed and stored profile: a
gap is worse than another cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frontend.contract.urgency import Urgency
from frontend.planning.ledger import Account
from frontend.planning.planner import Limits, replan
from frontend.streams.planned import PlannedSegment, SegmentState
from frontend.streams.segment_queue import SegmentQueue
from frontend.streams.stream import Stream
from text.words.segment import Notation, Segment, Unit

AT_ONCE = 2
"""Segments that are cut again at a time: more would block the event loop when it is busiest."""


def plan_again(
    stream: Stream, now: float, account: Account, concurrency: int, limits: Limits
) -> tuple[Sequence[PlannedSegment], Sequence[Segment]] | None:
    """The stream's undispatched segments and their replacements; None if the present cuts are right.

    Args:
        now: monotonic seconds.
        account: the costs of the engine that would make them; a guess is no reason to plan again.
        concurrency: segments that this engine makes at once.
    """
    listened_to = stream.timing.sounds and stream.request.urgency is Urgency.LISTENING
    due = stream.segments.next
    if not (listened_to and account.measured and due) or due.index <= stream.segments.replaced_at:
        return None
    slack = stream.timing.deadline(due) - now
    if account.costs.first_audio(due.segment.tokens, due.speed, concurrency) <= slack:
        return None
    rest = unbegun(stream.segments)[:AT_ONCE]
    units: list[Unit] = [unit for segment in rest for unit in segment.segment.units]
    if not units or rest[0] is not due:
        return None
    crowd = account.costs.seconds(100, due.speed, concurrency) / account.costs.seconds(100, due.speed)
    alone = account.costs.profile()
    crowded = replace(
        alone, fixed=alone.fixed * crowd, per_token=alone.per_token * crowd, per_audio=alone.per_audio * crowd
    )
    notation = Notation.of(stream.engine)
    segments = replan(units, max(slack, 0.0), crowded, stream.request.speed, notation, limits)
    return None if [s.script for s in segments] == [s.segment.script for s in rest] else (rest, segments)


def unbegun(segments: SegmentQueue) -> list[PlannedSegment]:
    """The end of the queue: the segments of which no worker has made anything."""
    found: list[PlannedSegment] = []
    for segment in reversed(segments):
        if segment.state is not SegmentState.PLANNED or segment.resumed:
            break
        found.append(segment)
    return found[::-1]
