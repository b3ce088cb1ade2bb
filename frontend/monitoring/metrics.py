"""Counts and times of the front's events, for Prometheus; one method per kind of event."""

from __future__ import annotations

import statistics
import time
from collections import Counter as Counted
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from frontend.contract.stages import PLACES, NotedBlock, Stages
from frontend.monitoring.drift import DriftMonitor
from frontend.monitoring.processes import WorkAccount
from frontend.monitoring.readings import Readings
from frontend.monitoring.report import FirstSounds, RecentError, Trace, TracedBlock
from shm.engine_info import EngineInfo
from shm.metric_files import MetricFiles

_HOUR = 3600.0

_A_MINUTE = 3
"""Traces kept of each minute, its slowest: an hour keeps 180, of about a kilobyte each."""

SLOWEST, LATEST = 5, 3
"""Traces that are reported."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """A request whose first sound was heard."""

    moment: float
    seconds: float
    started: float
    stages: Stages


class RecentTraces:
    """The requests of which somebody heard something of late."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._slowest: deque[list[_Heard]] = deque(maxlen=61)
        """The slowest of each of the minutes that an hour touches, the slowest first; the oldest minute first."""
        self._latest: deque[_Heard] = deque(maxlen=LATEST)

    def add(self, stages: Stages, started: float, seconds: float) -> None:
        """Note a request whose first sound was heard now, `seconds` after it had `started` (monotonic seconds)."""
        heard = _Heard(self._clock(), seconds, started, stages)
        self._latest.append(heard)
        if not self._slowest or int(self._slowest[-1][0].moment / 60) != int(heard.moment / 60):
            self._slowest.append([])
        minute = self._slowest[-1]
        minute.append(heard)
        minute.sort(key=lambda each: -each.seconds)
        del minute[_A_MINUTE:]

    @property
    def slowest(self) -> list[Trace]:
        """The slowest of the hour, the slowest first."""
        since = self._clock() - _HOUR
        found = [each for minute in self._slowest for each in minute if each.moment > since]
        return [self._trace(each) for each in sorted(found, key=lambda each: -each.seconds)[:SLOWEST]]

    @property
    def latest(self) -> list[Trace]:
        """The latest, the newest first."""
        return [self._trace(each) for each in reversed(self._latest)]

    def _trace(self, heard: _Heard) -> Trace:
        stages, started = heard.stages, heard.started
        return Trace(
            stages.request_id,
            round(self._clock() - heard.moment, 1),
            round(heard.seconds, 4),
            started,
            stages.facts,
            stages.seconds(started, PLACES, digits=5),
            [_block(each, started) for each in stages.blocks],
        )


def _block(block: NotedBlock, started: float) -> TracedBlock:
    times = (block.times.begun, block.times.made, block.times.written, block.noticed)
    return TracedBlock(block.segment, block.samples, *(round(at - started, 5) for at in times))


_MOST = 10_000
"""First sounds that are kept; those of a busier hour begin later."""


class RecentFirstSounds:
    """The waits of listeners in the last hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard: deque[tuple[float, float]] = deque(maxlen=_MOST)

    def add(self, seconds: float) -> None:
        """Note that a listener heard the first sound now, after `seconds`."""
        self._heard.append((self._clock(), seconds))

    def by_minute(self) -> list[FirstSounds]:
        """Each minute of the last hour in which something was heard, the oldest first."""
        now = self._clock()
        minutes: dict[int, list[float]] = {}
        for moment, seconds in self._heard:
            if now - moment < _HOUR:
                minutes.setdefault(int((now - moment) / 60), []).append(seconds)
        return [
            FirstSounds(ago, len(found), round(statistics.median(found), 3), round(max(found), 3))
            for ago, found in minutes.items()
        ]


PREFIX = "kokoro_live_"


class MetricRow(NamedTuple):
    """One metric: its name without `PREFIX`, its meaning, its labels; of a histogram its buckets."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


