"""The counts of all processes: their folder, which is made and emptied only at the server's start, and the supervisor's
own counters."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import platformdirs

from shm.atomic import try_lock
from shm.metric_files import metric_files
from shm.situation import Situation
from supervisor.processes.role import RoleState

_UP = (RoleState.RUNNING, RoleState.RESTING)


class SupervisorMetrics:
    """Counts restarts from situations. Only the supervisor counts them, because no other process outlives them all."""

    def __init__(self, folder: Path | None) -> None:
        metric_files(folder, "supervisor")
        # Imported at the first count, because the import is slow (`python -m benchmarks.late_loading`).
        from prometheus_client import CollectorRegistry, Counter, Gauge

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


log = logging.getLogger(__name__)

PREFIX = "kokoro-live-metrics-"

ROOM = 5 << 20
"""Bytes: the files of a supervisor, two fronts and three workers."""

_FRESH = 60.0
"""Seconds for which an unlocked folder may belong to a server that is just starting."""


class CountsFolder(NamedTuple):
    """A folder that this server alone uses."""

    path: Path
    lock: int
    """The descriptor that locks it until the last process with it ends."""


@contextlib.contextmanager
def metrics_folder(chosen: Path | None, inherited: CountsFolder | None = None) -> Iterator[CountsFolder | None]:
    """The folder, used by this server alone while it runs; None, with a line in the log, if it can't be created.

    `inherited`: the folder of the version whose place this one takes, which goes on counting there.

    A folder that the user didn't choose is private, and removed at the end. A killed server leaves its folder, a few
    hundred kilobytes, which the next server removes at its start.
    """
    try:
        found = inherited or CountsFolder(*(_chosen(chosen) if chosen else _private(places())))
        _assert_room(found.path)
    except OSError as error:
        log.error("metrics are kept in each process's memory, because there is no folder for them: %s", error)
        yield None
        return
    try:
        yield found
    finally:
        if not chosen:
            shutil.rmtree(found.path, ignore_errors=True)
        os.close(found.lock)


def _assert_room(folder: Path) -> None:
    """Raise OSError if the folder lacks room for the files of a server's processes."""
    probe = folder / "probe.tmp"
    try:
        probe.write_bytes(bytes(ROOM))
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()


def places() -> list[Path]:
    """Parents in which a private folder may be made, best first: memory, and the user's own."""
    runtime = [Path(folder, "kokoro-live")] if (folder := os.environ.get("XDG_RUNTIME_DIR")) else []
    cache = platformdirs.user_cache_path("kokoro-live", appauthor=False)
    return [*runtime, cache / "metrics", Path(tempfile.gettempdir())]


def _chosen(folder: Path) -> tuple[Path, int]:
    folder.mkdir(parents=True, exist_ok=True)
    lock = _locked(folder)
    if lock is None:
        raise OSError(f"another server uses {folder}: give each its own --metrics-dir, or none")
    for pattern in ("counter_*.db", "histogram_*.db", "gauge_*.db", "*-*.lock"):
        for file in folder.glob(pattern):
            file.unlink()
    return folder, lock


def _private(candidates: list[Path]) -> tuple[Path, int]:
    reasons = []
    for place in candidates:
        try:
            place.mkdir(parents=True, exist_ok=True)
            _clear_away(place)
            folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=place))
        except OSError as error:
            reasons.append(str(error))
            continue
        lock = _locked(folder)
        assert lock is not None, "its name is new"
        return folder, lock
    raise OSError("; ".join(reasons))


def _clear_away(place: Path) -> None:
    """Remove the folders that killed servers have left."""
    for folder in place.glob(f"{PREFIX}*-*"):
        with contextlib.suppress(OSError):  # another user's folder, or another server removes it too
            if folder.is_symlink() or time.time() - folder.stat().st_mtime < _FRESH:
                continue
            if (lock := _locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """A descriptor that locks the folder until this process ends; None if another process has locked it."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    if try_lock(lock):
        return lock
    os.close(lock)
    return None
