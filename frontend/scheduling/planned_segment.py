"""Plans a stream's segment: who speaks it, how fast, how long it will be, and under which key it is cached."""

from __future__ import annotations

import hashlib

import msgspec

from frontend.planning.ledger import Ledger
from frontend.streams.planned import PlannedSegment
from frontend.streams.speed import segment_speed
from frontend.streams.stream import Stream
from shm.engine_info import EngineInfo
from shm.messages import Voice
from text.words.segment import Segment

# The key under which a segment is cached and quarantined: equal keys mean equal samples.

_encode = msgspec.msgpack.Encoder().encode


def fingerprint(engine: EngineInfo, script: str, language: str, voice: Voice, speed: float) -> bytes:
    """A hash of 16 bytes.

    The hash covers the voice's numbers, not only its name: `EngineInfo.voices_sha256` is part of it, and so are the
    windows and statistics of the vocoder (`EngineInfo.rendering`). The execution provider isn't: two providers' samples
    of one model differ by rounding only.
    """
    how = (engine.name, engine.model, engine.model_sha256, engine.voices_sha256, engine.rendering)
    return hashlib.blake2b(_encode((how, script, language, voice, speed)), digest_size=16).digest()


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
