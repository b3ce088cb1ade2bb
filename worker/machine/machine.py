"""Identification of this machine, for measurements that are valid on one machine only."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path


def processor() -> str:
    """Name of the processor, as the operating system reports it."""
    if sys.platform == "darwin":
        asked = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False
        )
        if asked.stdout.strip():
            return asked.stdout.strip()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # the file exists on Linux only
    return platform.processor() or platform.machine()


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
