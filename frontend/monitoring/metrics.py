"""Counts and times of the front's events, for Prometheus; one method per kind of event."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from frontend.monitoring.drift import DriftMonitor
from frontend.monitoring.instruments import Instruments
from frontend.monitoring.readings import Readings
from frontend.monitoring.status.report import RecentError
from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from shm.metric_files import MetricFiles

# The last requests that failed on the server's side: time, request and kind of error; never their text.

KEPT = 20


class RecentErrors:
    """The latest errors of this front."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix time."""
        self._clock = clock
        self._errors: deque[RecentError] = deque(maxlen=KEPT)

    def add(self, request_id: str, kind: str) -> None:
        """`kind` is an error's code, or a status."""
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
        self._errors.append(RecentError(at, request_id, kind))

    def latest(self) -> list[RecentError]:
        """The latest errors, the newest first."""
        return list(reversed(self._errors))


FALLBACKS = ("espeak", "letters")
"""The sources of phonemes for words that no lexicon has (`text.words.word.PhonemeSource`)."""

HELPERS = ("g2p", "reader")
"""The front's helper processes: espeak-ng's, and the one that reads long texts."""

UNMATCHED = "unmatched"
"""Endpoint label of a request that no route matches."""


class Event(StrEnum):
    """Events that are only counted, each by the name of its counter."""

    REFUSED = "requests_refused_total"
    """A request was refused for lack of room."""
    CUT = "streams_cut_total"
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
        self.drift = drift or DriftMonitor()
        self.readings = Readings()
        """Gauges that are computed at each scrape."""
        self.readings.add(self.drift.readings)
        instruments = Instruments()
        self.registry = instruments.registry
        self._counters, self._gauges, self._histograms = (
            instruments.counters,
            instruments.gauges,
            instruments.histograms,
        )
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
        """Count one occurrence of the event."""
        self._counters[event].inc()

    def pronounced(self, source: str) -> None:
        """Count a word by the source of its phonemes, as `text.g2p.G2P.fallbacks` names it.

        Called by the thread that reads texts.
        """
        if source in FALLBACKS:
            self._counters["g2p_fallback_total"].labels(source).inc()

    def helper_restarted(self, helper: str) -> None:
        """Count a restart of one of `HELPERS`, which died of a text or was killed."""
        self._counters["process_restarts_total"].labels(helper).inc()

    def cache_asked(self, found: bool) -> None:
        """Count a lookup in the cache as a hit or a miss."""
        self._counters["cache_hits_total" if found else "cache_misses_total"].inc()

    def segment_made(self, engine: EngineInfo, stream: int, seconds: float, samples: int, load: float) -> None:
        """Note that a segment took `seconds` of an inference thread, with `load` runs at once on average, itself
        included."""
        if samples:
            self._histograms["real_time_factor"].observe(seconds * SAMPLE_RATE / samples)
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

    def audio_sent(self, samples: int) -> None:
        """Count samples handed to a socket."""
        self._counters["audio_seconds_total"].inc(samples / SAMPLE_RATE)

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
