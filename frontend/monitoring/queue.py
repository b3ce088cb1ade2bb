"""What each open stream waits for, and what is planned of it: for people who look at the queue. Never its text."""

from __future__ import annotations

import itertools
import time

from msgspec import UNSET

from frontend.contract.request import Urgency
from frontend.monitoring.report import PlannedSegment, StreamStatus
from frontend.streams.segments import SegmentState, StreamSegment
from frontend.streams.stream import Stream

_SHOWN = 6
"""Segments of a stream that are shown; more are only counted."""

_LISTENERS = {Urgency.LISTENING: "listener", Urgency.WHOLE: "whole", Urgency.IDLE: "nobody"}


def stream_status(stream: Stream, reason: str, predicted: float | None) -> StreamStatus:
    """One stream's entry.

    Args:
        reason: the reason why no worker can speak; empty when one can.
        predicted: seconds until its first sound, from the measured costs; None if nothing was measured.
    """
    now, rate, timing = time.monotonic(), stream.engine.sample_rate, stream.timing
    state, why = _standing(stream, reason)
    shown = StreamStatus(
        request_id=stream.request.request_id,
        engine=stream.engine.name,
        seconds_sent=round(stream.playback.position / rate, 3),
        seconds_ready=round(stream.segments.ready / rate, 3),
        waiting_segments=sum(1 for _ in stream.segments.waiting()),
        state=state,
        why=why,
        voice=stream.request.performer.name,
        language=stream.request.language,
        waits=_LISTENERS[stream.request.urgency],  # type: ignore[arg-type]
        age_seconds=round(now - timing.arrival, 3),
    )
    if stream.playback.begun:
        shown.seconds_ahead = round(timing.dry_at - now, 3)
    if timing.admitted and (waiting := stream.segments.next):
        shown.due_in_seconds = round(timing.deadline(waiting) - now, 3)
    if timing.sounds_since is not None:
        shown.first_sound_seconds = round(timing.sounds_since - timing.arrival, 3)
    elif predicted is not None:
        shown.first_sound_in_seconds = round(predicted, 3)
    if (factor := stream.real_time_factor) is not None:
        shown.real_time_factor = round(factor, 3)
    unfinished = (each for each in stream.segments if each.state in (SegmentState.PLANNED, SegmentState.DISPATCHED))
    shown.planned = [_planned(stream, each, now) for each in itertools.islice(unfinished, _SHOWN)]
    return shown


def _planned(stream: Stream, segment: StreamSegment, now: float) -> PlannedSegment:
    shown = PlannedSegment(
        segment=segment.index,
        tokens=segment.segment.tokens,
        seconds=round(segment.length / stream.engine.sample_rate, 3),
        made=round(segment.sealed / segment.length, 3) if segment.length else 0.0,
        stage="waits",
    )
    if segment.state is SegmentState.DISPATCHED and segment.link:
        shown.worker, shown.slot = segment.link.generation, segment.link.slot
        shown.stage = "queued" if segment.touched is None and not segment.sealed else "first block"
        if segment.sealed:
            shown.stage = "further blocks"
    shown.deadline_in_seconds = round(stream.timing.deadline(segment) - now, 3) if stream.timing.admitted else UNSET
    return shown


def _standing(stream: Stream, reason: str) -> tuple[str, str]:
    """The stream's state and, in words, what it waits for."""
    segments, growing = stream.segments, stream.request.growing
    if stream.timing.sounds:
        if not any(segments.dispatched()) and not any(segments.waiting()):
            return "made", "its listener takes what is made" if stream.text.ended else "more of its text is to come"
        return "sounding", "the rest is made before it is needed" if any(segments.dispatched()) else _held_back(reason)
    if any(segments.dispatched()):
        return "making", "its first sound is being made"
    if segments:
        return "waiting", _held_back(reason)
    return "reading", "its client is still writing the first sentence" if growing else "its text is being read"


def _held_back(reason: str) -> str:
    return f"no worker can speak: {reason}" if reason else "the workers make what is due sooner, or its buffer is full"
