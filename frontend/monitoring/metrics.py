"""What the front counts and times, for Prometheus; one method per event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from frontend.monitoring.drift import Drift
from frontend.monitoring.readings import Readings
from frontend.monitoring.status.recent_errors import RecentErrors
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.metric_files import MetricFiles

FIRST_AUDIO_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0)
DURATION_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Seconds. A stream lasts as long as its listener reads, so the last are long."""

REAL_TIME_FACTOR_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.5)

FALLBACKS = ("espeak", "letters")
"""Where phonemes come from when no lexicon has a word (`frontend.text.word.Source`)."""

UNMATCHED = "unmatched"
"""The endpoint of a request that no route takes."""


class Metrics:
    """One per front; `registry` is its own, so that several can live in one process."""

    def __init__(self, files: MetricFiles | None = None, drift: Drift | None = None) -> None:
        """`files` were taken before this was made; with them, `/metrics` has what all processes count."""
        self.errors = RecentErrors()
        self.drift = drift or Drift()
        self.registry = CollectorRegistry()
        self.readings = Readings()
        """Gauges that are read when they are asked for."""
        self._shown = CollectorRegistry()
        self._shown.register(files or self.registry)
        self._shown.register(self.readings)
        self.readings.add(self.drift.readings)
        self._watched: dict[Gauge, Callable[[], int]] = {}
        self._requests = Counter(
            "kokoro_live_requests_total",
            "Requests by route and answered status; 499 is a client that left before the end.",
            ("endpoint", "status"),
            registry=self.registry,
        )
        self._durations = Histogram(
            "kokoro_live_request_duration_seconds",
            "From a request's header to the end of its response.",
            ("endpoint",),
            buckets=DURATION_BUCKETS,
            registry=self.registry,
        )
        self._first_audio = Histogram(
            "kokoro_live_time_to_first_audio_seconds",
            "From a request's header to the first sample of speech handed to the socket; silence doesn't count.",
            buckets=FIRST_AUDIO_BUCKETS,
            registry=self.registry,
        )
        self._audio = Counter("kokoro_live_audio_seconds_total", "Audio handed to sockets.", registry=self.registry)
        self._streams = Gauge(
            "kokoro_live_active_streams",
            "Requests being spoken now.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self._cut = Counter(
            "kokoro_live_streams_cut_total",
            "Streams that broke after their first byte: the connection was cut.",
            registry=self.registry,
        )
        self._resubmitted = Counter(
            "kokoro_live_segments_resubmitted_total",
            "Segments that a worker died on and another was given.",
            registry=self.registry,
        )
        self._underruns = Counter(
            "kokoro_live_stream_underruns_total",
            "Gaps that listeners heard: the next sample was made after the one before it had been played.",
            registry=self.registry,
        )
        self._replanned = Counter(
            "kokoro_live_replans_total",
            "Streams whose rest was cut anew because their listeners were about to run dry.",
            registry=self.registry,
        )
        self._pronounced = Counter(
            "kokoro_live_g2p_fallback_total",
            "Words that no lexicon had, by what pronounced them: espeak (its rules) or letters (spelled out).",
            ("source",),
            registry=self.registry,
        )
        for source in FALLBACKS:
            self._pronounced.labels(source)
        self._refusals = Counter(
            "kokoro_live_requests_refused_total",
            "Requests that were answered with 429 because there was no room to speak them in time.",
            registry=self.registry,
        )
        self._connections = Gauge(
            "kokoro_live_connections",
            "Connections open now.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self._connections_closed = Counter(
            "kokoro_live_connections_closed_total",
            "Connections closed by the server: header_timeout, write_timeout, room (idle, for a newcomer), refused.",
            ("reason",),
            registry=self.registry,
        )
        self._real_time_factor = Histogram(
            "kokoro_live_real_time_factor",
            "Seconds of work per second of audio, for each segment that was made; below 1 it keeps up with a listener.",
            buckets=REAL_TIME_FACTOR_BUCKETS,
            registry=self.registry,
        )
        self._cache_hits = Counter(
            "kokoro_live_cache_hits_total", "Segments that were repeated from the cache.", registry=self.registry
        )
        self._cache_misses = Counter(
            "kokoro_live_cache_misses_total",
            "Segments that were looked for there and had to be made.",
            registry=self.registry,
        )
        self._cache_bytes = Gauge(
            "kokoro_live_cache_bytes",
            "Memory that the cache takes.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self._queue = Gauge(
            "kokoro_live_queue_depth",
            "Segments that are planned and not with a worker.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def watch_queue(self, depth: Callable[[], int]) -> None:
        """Ask `depth` at every scrape, and whenever a request ends: a front that drains isn't scraped."""
        self._watched[self._queue] = depth

    def watch_connections(self, count: Callable[[], int]) -> None:
        """Ask `count` likewise."""
        self._watched[self._connections] = count

    def watch_cache(self, size: Callable[[], int]) -> None:
        """Ask `size` (bytes) likewise."""
        self._watched[self._cache_bytes] = size

    def _look(self) -> None:
        for gauge, figure in self._watched.items():
            gauge.set(figure())

    def pronounced(self, source: str) -> None:
        """A word's phonemes came from there (`frontend.text.word.Source`). Called by the thread that reads texts."""
        if source in FALLBACKS:
            self._pronounced.labels(source).inc()

    def cache_asked(self, found: bool) -> None:
        """The cache had a segment, or hadn't."""
        (self._cache_hits if found else self._cache_misses).inc()

    def segment_made(self, engine: EngineInfo, stream: int, seconds: float, samples: int, load: float) -> None:
        """It took `seconds` of one lane, with `load` runs side by side on average, this one included."""
        if samples:
            self._real_time_factor.observe(seconds * SAMPLE_RATE / samples)
            self.drift.observe(engine, stream, seconds, samples, load)

    def connection_closed(self, reason: str) -> None:
        """The server closed it, without a request's end being the cause."""
        self._connections_closed.labels(reason).inc()

    def request_finished(self, endpoint: str, status: int, seconds: float) -> None:
        """`endpoint` is a route's template or `UNMATCHED`, so that clients can't make new series."""
        self._requests.labels(endpoint, str(status)).inc()
        self._durations.labels(endpoint).observe(seconds)
        self._look()

    def refused(self) -> None:
        """There was no room for a request."""
        self._refusals.inc()

    def stream_opened(self) -> None:
        self._streams.inc()

    def stream_closed(self) -> None:
        self._streams.dec()

    def stream_cut(self) -> None:
        self._cut.inc()

    def speech_began(self, seconds: float) -> None:
        """The first sample of speech went to the socket, `seconds` after the request came."""
        self._first_audio.observe(seconds)

    def audio_sent(self, samples: int) -> None:
        self._audio.inc(samples / SAMPLE_RATE)

    def segment_resubmitted(self) -> None:
        self._resubmitted.inc()

    def underrun(self) -> None:
        """A listener heard a gap."""
        self._underruns.inc()

    def replanned(self) -> None:
        """A stream's rest was cut anew."""
        self._replanned.inc()

    def totals(self) -> dict[str, float]:
        """Every counter's value, of all processes and labels together, as `/metrics` has it."""
        found: dict[str, float] = defaultdict(float)
        for family in self._shown.collect():
            for sample in family.samples if family.type == "counter" else ():
                found[sample.name] += sample.value
        return found

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Everything, in the text format that the scraper's `Accept` asks for, and its Content-Type."""
        self._look()
        encode, content_type = choose_encoder(accept)
        return encode(self._shown), content_type
