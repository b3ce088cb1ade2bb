"""What a figure was measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import psutil

_PACKAGES = ("kokoro-live", "kokoro-onnx", "onnxruntime", "numpy", "aiohttp")


def machine() -> dict[str, str]:
    """Processor, cores, memory, system, versions, and how busy it is with other things."""
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
        "load before": f"{psutil.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # only Linux has it
    return platform.processor() or platform.machine()
