"""The machine on which a figure was measured."""

from __future__ import annotations

import importlib.metadata
import platform

import psutil

from worker.machine import cores, processor

_PACKAGES = ("kokoro-live", "kokoro-onnx", "onnxruntime", "numpy", "aiohttp")


def machine() -> dict[str, str]:
    """Processor, cores, memory, system, versions, and how busy it is with other things."""
    return {
        "processor": processor(),
        "cores": str(cores()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
        "load before": f"{psutil.getloadavg()[0]:.1f}",
    }


def described() -> str:
    """`machine()` as the end of a sentence."""
    return ", ".join(f"{name} {value}" for name, value in machine().items())
