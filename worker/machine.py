"""This machine: its name, for measurements that are valid on one machine only, and the worker's place on it.

The place is processors and niceness, and on macOS the quality of service class, which is only read. Effective values
are read back from the operating system, never repeated from the settings. The macOS call is that of `sys/qos.h`
(Apple's libpthread); this project has never run it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from shm.engine_info import Priority
from shm.messages import Load
from worker.engine import EngineUnavailable
from worker.settings import WorkerSettings, processors

_CPUINFO = Path("/proc/cpuinfo")
"""Linux' facts about the processors."""


def processor() -> str:
    """Name of the processor, as the operating system reports it."""
    if sys.platform == "darwin":
        asked = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False
        )
        if asked.stdout.strip():
            return asked.stdout.strip()
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def cores() -> int:
    """Number of cores that this process may use; the number of all cores if the system doesn't limit processes."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine_name(number: int = 0) -> str:
    """Processor, cores and system with its version: if any of them changes, old measurements are void.

    Args:
        number: number of cores, if it isn't the number that this process may use.
    """
    system = platform.mac_ver()[0] if sys.platform == "darwin" else platform.release()
    return f"{processor()}; {number or cores()} cores; {platform.system()} {system} {platform.machine()}"


# AVX2 and AVX-512 without VNNI multiply U8 by S8 with `vpmaddubsw`, which adds two products in 16 bits and saturates:
# weights of all 8 bits give wrong sums there, and 7-bit weights don't (onnxruntime's quantisation guide,
# `reduce_range`). VNNI and ARM's dot product add in 32 bits.

_VNNI = {"avx512_vnni", "avx_vnni", "avx512vnni", "avxvnni"}
_X86 = ("x86_64", "amd64", "i386", "i686")


def products_saturate(machine: str, flags: frozenset[str] | None) -> bool:
    """True if sums of unsigned-by-signed byte products saturate on the given processor.

    Args:
        machine: the name that `platform.machine` gives.
        flags: features of the processor, as in /proc/cpuinfo; None if the system doesn't report them.
    """
    if machine.lower() not in _X86:
        return False
    # An Intel Mac reports no features, and most of them have no VNNI: slower sums cost little, wrong ones much.
    return not (flags and flags & _VNNI)


def products_saturate_here() -> bool:
    """True if sums of unsigned-by-signed byte products saturate on this machine."""
    return products_saturate(platform.machine(), cpu_flags())


def cpu_flags(cpuinfo: Path = _CPUINFO) -> frozenset[str] | None:
    """Features of the first processor; None if the file doesn't exist (everywhere but on Linux)."""
    flags = _cpuinfo("flags", "Features", file=cpuinfo)
    return None if flags is None else frozenset(flags.split())


def _cpuinfo(*names: str, file: Path = _CPUINFO) -> str | None:
    """The first value under one of these names."""
    try:
        lines = (line.partition(":") for line in file.read_text().splitlines())
        return next((value.strip() for name, _, value in lines if name.strip() in names), None)
    except OSError:
        return None


QOS_CLASSES = {
    "user-interactive": 0x21,
    "user-initiated": 0x19,
    "default": 0x15,
    "utility": 0x11,
    "background": 0x09,
}
"""Values of `qos_class_t` (`sys/qos.h`), by their names in `/status`."""


def try_placement(settings: WorkerSettings) -> None:
    """Check that a worker can be placed as its settings ask, without placing this process: on Linux a thread that ends
    at once is placed. Elsewhere, where niceness is the whole process's, the check is whether it may be lowered.

    Raises:
        EngineUnavailable: the system can't do that, or refuses. The message names the setting.
    """

    def place() -> None:
        if sys.platform == "linux":
            _place(settings, [threading.get_native_id()])
        elif settings.worker_cpus or (settings.worker_nice < os.getpriority(os.PRIO_PROCESS, 0) and os.geteuid()):
            _place(settings, [0])

    with ThreadPoolExecutor(1) as thread:
        thread.submit(place).result()


def place_process(settings: WorkerSettings) -> None:
    """Set the processors and the niceness of this process, for all threads that libraries have started already: on
    Linux each thread has its own values, and new threads inherit those of their parent.

    Raises:
        EngineUnavailable: the system can't do that, or refuses. The message names the setting.
    """
    _place(settings, _threads())


def _place(settings: WorkerSettings, threads: Iterable[int]) -> None:
    if settings.worker_cpus:
        if not hasattr(os, "sched_getaffinity"):
            raise EngineUnavailable("worker_cpus can't be had: this system doesn't tie processes to processors")
        wanted, usable = processors(settings.worker_cpus), os.sched_getaffinity(0)
        if not wanted <= usable:
            missing = ", ".join(map(str, sorted(wanted - usable)))
            raise EngineUnavailable(
                f"worker_cpus names processors that this process may not use ({missing}); it may use "
                f"{', '.join(map(str, sorted(usable)))}"
            )
        _tie(wanted, threads)
    if settings.worker_nice:
        try:
            for thread in threads:
                with contextlib.suppress(ProcessLookupError):
                    os.setpriority(os.PRIO_PROCESS, thread, settings.worker_nice)
        except PermissionError as error:
            raise EngineUnavailable(
                f"worker_nice can't be {settings.worker_nice}: only a privileged process (on Linux CAP_SYS_NICE, or a "
                "limit for nice) may become less nice than it was started"
            ) from error


def tie_process(cpus: Collection[int]) -> None:
    """Tie all threads of this process to the processors, where the system can: new threads inherit them from their
    parent thread, but libraries have started some already."""
    _tie(cpus, _threads())


def _tie(cpus: Collection[int], threads: Iterable[int]) -> None:
    if hasattr(os, "sched_setaffinity"):
        for thread in threads:
            with contextlib.suppress(ProcessLookupError):  # the thread has just ended
                os.sched_setaffinity(thread, cpus)


def _threads() -> list[int]:
    """Ids for the scheduling calls to reach the whole process: its threads' on Linux, 0 (this process) elsewhere."""
    return [thread.id for thread in psutil.Process().threads()] if sys.platform == "linux" else [0]


def read_back(library: Any = None) -> Priority:
    """Scheduling of the calling thread, as the operating system reports it."""
    cpus: Collection[int] = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    qos = ""
    if sys.platform == "darwin" or library is not None:
        value = (library or ctypes.CDLL(None)).qos_class_self()
        qos = next((name for name, number in QOS_CLASSES.items() if number == value), hex(value))
    return Priority(os.getpriority(os.PRIO_PROCESS, 0), tuple(sorted(cpus)), qos)


# Shares of the machine: one of several workers gets the accelerator, or a share of the cores.


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
