"""Plans again what a stream hasn't had made yet, when its listener is about to have nothing left to hear.

That is the one case in which a request's cuts depend on anything but its text, voice, speed and stored profile: a gap
is worse than another cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frontend.contract.urgency import Urgency
from frontend.planning.ledger import Account
from frontend.planning.planner import Limits, replan
from frontend.streams.planned import PlannedSegment, State
from frontend.streams.stream import Stream
from frontend.text.segment import Notation, Segment, Unit

AT_ONCE = 2
"""Segments that are cut anew at a time: more would take the event loop's time when it is dearest."""


def plan_again(
    stream: Stream, now: float, account: Account, lanes: int, limits: Limits
) -> tuple[Sequence[PlannedSegment], Sequence[Segment]] | None:
    """Segments of the stream that no worker has had, and others in their place; None if they are right as they are.

    Args:
        now: monotonic seconds.
        account: of the engine that would make them; a guess is no reason to plan again.
        lanes: segments that it makes side by side.
    """
    listened_to = stream.sounds and stream.request.urgency is Urgency.LISTENING
    due = stream.next_segment()
    if not (listened_to and account.measured and due) or due.index <= stream.planned_again_at:
        return None
    speed = stream.speed(due.segment)
    slack = stream.deadline(due) - now
    if account.costs.first_audio(due.segment.tokens, speed, lanes) <= slack:
        return None
    rest = unbegun(stream)[:AT_ONCE]
    units: list[Unit] = [unit for segment in rest for unit in segment.segment.units]
    if not units or rest[0] is not due:
        return None
    crowd = account.costs.seconds(100, speed, lanes) / account.costs.seconds(100, speed)
    alone = account.costs.profile()
    crowded = replace(
        alone, fixed=alone.fixed * crowd, per_token=alone.per_token * crowd, per_audio=alone.per_audio * crowd
    )
    notation = Notation.of(stream.engine)
    segments = replan(units, max(slack, 0.0), crowded, stream.request.speed, notation, limits)
    return None if [s.script for s in segments] == [s.segment.script for s in rest] else (rest, segments)


def unbegun(stream: Stream) -> list[PlannedSegment]:
    """The segments of which nothing was made by anybody: the end of those that are planned."""
    found: list[PlannedSegment] = []
    for segment in reversed(stream.planned):
        if segment.state is not State.PLANNED or segment.resumed:
            break
        found.append(segment)
    return found[::-1]
