"""Shares of the machine: one of several workers gets the accelerator, or a share of the cores."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shm.messages import Load
from worker.machine.machine import cores
from worker.machine.priority import tie_process
from worker.settings import WorkerSettings

# Memory that the C library holds free goes back to the system.


def return_free_memory() -> None:
    """Give back the free pages of the C library's heap, where it can (glibc's `malloc_trim`). Loading a model
    leaves some, which would stay resident for as long as the process lives.
    """
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


_TOPOLOGY = Path("/sys/devices/system/cpu")


def divide(cpus: Sequence[int], slot: int, slots: int) -> tuple[int, ...]:
    """Slot `slot`'s share of the processors: consecutive ones, with shares that differ by at most one processor.

    With more slots than processors, several slots share a processor.
    """
    if slots > len(cpus):
        return (cpus[slot % len(cpus)],)
    first, last = (len(cpus) * edge // slots for edge in (slot, slot + 1))
    return tuple(cpus[first:last])


def within(settings: WorkerSettings, number: int) -> WorkerSettings:
    """Settings of an engine that has `number` cores, for systems that can't tie the engine to them.

    The engine runs one inference at a time, on `number` threads: more inferences would take the cores of others.
    """
    return replace(settings, threads=settings.threads or number, concurrency=settings.concurrency or 1)


def sharers(slot: int, slots: int, accelerated: bool) -> tuple[int, int]:
    """Index of a slot's share of the cores, and the number of shares; (0, 1) means all cores.

    With an accelerator, slot 0 has no share of its own and may use all cores, because it needs next to none.
    """
    if not accelerated:
        return slot, slots
    return (slot - 1, slots - 1) if slot else (0, 1)


class MachineShare:
    """The share of this process. The process may be given another slot of the same kind later."""

    def __init__(self) -> None:
        self._cpus = _by_core(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None

    def take(self, settings: WorkerSettings, load: Load) -> WorkerSettings:
        """Move all threads of this process to their share of the cores. Returns the settings of the engine that will
        run there."""
        if load.slots == 1:
            return settings
        share, shares = sharers(load.slot, load.slots, load.accelerated)
        if load.slot:
            settings = replace(settings, provider="cpu", provider_options=())
        if self._cpus is None:
            return settings if shares == 1 else within(settings, max(cores() // shares, 1))
        tie_process(divide(self._cpus, share, shares))
        return settings


def _by_core(cpus: Sequence[int] | set[int]) -> tuple[int, ...]:
    """Processors sorted so that hardware threads of one core are adjacent, if the system reports them: no core is
    divided."""

    def core(cpu: int) -> tuple[int, int]:
        topology = _TOPOLOGY / f"cpu{cpu}" / "topology"
        try:
            return int((topology / "physical_package_id").read_text()), int((topology / "core_id").read_text())
        except (OSError, ValueError):
            return 0, cpu

    return tuple(sorted(cpus, key=lambda cpu: (*core(cpu), cpu)))