COUNTERS = (
    MetricRow(
        "requests_total",
        "Requests by route and status; 499: the client left, read nothing for too long, or outlasted the drain.",
        ("endpoint", "status"),
    ),
    MetricRow("audio_seconds_total", "Audio handed to sockets."),
    MetricRow(
        "streams_cut_total",
        "Responses that broke after their first byte: the engine failed, the client read nothing for too long, the "
        "drain timeout ended, or the front died. A client that left, or interrupted itself, isn't counted.",
    ),
    MetricRow("answers_continued_total", "Answers that another front continued after theirs was killed."),
    MetricRow("segments_resubmitted_total", "Segments that a worker died on and another was given."),
    MetricRow(
        "stream_underruns_total",
        "Gaps that listeners heard: the next sample was made after the one before it had been played.",
    ),
    MetricRow("replans_total", "Streams whose rest was cut again because their listeners were about to run dry."),
    MetricRow(
        "g2p_fallback_total",
        "Words that their language's lexicon lacked, by what pronounced them: espeak (its rules) or letters (spelled "
        "out). Languages without a lexicon aren't counted.",
        ("source",),
    ),
    MetricRow(
        "sentences_misread_total",
        "Sentences whose reading failed in the server's own code and that simpler rules read; the log has each.",
    ),
    MetricRow("texts_unread_total", "Requests that the server's own code failed to read (500); the log has each."),
    MetricRow("process_restarts_total", "Processes started again after a death, by role.", ("process",)),
    MetricRow(
        "requests_refused_total",
        "Requests, and texts of sockets, that were rejected because there was no room to speak them in time. Those of "
        "the priority idle, which give way to listeners, aren't counted.",
    ),
    MetricRow(
        "connections_closed_total",
        "Connections closed by the server: header_timeout, write_timeout, room (idle, for a newcomer), refused, drain "
        "(its stream didn't end within the drain timeout), takeover (its front died, and another can't continue it).",
        ("reason",),
    ),
    MetricRow("cache_hits_total", "Segments that were repeated from the cache."),
    MetricRow("cache_misses_total", "Segments that were looked for there and had to be made."),
)

GAUGES = (
    MetricRow("active_streams", "Requests, and texts of sockets, being spoken now."),
    MetricRow("connections", "Connections open now."),
    MetricRow("cache_bytes", "Memory that the cache takes."),
    MetricRow("queue_depth", "Segments that are planned and not with a worker."),
)
"""Gauges; each shows the sum over all living processes that set it."""

HISTOGRAMS = (
    MetricRow(
        "request_duration_seconds",
        "From a request's header to the end of its response.",
        ("endpoint",),
        # Seconds. A stream lasts as long as its listener plays it, so the last buckets are long.
        (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0),
    ),
    MetricRow(
        "time_to_first_audio_seconds",
        "From a request's header, or from the first complete sentence of a text that comes in pieces, to the first "
        "sample of speech handed to the socket; silence doesn't count, nor do requests of the priority idle, for "
        "which nobody waits.",
        buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0),
    ),
    MetricRow(
        "reading_seconds",
        "Time in which the text of one segment is read: markup, sentences, normalisation and pronunciation.",
        buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5),
    ),
    MetricRow(
        "planning_seconds",
        "Time in which one segment is cut from the sentences that were read.",
        buckets=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1),
    ),
    MetricRow(
        "real_time_factor",
        "Seconds of work per second of audio, for each segment that was made; below 1 it keeps up with a listener.",
        buckets=(0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.5),
    ),
)


class RecentErrors:
    """The last 20 requests that failed on the server's side: time, request and kind of error; never their text."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix time."""
        self._clock = clock
        self._errors: deque[RecentError] = deque(maxlen=20)
        self.causes: Counted[str] = Counted()
        """All errors, by kind."""

    def add(self, request_id: str, kind: str) -> None:
        """`kind` is an error's code, or a status."""
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
        self._errors.append(RecentError(at, request_id, kind))
        self.causes[kind] += 1

    def latest(self) -> list[RecentError]:
        """The errors, the newest first."""
        return list(reversed(self._errors))


FALLBACKS = ("espeak", "letters")
"""The sources of phonemes for words that no lexicon has (`text.words.segment.PhonemeSource`)."""

HELPERS = ("g2p", "reader")
"""The front's helper processes: espeak-ng's, and the one that reads long texts."""

UNMATCHED = "unmatched"
"""Endpoint label of a request that no route matches."""


class Event(StrEnum):
    """Events that are only counted, each by the name of its counter."""

    REFUSED = "requests_refused_total"
    """A request was refused for lack of room."""
    CUT = "streams_cut_total"
    CONTINUED = "answers_continued_total"
    """An answer of a front that was killed goes on."""
    RESUBMITTED = "segments_resubmitted_total"
    UNDERRUN = "stream_underruns_total"
    """A listener heard a gap."""
    REPLANNED = "replans_total"
    """The rest of a stream was cut again."""
    MISREAD = "sentences_misread_total"
    """A sentence was spoken without rules that failed."""
    UNREAD = "texts_unread_total"
    """A request failed because its text couldn't be read."""


