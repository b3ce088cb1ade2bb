"""The server's processes, as the supervisor reports them, with their present memory."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import psutil
from msgspec import UNSET, UnsetType

from frontend.monitoring.readings import Reading
from frontend.monitoring.status.report import Process, Scheduling
from shm.engine_info import Priority
from shm.situation import ProcessReport, Situation


def processes(situation: Situation, supervisor: int) -> list[Process]:
    """The supervisor's process (by its pid), then all processes that it has reported; empty before its first report."""
    if not situation.processes:
        return []
    first = Process("supervisor", "running", pid=supervisor, resident_memory_bytes=_resident(supervisor) or UNSET)
    return [first, *map(_process, situation.processes)]


def _process(report: ProcessReport) -> Process:
    return Process(
        role=report.role,
        state=report.state,
        slot=_known(report.slot),
        provider=report.provider or UNSET,
        scheduling=scheduling(report.priority),
        generation=_known(report.generation),
        pid=_known(report.pid),
        uptime_seconds=_since(report.started),
        load_seconds=UNSET if report.load_seconds is None else round(report.load_seconds, 3),
        resident_memory_bytes=(_resident(report.pid) if report.pid else None) or UNSET,
        restarts=_known(report.restarts),
        last_exit=report.last_exit or UNSET,
        last_exit_seconds_ago=_since(report.last_exit_at),
        next_start_in_seconds=_until(report.next_start),
    )


def scheduling(priority: Priority | None) -> Scheduling | UnsetType:
    """The worker's scheduling priority, as the system reports it there."""
    if priority is None:
        return UNSET
    return Scheduling(priority.nice, list(priority.processors) or UNSET, priority.qos or UNSET)


def memory_readings(situation: Situation, supervisor: int) -> Iterator[Reading]:
    """Memory by role for `/metrics`; a standby counts as a worker."""
    by_role: dict[str, int] = defaultdict(int)
    for process in processes(situation, supervisor):
        if process.resident_memory_bytes is not UNSET:
            by_role["worker" if process.role == "standby" else process.role] += process.resident_memory_bytes
    yield from (("process_resident_memory_bytes", (role,), size) for role, size in by_role.items())


def helper_memory_readings(pids: Mapping[str, Sequence[int]]) -> Iterator[Reading]:
    """Memory of the helper processes that the front starts itself, by name, for `/metrics`."""
    for name, theirs in pids.items():
        if size := sum(_resident(pid) or 0 for pid in theirs):
            yield "process_resident_memory_bytes", (name,), size


def _resident(pid: int) -> int | None:
    """Resident memory in bytes; None if the process has just ended."""
    try:
        size: int = psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return None
    return size


def _known(figure: int | None) -> int | UnsetType:
    return UNSET if figure is None else figure


def _since(moment: float | None) -> float | UnsetType:
    return UNSET if moment is None else round(time.monotonic() - moment, 3)


def _until(moment: float | None) -> float | UnsetType:
    return UNSET if moment is None else round(max(moment - time.monotonic(), 0.0), 3)
