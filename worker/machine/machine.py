"""Identification of this machine, for measurements that are valid on one machine only."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
"""What Linux says of the processors."""


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
