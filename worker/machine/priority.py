"""Scheduling of the worker: processors and niceness, and on macOS the quality of service class, which is only read.

Effective values are read back from the operating system, never repeated from the settings. The macOS call is that of
`sys/qos.h` (Apple's libpthread); this project has never run it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil

from shm.engine_info import Priority
from worker.engine import EngineUnavailable
from worker.processors import processors
from worker.settings import WorkerSettings

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
