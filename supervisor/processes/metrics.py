"""The supervisor's counters for Prometheus. Imported at the first count, because the library's import is slow
(`python -m benchmarks.late_loading`)."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge

from shm.metric_files import metric_files
from shm.situation import Situation
from supervisor.processes.role import RoleState

_UP = (RoleState.RUNNING, RoleState.RESTING)


class SupervisorMetrics:
    """Counts restarts from situations. Only the supervisor counts them, because no other process outlives them all."""

    def __init__(self, folder: Path | None) -> None:
        metric_files(folder, "supervisor")
        self.registry = CollectorRegistry()
        self._restarts = Counter(
            "kokoro_live_process_restarts_total",
            "Processes started again after a death, by role.",
            ("process",),
            registry=self.registry,
        )
        self._up = Gauge(
            "kokoro_live_process_up",
            "1 while the role's process, or one of several, serves or rests; 0 while it starts, or waits for its next "
            "start.",
            ("process",),
            registry=self.registry,
            multiprocess_mode="livemax",
        )
        self._provider_failures = Counter(
            "kokoro_live_provider_failures_total",
            "Execution providers that were given up, by name; /status has the reasons.",
            ("provider",),
            registry=self.registry,
        )
        self._cut = Counter(
            "kokoro_live_streams_cut_total",
            "Responses that broke after their first byte because their front died.",
            registry=self.registry,
        )
        self._seen = Situation("", "", {})

    def follow(self, situation: Situation) -> None:
        """Count the changes since the last situation."""
        for role, restarts in situation.restarts.items():
            self._restarts.labels(role).inc(restarts - self._seen.restarts.get(role, 0))
        for provider in situation.provider_failures.keys() - self._seen.provider_failures.keys():
            self._provider_failures.labels(provider).inc()
        self._cut.inc(situation.streams_cut - self._seen.streams_cut)
        serving = [report for report in situation.processes if report.restarts is not None]
        for role in {report.role for report in serving}:
            self._up.labels(role).set(any(r.role == role and r.state in _UP for r in serving))
        self._seen = situation
