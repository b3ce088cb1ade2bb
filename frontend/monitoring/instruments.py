"""The instruments of the front's metrics: a table of names, meanings, labels and buckets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PREFIX = "kokoro_live_"

FIRST_AUDIO_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0)
DURATION_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Seconds. A stream lasts as long as its listener plays it, so the last buckets are long."""

REAL_TIME_FACTOR_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.5)


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric: its name without `PREFIX`, its meaning, its labels."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


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
        "(its stream didn't end within the drain timeout).",
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
    (
        MetricRow("request_duration_seconds", "From a request's header to the end of its response.", ("endpoint",)),
        DURATION_BUCKETS,
    ),
    (
        MetricRow(
            "time_to_first_audio_seconds",
            "From a request's header, or from the first complete sentence of a text that comes in pieces, to the first "
            "sample of speech handed to the socket; silence doesn't count, nor do requests of the priority idle, for "
            "which nobody waits.",
        ),
        FIRST_AUDIO_BUCKETS,
    ),
    (
        MetricRow(
            "real_time_factor",
            "Seconds of work per second of audio, for each segment that was made; below 1 it keeps up with a listener.",
        ),
        REAL_TIME_FACTOR_BUCKETS,
    ),
)
"""Histograms, each with its buckets."""


class Instruments:
    """The table's metrics in their own registry, by name without `PREFIX`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.counters = {row.name: Counter(*_described(row), registry=self.registry) for row in COUNTERS}
        self.gauges = {
            row.name: Gauge(*_described(row), registry=self.registry, multiprocess_mode="livesum") for row in GAUGES
        }
        self.histograms = {
            row.name: Histogram(*_described(row), registry=self.registry, buckets=buckets)
            for row, buckets in HISTOGRAMS
        }


def _described(row: MetricRow) -> tuple[str, str, Iterable[str]]:
    return PREFIX + row.name, row.meaning, row.labels