class Metrics:
    """The metrics of one front; each has its own `registry`, so that several can exist in one process."""

    def __init__(self, files: MetricFiles | None = None, drift: DriftMonitor | None = None) -> None:
        """`files` is the folder prepared before this object; with it, `/metrics` has the counts of all processes."""
        self.errors = RecentErrors()
        self.first_sounds = RecentFirstSounds()
        self.traces = RecentTraces()
        self.drift = drift or DriftMonitor()
        self.work = WorkAccount()
        self.readings = Readings()
        """Gauges that are computed at each scrape."""
        self.readings.add(self.drift.readings)
        self.registry = CollectorRegistry()
        self._counters = {
            row.name: Counter(PREFIX + row.name, row.meaning, row.labels, registry=self.registry) for row in COUNTERS
        }
        self._gauges = {
            row.name: Gauge(
                PREFIX + row.name, row.meaning, row.labels, registry=self.registry, multiprocess_mode="livesum"
            )
            for row in GAUGES
        }
        self._histograms = {
            row.name: Histogram(PREFIX + row.name, row.meaning, row.labels, registry=self.registry, buckets=row.buckets)
            for row in HISTOGRAMS
        }
        for source in FALLBACKS:
            self._counters["g2p_fallback_total"].labels(source)
        for helper in HELPERS:
            self._counters["process_restarts_total"].labels(helper)
        self._shown = CollectorRegistry()
        self._shown.register(files or self.registry)
        self._shown.register(self.readings)
        self._watched: dict[str, Callable[[], int]] = {}

    def watch(self, gauge: Literal["queue_depth", "connections", "cache_bytes"], figure: Callable[[], int]) -> None:
        """Compute `figure` at every scrape, and whenever a request ends, because a draining front isn't scraped."""
        self._watched[gauge] = figure

    def count(self, event: Event) -> None:
        self._counters[event].inc()

    def pronounced(self, source: str, words: int) -> None:
        """Count words by the source of their phonemes, as `text.g2p.G2P.fallbacks` names it.

        Called by the thread that reads texts.
        """
        if source in FALLBACKS:
            self._counters["g2p_fallback_total"].labels(source).inc(words)

    def segment_read(self, reading: float, planning: float) -> None:
        """Note the seconds in which a segment was read and cut.

        Called by the thread that reads texts.
        """
        self._histograms["reading_seconds"].observe(reading)
        self._histograms["planning_seconds"].observe(planning)

    def helper_restarted(self, helper: str) -> None:
        """Count a restart of one of `HELPERS`, which died of a text or was killed."""
        self._counters["process_restarts_total"].labels(helper).inc()

    def cache_asked(self, found: bool) -> None:
        """Count a lookup in the cache as a hit or a miss."""
        self._counters["cache_hits_total" if found else "cache_misses_total"].inc()

    def segment_made(
        self, engine: EngineInfo, stream: int, seconds: float, samples: int, load: float, prosody_seconds: float = 0.0
    ) -> None:
        """Note that a segment took `seconds` of an inference thread, with `load` runs at once on average, itself
        included; `prosody_seconds` of them for its prosody."""
        self.work.made(samples / engine.sample_rate, seconds, prosody_seconds)
        if samples:
            self._histograms["real_time_factor"].observe(seconds * engine.sample_rate / samples)
            self.drift.observe(engine, stream, seconds, samples, load)

    def connection_closed(self, reason: str) -> None:
        """Count a connection that the server closed for another reason than a request's end."""
        self._counters["connections_closed_total"].labels(reason).inc()

    def request_finished(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request. `endpoint` is a route's template or `UNMATCHED`, so that clients can't create new series."""
        self._counters["requests_total"].labels(endpoint, str(status)).inc()
        self._histograms["request_duration_seconds"].labels(endpoint).observe(seconds)
        self._look()

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Context in which a request counts as being spoken."""
        self._gauges["active_streams"].inc()
        try:
            yield
        finally:
            self._gauges["active_streams"].dec()

    def speech_began(self, seconds: float) -> None:
        """Note that the first sample of speech was sent to the socket, `seconds` after the request arrived."""
        self._histograms["time_to_first_audio_seconds"].observe(seconds)
        self.first_sounds.add(seconds)

    def audio_sent(self, seconds: float) -> None:
        """Count audio handed to a socket."""
        self._counters["audio_seconds_total"].inc(seconds)

    def totals(self) -> dict[str, float]:
        """Each counter's value and each histogram's count, summed over processes and labels, as in `/metrics`."""
        found: dict[str, float] = defaultdict(float)
        for family in self._shown.collect():
            for sample in family.samples:
                if family.type == "counter" or sample.name.endswith("_count"):
                    found[sample.name] += sample.value
        return found

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """All metrics, in the text format that the scraper's `Accept` asks for, with its Content-Type."""
        self._look()
        encode, content_type = choose_encoder(accept)
        return encode(self._shown), content_type

    def _look(self) -> None:
        for gauge, figure in self._watched.items():
            self._gauges[gauge].set(figure())
