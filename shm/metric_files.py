"""Metrics that survive the counting process: one folder, with one set of memory-mapped files for each *slot* of a role.

The files are those of prometheus-client's multiprocess mode, with `front-0`, `worker-0`, `worker-1` in place of
process ids. A process holds its slot by a lock that the kernel releases however the process ends; the role's next
process takes the same files and continues the counts. The number of files is therefore bounded by the number of one
role's processes alive at once, and a counter never decreases after a kill.

A value is 16 bytes, stored by one copy. An entry counts only once the file's length of used bytes, which is written
last, covers it: a process that is killed in between leaves no half entry. All pages are written when a file is created,
because a mapped page for which the disk has no room would cause SIGBUS later (`tests/shm/test_metric_files.py` fills
the files).
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import Metric, values
from prometheus_client.multiprocess import MultiProcessCollector

from shm.atomic import try_lock

log = logging.getLogger(__name__)

FILES = {"counter": 1 << 18, "histogram": 1 << 19, "gauge_livesum": 1 << 14, "gauge_livemax": 1 << 14}
"""File size in bytes by kind of metric: several times the size of all existing metrics."""

MAX_SLOTS = 32
"""Largest number of processes of one role that may be alive at once."""


class MetricFiles:
    """Metric files of this process, and a view of all processes' files. Metrics created from now on are kept in the
    files."""

    def __init__(self, folder: Path, role: str) -> None:
        """Take a slot. Call this before creating the process's first metric.

        Args:
            role: front, worker or supervisor.

        Raises:
            OSError: the folder can't be written, or its disk is full. Metrics are then kept in memory.
        """
        self._folder = folder
        self._skipped: set[str] = set()
        try:
            self.slot = self._take(role)
            for kind, size in FILES.items():
                _reserve(folder / f"{kind}_{self.slot}.db", size)
        except OSError:
            values.ValueClass = values.MutexValue
            raise
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)  # prometheus-client reads the folder from here
        values.ValueClass = values.MultiProcessValue(lambda: self.slot)  # type: ignore[no-untyped-call]

    def _take(self, role: str) -> str:
        for number in range(MAX_SLOTS):
            slot = f"{role}-{number}"
            fd = os.open(self._folder / f"{slot}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            if not try_lock(fd):
                os.close(fd)
                continue
            # The descriptor stays open as long as this process lives: it is never closed, and never inherited.
            for gauges in self._folder.glob(f"gauge_*_{slot}.db"):
                gauges.unlink(missing_ok=True)
            return slot
        raise OSError(f"{MAX_SLOTS} processes of the role {role} live already")

    def collect(self) -> Iterable[Metric]:
        """Metrics of all processes: counters of dead processes too, gauges of living processes only.

        Unreadable files are left out; each is logged once.
        """
        files = [str(file) for file in sorted(self._folder.glob("*.db")) if self._counts(file)]
        try:
            return _merged(files)
        except Exception:  # what a damaged file raises in prometheus-client has no limits
            return _merged([file for file in files if self._readable(file)])

    def _counts(self, file: Path) -> bool:
        try:
            being_made = not file.stat().st_size
        except FileNotFoundError:
            return False  # a slot's next holder begins without the gauges of the one before
        return not being_made and (not file.name.startswith("gauge") or self._alive(file.stem.rpartition("_")[2]))

    def _readable(self, file: str) -> bool:
        try:
            _merged([file])
        except Exception as error:
            if file not in self._skipped:
                self._skipped.add(file)
                log.error("left out of /metrics: %s can't be read: %s", file, error)
            return False
        return True

    def _alive(self, slot: str) -> bool:
        """True if a process holds the slot. The check itself locks the slot for a moment, so a new process that starts
        then may take the next slot."""
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(self._folder / f"{slot}.lock", os.O_RDWR)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                os.close(fd)
        return False


def _merged(files: list[str]) -> Iterable[Metric]:
    merged: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
    return merged


def _reserve(file: Path, size: int) -> None:
    """Extend the file to `size` bytes, all written to the disk."""
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        have = os.fstat(fd).st_size
        while have < size:
            have += os.pwrite(fd, bytes(size - have), have)
    finally:
        os.close(fd)


def metric_files(folder: Path | None, role: str) -> MetricFiles | None:
    """Metric files in the folder; None, with one line in the log, if they can't be used."""
    if folder is None:
        return None
    try:
        return MetricFiles(folder, role)
    except OSError as error:
        log.error(
            "the %s's metrics are kept in memory, lost when it ends, and absent where another process is asked: "
            "%s can't be used: %s",
            role,
            folder,
            error.strerror or error,
        )
        return None
