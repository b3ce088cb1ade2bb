"""`GET /status`: this front's knowledge of itself and of the engine in use, for people and their scripts."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
import psutil
from aiohttp import web
from msgspec import UNSET, UnsetType

from frontend.contract.request import Urgency
from frontend.monitoring import report
from frontend.monitoring.metrics import Metrics
from frontend.monitoring.processes import processes, speaking
from frontend.monitoring.readings import OpenSockets
from frontend.monitoring.recommendations import recommendations
from frontend.monitoring.report import (
    Cache,
    Jobs,
    Memory,
    PlannedSegment,
    Player,
    Status,
    StreamStatus,
    Totals,
)
from frontend.monitoring.selfcheck import SelfChecker
from frontend.planning.costs import CostModel
from frontend.planning.strain import Strain
from frontend.settings.front import FrontSettings
from frontend.streams.cache import SegmentCache
from frontend.streams.segments import SegmentState, StreamSegment
from frontend.streams.stream import Stream
from shm import situation
from shm.engine_info import EngineInfo
from shm.situation import Situation
from text.english.tagger import tagger_name

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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The scheduler's state at one moment."""

    engine: EngineInfo | None
    reason: str
    """The reason why no engine can speak; empty when one can."""
    situation: Situation
    streams: Sequence[Stream]
    queue_depth: int
    quarantined: int
    """Number of quarantined segments."""
    costs: Mapping[str, CostModel]
    """Cost models by engine."""
    cache: SegmentCache
    first_sounds: Mapping[int, float] = field(default_factory=dict)
    """Predicted seconds until the first sound, by the number of a stream that is silent."""
    strain: Strain | None = None
    """The machine's, if plans keep a reserve for it."""


def tuning(told: situation.TuningState, now: float) -> report.Tuning:
    """The tuning profile in use, or the reason why there is none.

    Args:
        told: the supervisor's, of the start or the last reload.
        now: seconds since 1970.
    """
    if told.created is None:
        return report.Tuning(False, told.reason)
    made_at = datetime.fromtimestamp(told.created, UTC).isoformat(timespec="seconds")
    return report.Tuning(
        True, chosen=told.chosen, verdict=told.verdict, made_at=made_at, age_seconds=round(now - told.created)
    )


SETTINGS = (
    "max_streams",
    "max_connections",
    "adapt_plans",
    "cache_bytes",
    "disk_cache_bytes",
    "prime_silence",
    "requests_per_minute",
    "hang_patience",
    "drain_timeout",
    "selfcheck_hours",
)
"""Settings of the front that explain its figures and contain no secrets."""


OFF = {
    "selfcheck_hours": "it wakes an unloaded engine, and takes a processor for a second; drift is watched without it",
    "disk_cache": "it would write what was spoken to a disk, where it stays for 30 days",
}
"""Settings of the front that are off by default, with the reason."""

WORKERS_OFF = {
    "worker_max_rss": "0 unless it is set: memory stays flat in soak runs, and a limit below a model's own need would "
    "replace worker after worker"
}
"""The same of the workers, whose settings the front doesn't know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The front's parts that a report is read from."""

    snapshot: Callable[[], Snapshot]
    pronounced: Mapping[str, int]
    """Counts of words by the source of their phonemes, as `text.g2p.G2P.fallbacks` has them."""
    metrics: Metrics
    settings: FrontSettings
    selfcheck: SelfChecker | None = None
    open: OpenSockets = field(default_factory=OpenSockets)
    player: Callable[[], Player] | None = None
    jobs: Callable[[], Awaitable[Jobs]] | None = None
    """Reads the folder of jobs."""


class StatusHandler:
    """Builds the report. Counts begin with the process that counts, except `totals`."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._started = time.monotonic()

    async def get(self, request: web.Request) -> web.Response:
        jobs = await self._sources.jobs() if self._sources.jobs else UNSET
        return web.Response(body=msgspec.json.encode(self.report(jobs)), content_type="application/json")

    def report(self, jobs: Jobs | UnsetType = UNSET) -> Status:
        """The whole report, with the advice that follows from it."""
        now = self._sources.snapshot()
        memory = psutil.virtual_memory()
        found = Status(
            ready=now.engine is not None and not now.reason,
            reason=now.reason or UNSET,
            engine=speaking(now.engine, now.situation) if now.engine else UNSET,
            provider_failures=now.situation.provider_failures,
            worker=now.situation.worker_state,
            restarts=now.situation.restarts,
            processes=processes(now.situation, os.getppid()),
            active_streams=len(now.streams),
            streams=[stream_status(each, now.reason, now.first_sounds.get(each.number)) for each in now.streams],
            sockets=dict(self._sources.open.sockets),
            contexts=self._sources.open.contexts,
            queue_depth=now.queue_depth,
            quarantined_segments=now.quarantined,
            costs={name: _costs(costs) for name, costs in now.costs.items() if costs.measured},
            cache=self._cache(now),
            english_tagger=tagger_name(),
            words_by_source=dict(self._sources.pronounced),
            totals=self._totals(),
            work=self._sources.metrics.work.report(),
            memory=Memory(memory.total, memory.available),
            settings={name: getattr(self._sources.settings, name) for name in SETTINGS},
            off={name: why for name, why in OFF.items() if not getattr(self._sources.settings, name)} | WORKERS_OFF,
            tuning=tuning(now.situation.tuning, time.time()) if now.situation.tuning else UNSET,
            drift=self._sources.metrics.drift.report() or UNSET,
            strain=report.Strain(list(now.strain.signs), now.strain.reserve) if now.strain else UNSET,
            selfcheck=(self._sources.selfcheck.report() if self._sources.selfcheck else None) or UNSET,
            errors=self._sources.metrics.errors.latest(),
            errors_by_cause=dict(self._sources.metrics.errors.causes),
            first_sounds=self._sources.metrics.first_sounds.by_minute(),
            slowest_requests=self._sources.metrics.traces.slowest,
            latest_requests=self._sources.metrics.traces.latest,
            player=self._sources.player() if self._sources.player else UNSET,
            jobs=jobs,
            front_uptime_seconds=round(time.monotonic() - self._started, 3),
        )
        found.recommendations = recommendations(found)
        return found

    def _cache(self, now: Snapshot) -> Cache:
        cache = now.cache
        return Cache(
            cache.segments,
            cache.bytes,
            cache.hits,
            cache.misses,
            self._sources.settings.cache_bytes,
            self._sources.settings.disk_cache is not None,
        )

    def _totals(self) -> Totals:
        totals = self._sources.metrics.totals()
        return Totals(
            *(
                round(totals.get(f"kokoro_live_{name}", 0.0))
                for name in (
                    "requests_total",
                    "requests_refused_total",
                    "stream_underruns_total",
                    "streams_cut_total",
                    "segments_resubmitted_total",
                    "time_to_first_audio_seconds_count",
                )
            )
        )


def _costs(costs: CostModel) -> dict[str, Any]:
    """Measured costs, and the figures from which plans are made."""
    return costs.as_dict() | {"plans_are_made_for": costs.profile.as_dict()}
